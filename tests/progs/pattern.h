/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page contents for the test programs: f(seed, page, write count).
 *
 * Invariants: a page is 512 words, all of them made from one 64-bit key by a
 * bijection, and the key is a bijection of (page, write count) under the seed.
 * So every word depends on all three, no word is zero, the page does not
 * compress, and a page that is wrong as a whole can be asked whose it is.
 * Words are host-endian: patterns never leave the machine that wrote them.
 */
#ifndef NSWAP_TEST_PATTERN_H
#define NSWAP_TEST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAT_BYTES	4096
#define PAT_WORDS	(PAT_BYTES / 8)
#define PAT_COUNT_BITS	28
#define PAT_COUNT_MAX	((1U << PAT_COUNT_BITS) - 1)

#define PAT_STEP	0x9e3779b97f4a7c15ULL
#define PAT_MUL		0xd6e8feb86659fd93ULL

/* What a page turned out to be. */
enum pat_class {
	PAT_OK,
	PAT_STALE,	/* this page as it was before a later write */
	PAT_NEWER,	/* this page with a write count not yet reached */
	PAT_OTHER,	/* a whole page of this seed that belongs elsewhere */
	PAT_FOREIGN,	/* a whole page made under another seed */
	PAT_ZEROS,	/* nothing but zeros */
	PAT_TORN,	/* none of these: some words are wrong */
	PAT_CLASSES
};

static const char *const pat_class_name[PAT_CLASSES] = {
	"ok", "stale", "newer", "other page", "foreign", "zeros", "wrong words",
};

/* What pat_classify() found out; page and count only for whole pages. */
struct pat_verdict {
	enum pat_class class;
	uint64_t page;
	uint32_t count;
	unsigned int first_word;
	unsigned int wrong_words;
};

static inline uint64_t pat_inverse(uint64_t odd)
{
	uint64_t inv = odd;

	for (int i = 0; i < 6; i++)
		inv *= 2 - odd * inv;
	return inv;
}

static inline uint64_t pat_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= PAT_MUL;
	x ^= x >> 32;
	return x;
}

static inline uint64_t pat_unmix(uint64_t x)
{
	x ^= x >> 32;
	x *= pat_inverse(PAT_MUL);
	x ^= x >> 32;
	return x;
}

static inline uint64_t pat_salt(uint64_t seed)
{
	return pat_mix(pat_mix(seed + PAT_STEP) + PAT_STEP);
}

static inline uint64_t pat_key(uint64_t seed, uint64_t page, uint32_t count)
{
	uint64_t id = page << PAT_COUNT_BITS | (count & PAT_COUNT_MAX);

	return pat_mix(pat_mix(id ^ pat_salt(seed)) + PAT_STEP);
}

static inline uint64_t pat_word(uint64_t key, unsigned int i)
{
	uint64_t w = pat_mix(key + (i + 1) * PAT_STEP);

	return w ? w : PAT_STEP;
}

/* Write the whole page. */
static inline void pat_fill(void *buf, uint64_t seed, uint64_t page,
			    uint32_t count)
{
	uint64_t key = pat_key(seed, page, count);
	uint64_t *w = buf;

	for (unsigned int i = 0; i < PAT_WORDS; i++)
		w[i] = pat_word(key, i);
}

static inline uint64_t pat_difference(const uint64_t *w, uint64_t key)
{
	uint64_t bad = 0;

	for (unsigned int i = 0; i < PAT_WORDS; i++)
		bad |= w[i] ^ pat_word(key, i);
	return bad;
}

/* Compare the whole page. */
static inline bool pat_same(const void *buf, uint64_t seed, uint64_t page,
			    uint32_t count)
{
	return !pat_difference(buf, pat_key(seed, page, count));
}

static inline bool pat_zero(const void *buf)
{
	const uint64_t *w = buf;
	uint64_t any = 0;

	for (unsigned int i = 0; i < PAT_WORDS; i++)
		any |= w[i];
	return !any;
}

/*
 * Say what a page that is not as expected is. @pages bounds the page numbers
 * in use: a whole page that decodes to anything beyond it has another seed.
 */
static inline struct pat_verdict pat_classify(const void *buf, uint64_t seed,
					      uint64_t page, uint32_t count,
					      uint64_t pages)
{
	struct pat_verdict v = { .class = PAT_OK };
	uint64_t key = pat_key(seed, page, count);
	const uint64_t *w = buf;
	uint64_t found, id;

	for (unsigned int i = 0; i < PAT_WORDS; i++) {
		if (w[i] == pat_word(key, i))
			continue;
		if (!v.wrong_words++)
			v.first_word = i;
	}
	if (!v.wrong_words)
		return v;
	found = pat_unmix(w[0]) - PAT_STEP;
	if (pat_zero(buf)) {
		v.class = PAT_ZEROS;
		return v;
	}
	if (pat_difference(w, found)) {
		v.class = PAT_TORN;
		return v;
	}
	id = pat_unmix(pat_unmix(found) - PAT_STEP) ^ pat_salt(seed);
	v.page = id >> PAT_COUNT_BITS;
	v.count = id & PAT_COUNT_MAX;
	if (v.page >= pages)
		v.class = PAT_FOREIGN;
	else if (v.page != page)
		v.class = PAT_OTHER;
	else
		v.class = v.count < count ? PAT_STALE : PAT_NEWER;
	return v;
}

/* A small random generator, one state word, for choosing pages and sizes. */
static inline uint64_t pat_random(uint64_t *state)
{
	*state += PAT_STEP;
	return pat_mix(pat_mix(*state) + PAT_STEP);
}

/* A number below @n; the bias is far below what any test could see. */
static inline uint64_t pat_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)pat_random(state) * n) >> 64);
}

/* An order of 0..n-1 without a table: four Feistel rounds, walked into range. */
struct pat_order {
	uint64_t n;
	uint64_t seed;
	unsigned int half;
};

static inline struct pat_order pat_order_new(uint64_t n, uint64_t seed)
{
	struct pat_order o = { .n = n, .seed = seed, .half = 1 };

	while (1ULL << (2 * o.half) < n)
		o.half++;
	return o;
}

static inline uint64_t pat_order_at(const struct pat_order *o, uint64_t i)
{
	uint64_t mask = (1ULL << o->half) - 1;

	do {
		uint64_t l = i >> o->half, r = i & mask;

		for (unsigned int k = 1; k <= 4; k++) {
			uint64_t t = l ^ (pat_mix(pat_mix(r + o->seed * k) + k) & mask);

			l = r;
			r = t;
		}
		i = l << o->half | r;
	} while (i >= o->n);
	return i;
}

#endif
