# SPDX-License-Identifier: GPL-2.0
"""Pages that can be compressed as what programs have: text, and the like.

A page is f(kind, key), so that what was written can be made a second time.
"""
import functools
import hashlib
import random
import struct

PAGE = 4096
KINDS = ("random", "text", "table", "zeros", "mixed")


@functools.cache
def vocabulary():
    """2000 words of two to nine letters, and how often each is used: the n-th 1/n as often
    as the first (Zipf), with letters as often as in English."""
    rng = random.Random(1)
    letters = "e" * 12 + "ta" * 9 + "oinshr" * 6 + "dl" * 4 + "cumwfg" * 2 + "ypbvk"
    words = ["".join(rng.choices(letters, k=2 + min(i.bit_length() // 2 +
                                                    rng.randrange(4), 7)))
             for i in range(2000)]
    return words, [1 / (i + 1) for i in range(2000)]


def prose(rng):
    """Sentences: half of the words are of 40 that the page is about, others are of any."""
    words, weights = vocabulary()
    topic = rng.sample(words, 40)
    chosen = [rng.choice(topic) if of < 0.5 else word for of, word in
              zip(iter(rng.random, None), rng.choices(words, weights, k=PAGE // 2))]
    stops = rng.choices((" ", " ", " ", " ", " ", " ", ", ", ". ", ".\n"), k=PAGE // 2)
    return "".join(w + s for w, s in zip(chosen, stops)).encode()[:PAGE]


def table(rng):
    """Records of a program: counters, pointers into one heap, small numbers."""
    heap = 0x7f0000000000 + rng.randrange(1 << 20) * 4096
    return b"".join(struct.pack("<QQIIQ", heap + 32 * rng.randrange(1 << 16), i,
                                rng.randrange(100), 0, rng.randrange(1 << 20))
                    for i in range(PAGE // 32))


@functools.lru_cache(2048)
def page(kind, key):
    """A page of a kind; two keys have different ones."""
    rng = random.Random(key)
    if kind == "mixed":
        kind = rng.choice(("random", "text", "table", "zeros"))
    head = hashlib.sha256(key).digest()
    if kind == "random":
        return hashlib.shake_128(key).digest(PAGE)
    body = {"text": prose, "table": table, "zeros": lambda rng: bytes(PAGE)}[kind](rng)
    return head + body[len(head):]
