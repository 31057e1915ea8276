/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the works of cost.c share: the clock, memory, and what is told.
 *
 * Invariant: nothing here is called inside a window that is timed, but for the
 * clock at its ends.
 */
#ifndef NSWAP_TEST_COST_H
#define NSWAP_TEST_COST_H

#include <sys/mman.h>

#include "prog.h"

#define SEED		9
#define REPS		3

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds without anything to do so far: the clock leaps over them. */
static uint64_t idle_ns(void)
{
	unsigned long long v = 0;
	char line[256];
	FILE *f = fopen("/proc/timer_list", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " .idle_sleeptime : %llu", &v) == 1)
			break;
	if (f)
		fclose(f);
	return v;
}

/* Memory that is there, in pages of 4 KiB. */
static void *populated(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED || madvise(mem, bytes, MADV_NOHUGEPAGE))
		refuse("cannot map %zu bytes: %s", bytes, strerror(errno));
	memset(mem, 1, bytes);
	return mem;
}

static void tell(const char *work, unsigned int rep, uint64_t pages, uint64_t ns,
		 uint64_t idle)
{
	printf("{\"work\": \"%s\", \"rep\": %u, \"pages\": %llu, \"ns\": %llu, "
	       "\"idle_ns\": %llu}\n", work, rep, (unsigned long long)pages,
	       (unsigned long long)ns, (unsigned long long)idle);
	fflush(stdout);
}

static int verdict(const struct bad_pages *bad, const char *when)
{
	if (!bad->wrong)
		return 0;
	fprintf(stderr, "error: %s: %llu pages were wrong\n", when,
		(unsigned long long)bad->wrong);
	return EXIT_WRONG;
}

#endif
