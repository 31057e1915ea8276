/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel counts of pages and faults, of all processes that there are.
 */
#ifndef NSWAP_BENCH_VMSTAT_H
#define NSWAP_BENCH_VMSTAT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Pages swapped in and out, page faults, and those of them that read. */
struct vmstat {
	uint64_t in, out, faults, major;
};

/* As it stands now; zeros if the kernel does not say. */
static inline struct vmstat vmstat_now(void)
{
	struct vmstat now = { 0 };
	unsigned long long v;
	char key[64];
	FILE *f = fopen("/proc/vmstat", "r");

	if (!f)
		return now;
	while (fscanf(f, "%63s %llu", key, &v) == 2) {
		if (!strcmp(key, "pswpin"))
			now.in = v;
		else if (!strcmp(key, "pswpout"))
			now.out = v;
		else if (!strcmp(key, "pgfault"))
			now.faults = v;
		else if (!strcmp(key, "pgmajfault"))
			now.major = v;
	}
	fclose(f);
	return now;
}

/* What came between two of them. */
static inline struct vmstat vmstat_between(struct vmstat from, struct vmstat to)
{
	return (struct vmstat){ to.in - from.in, to.out - from.out,
				to.faults - from.faults, to.major - from.major };
}

#endif
