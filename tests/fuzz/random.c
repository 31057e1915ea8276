// SPDX-License-Identifier: GPL-2.0
/*
 * Everything random, from one seed, and how inputs are changed at random.
 */
#include "fuzz.h"

static u64 state;

static const u64 odd_numbers[] = {
	0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 129, 255, 256, 257, 1023,
	1024, 4095, 4096, 4097, 32767, 32768, 65535, 65536, 0xfffff, 0x100000, 0x7fffffff,
	0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
	0xffffffffffffffff,
};

/* the same numbers for the same seed and target */
void fuzz_seed(u64 seed, const char *name)
{
	state = seed * 0x9e3779b97f4a7c15ull;
	for (; *name; name++)
		state = (state ^ (u8)*name) * 0x100000001b3ull;
}

u64 fuzz_random(void)
{
	u64 z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* one that is often a limit, or next to it */
u64 fuzz_odd_number(void)
{
	return odd_numbers[fuzz_random() % ARRAY_SIZE(odd_numbers)];
}

void fuzz_put(struct fuzz_bytes *in, u64 value, unsigned int bytes)
{
	if (in->bytes + bytes > FUZZ_MOST)
		return;
	memcpy(in->at + in->bytes, &value, bytes);
	in->bytes += bytes;
}

/* any number of them up to @most, half of the time small ones */
void fuzz_any_bytes(struct fuzz_bytes *in, unsigned int most)
{
	unsigned int n = 1 + fuzz_random() % most;

	while (n--)
		fuzz_put(in, fuzz_random() & 1 ? fuzz_random() : fuzz_random() % 8, 1);
}

static void cut_out(struct fuzz_bytes *in, u32 at, u32 n)
{
	n = min(n, in->bytes - at);
	memmove(in->at + at, in->at + at + n, in->bytes - at - n);
	in->bytes -= n;
}

static void put_in(struct fuzz_bytes *in, u32 at, const u8 *what, u32 n)
{
	u8 copy[64];

	n = min(n, min((u32)sizeof(copy), FUZZ_MOST - in->bytes));
	memcpy(copy, what, n);
	memmove(in->at + at + n, in->at + at, in->bytes - at);
	memcpy(in->at + at, copy, n);
	in->bytes += n;
}

static void write_number(struct fuzz_bytes *in, u32 at, u64 value)
{
	u32 n = min(1u << fuzz_random() % 4, in->bytes - at);

	memcpy(in->at + at, &value, n);
}

static void mutate_once(struct fuzz_bytes *in, const struct fuzz_bytes *other)
{
	u32 at = fuzz_random() % in->bytes, n = 1 + fuzz_random() % 16, from;

	switch (fuzz_random() % 8) {
	case 0:
		in->at[at] ^= 1 << fuzz_random() % 8;
		break;
	case 1:
		in->at[at] += (int)(fuzz_random() % 9) - 4;
		break;
	case 2:
		write_number(in, at, fuzz_odd_number());
		break;
	case 3:
		write_number(in, at, fuzz_random());
		break;
	case 4:
		cut_out(in, at, n);
		break;
	case 5:
		from = fuzz_random() % in->bytes;
		put_in(in, at, in->at + from, min(n, in->bytes - from));
		break;
	case 6:
		from = other->bytes ? fuzz_random() % other->bytes : 0;
		put_in(in, at, other->at + from, min(4 * n, other->bytes - from));
		break;
	case 7:
		in->bytes = 1 + at;
		break;
	}
}

/* change an input in a few places; @other: something to copy parts of */
void fuzz_mutate(struct fuzz_bytes *in, const struct fuzz_bytes *other)
{
	unsigned int n = 1 + fuzz_random() % 4;

	while (n--) {
		if (!in->bytes)
			fuzz_any_bytes(in, 16);
		mutate_once(in, other);
	}
}
