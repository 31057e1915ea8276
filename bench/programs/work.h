/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the workload programs share: flags, processes that share a control
 * page, a barrier that blocks, the compute model, timing and the result.
 *
 * Invariants: nobody waits by turning. A process that waits for another sleeps
 * in the kernel, so that under virtual time, where computing takes none, time
 * goes on. A program prints one JSON line and exits 0 (all right), 1 (a wrong
 * page or result), 2 (refused) or 3 (a page could not be read).
 */
#ifndef NSWAP_BENCH_WORK_H
#define NSWAP_BENCH_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WORK_MB		(1ULL << 20)
#define WORK_PROCESSES	64		/* most of them at once */

/* One flag of a program: a number, one of some words, or text. */
struct work_flag {
	const char *name;
	const char *help;
	uint64_t *number;		/* where the number, or the word's index, goes */
	uint64_t min, max;
	const char *const *words;	/* NULL-terminated, or no words */
	const char **text;
};

/* What --help says of a program. */
struct work_about {
	const char *name;
	const char *does;		/* whole lines */
	const char *unit;		/* of --compute-ns */
	const struct work_flag *flags;	/* ended by a flag without a name */
};

/* Flags that every program has. */
extern uint64_t work_seed, work_damage, work_processes;

/* Read the command line; refuses or ends with --help by itself. */
void work_start(int argc, char **argv, const struct work_about *about);

__attribute__((noreturn, format(printf, 1, 2)))
void work_refuse(const char *fmt, ...);

/* Anonymous memory, all zeros: private, or shared with the children. */
void *work_map(uint64_t bytes, bool shared);

/* Run what() in so many children and wait for all; ends if one failed. */
void work_in_parallel(uint64_t processes, void (*what)(uint64_t me));

/* Wait until all children have come here. */
void work_barrier(void);

/* So many units of work were done: sleep for them, now or with the next. */
void work_compute(uint64_t units);

double work_now(void);

/*
 * The phases, by whoever runs them alone: filling (as long as neither of these
 * was called), then what is measured, then checking, which is not. The pages
 * swapped meanwhile are counted with them.
 */
void work_measure(void);
void work_check(void);

/* Counters of all processes together. */
void work_accessed(uint64_t pages);
void work_verified(uint64_t things);
void work_wrong_page(void);

/* A result that is not what it must be; says so, the first few times. */
__attribute__((format(printf, 1, 2)))
void work_wrong_result(const char *fmt, ...);

/* One more member of the result line, by the main process only. */
__attribute__((format(printf, 1, 2)))
void work_member(const char *fmt, ...);

/* Print the result; the exit code. */
int work_end(void);

/* A number from a number: a bijection that spreads every bit. */
static inline uint64_t work_mix(uint64_t x)
{
	for (int i = 0; i < 2; i++) {
		x += 0x9e3779b97f4a7c15ULL;
		x ^= x >> 32;
		x *= 0xd6e8feb86659fd93ULL;
		x ^= x >> 32;
	}
	return x;
}

/* Word i of the stream under a seed. */
static inline uint64_t work_word(uint64_t seed, uint64_t i)
{
	return work_mix(work_mix(seed) ^ i);
}

/* The same from -0.5 to 0.5, all 53 bits in use, never zero. */
static inline double work_real(uint64_t seed, uint64_t i)
{
	return ((double)(work_word(seed, i) >> 12) + 0.5) / (double)(1ULL << 52) - 0.5;
}

/* The bits of a number, for sums over results. */
static inline uint64_t work_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

#ifdef __cplusplus
}
#endif
#endif
