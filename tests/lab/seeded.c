// SPDX-License-Identifier: GPL-2.0
/*
 * A library to put under the virtual-time lab kernel (LD_PRELOAD): what the kernel
 * takes from its host as random comes from a seed, so that every boot has the same
 * random numbers, and with them the same ports, addresses and order of things.
 *
 *   LAB_SEED=N   the seed (1)
 *
 * Invariant: the kernel is the only one that asks, from one thread at a time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t next_word(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t x;

	if (!seeded) {
		const char *text = getenv("LAB_SEED");

		state = text ? strtoull(text, NULL, 10) : 1;
		seeded = 1;
	}
	state += 0x9e3779b97f4a7c15ULL;
	x = state ^ state >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

ssize_t getrandom(void *buf, size_t size, unsigned int flags)
{
	unsigned char *to = buf;

	(void)flags;
	for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
		uint64_t word = next_word();
		size_t left = size - done;

		memcpy(to + done, &word, left < sizeof(word) ? left : sizeof(word));
	}
	return (ssize_t)size;
}
