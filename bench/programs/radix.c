// SPDX-License-Identifier: GPL-2.0
/*
 * Radix: a parallel radix sort as the SPLASH-2 paper describes it.
 *
 * One pass for each digit of the keys: every process counts the digits of its
 * own keys, the counts of all are summed up to where each process's keys of
 * each digit begin, and every process moves its keys there, into the other of
 * two arrays. So a pass reads in order and writes to as many places as the
 * radix has, spread over all of the memory, which all processes share.
 *
 * Verified: the keys are in order, and they are those there were at the
 * beginning (their number, their sum, and the sum of a hash of each).
 *
 * Invariants: between two barriers nobody writes what another process reads.
 */
#include "work.h"

#define UNIT	1024

static uint64_t mb = 64, radix_bits = 10, key_bits = 30;
static uint64_t n;		/* keys */
static uint32_t *keys[2];	/* from one to the other, and back */
static uint32_t *counts;	/* of each process, 1 << radix_bits each */

/* Sums over keys; equal for two arrays with the same keys in them. */
struct sums {
	uint64_t keys, hashes;
};

static struct sums *before;	/* of each process */

static uint64_t first_of(uint64_t process)
{
	return n * process / work_processes;
}

static void add(struct sums *s, uint32_t key)
{
	s->keys += key;
	s->hashes += work_mix(key);
}

static uint32_t digit(uint32_t key, uint64_t pass)
{
	return key >> (pass * radix_bits) & ((1U << radix_bits) - 1);
}

static uint64_t passes(void)
{
	return (key_bits + radix_bits - 1) / radix_bits;
}

/* A key is never zero, and as random as its bits allow. */
static void make_keys(uint64_t me)
{
	uint64_t most = (1ULL << key_bits) - 1;

	for (uint64_t i = first_of(me); i < first_of(me + 1); i++) {
		keys[0][i] = (uint32_t)(1 + work_word(work_seed, i) % most);
		add(&before[me], keys[0][i]);
	}
}

static void count(const uint32_t *from, uint64_t me, uint64_t pass)
{
	uint32_t *mine = counts + (me << radix_bits);

	for (uint32_t d = 0; d < 1U << radix_bits; d++)
		mine[d] = 0;
	for (uint64_t i = first_of(me); i < first_of(me + 1); i++) {
		mine[digit(from[i], pass)]++;
		if (i % UNIT == 0)
			work_compute(1);
	}
}

static void move(const uint32_t *from, uint32_t *to, uint64_t me, uint64_t pass)
{
	uint32_t place[1U << radix_bits];
	uint32_t next = 0;

	for (uint32_t d = 0; d < 1U << radix_bits; d++) {
		for (uint64_t p = 0; p < work_processes; p++) {
			if (p == me)
				place[d] = next;
			next += counts[(p << radix_bits) + d];
		}
	}
	for (uint64_t i = first_of(me); i < first_of(me + 1); i++) {
		uint32_t at = place[digit(from[i], pass)]++;

		if (at < n)
			to[at] = from[i];
		else
			work_wrong_result("a key was counted as another");
		if (i % UNIT == 0)
			work_compute(1);
	}
}

static void sort(uint64_t me)
{
	for (uint64_t pass = 0; pass < passes(); pass++) {
		count(keys[pass & 1], me, pass);
		work_barrier();
		move(keys[pass & 1], keys[~pass & 1], me, pass);
		work_barrier();
	}
}

static void verify(void)
{
	const uint32_t *sorted = keys[passes() & 1];
	struct sums was = { 0 }, is = { 0 };
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < n; i++) {
		add(&is, sorted[i]);
		wrong += i && sorted[i - 1] > sorted[i];
	}
	for (uint64_t p = 0; p < work_processes; p++) {
		was.keys += before[p].keys;
		was.hashes += before[p].hashes;
	}
	if (wrong)
		work_wrong_result("%llu keys are out of order",
				  (unsigned long long)wrong);
	if (was.keys != is.keys || was.hashes != is.hashes)
		work_wrong_result("the keys are not those of the beginning");
	work_verified(n - wrong);
	work_member("\"checksum\": \"%016llx\"",
		    (unsigned long long)(is.hashes ^ work_mix(is.keys)));
}

static const struct work_flag flags[] = {
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 14,
	  .help = "N             memory, two arrays of keys (default 64)" },
	{ .name = "processes", .number = &work_processes, .min = 1, .max = WORK_PROCESSES,
	  .help = "N      (default 4)" },
	{ .name = "radix-bits", .number = &radix_bits, .min = 1, .max = 16,
	  .help = "N     bits of a digit (default 10)" },
	{ .name = "key-bits", .number = &key_bits, .min = 1, .max = 31,
	  .help = "N       bits of a key (default 30)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "radix",
	.does = "Sorts random 32-bit keys by radix, in processes that share the memory.",
	.unit = "1024 keys counted or moved, by each process",
	.flags = flags,
};

int main(int argc, char **argv)
{
	work_processes = 4;
	work_start(argc, argv, &about);
	n = mb * WORK_MB / sizeof(uint32_t) / 2;
	keys[0] = work_map(n * sizeof(uint32_t), true);
	keys[1] = work_map(n * sizeof(uint32_t), true);
	counts = work_map((work_processes << radix_bits) * sizeof(*counts), true);
	before = work_map(work_processes * sizeof(*before), true);
	work_in_parallel(work_processes, make_keys);
	for (uint64_t i = 0; i < work_damage && i < n; i++)
		keys[0][i * (n / work_damage)] ^= 1;
	work_measure();
	work_in_parallel(work_processes, sort);
	work_check();
	verify();
	work_member("\"mb\": %llu, \"processes\": %llu, \"keys\": %llu",
		    (unsigned long long)mb, (unsigned long long)work_processes,
		    (unsigned long long)n);
	work_accessed(2 * passes() * n * sizeof(uint32_t) / 4096);
	return work_end();
}
