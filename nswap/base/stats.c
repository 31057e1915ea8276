// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: sums over the CPUs.
 *
 * Invariant: every counter is a u64 and only grows, so a sum made while they
 * run is a value the counter had at some time during the call.
 */
#include <linux/cpumask.h>
#include <linux/string.h>

#include "stats.h"

void nswap_stats_sum(const struct nswap_stats __percpu *stats,
		     struct nswap_stats *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct nswap_stats *s = per_cpu_ptr(stats, cpu);

#define NSWAP_STAT_SUM(name, ...)	sum->name += READ_ONCE(s->name);
		NSWAP_STATS(NSWAP_STAT_SUM)
#undef NSWAP_STAT_SUM
	}
}

/* the counter at @offset: nswap_stat_read() */
u64 nswap_stats_one(const struct nswap_stats __percpu *stats, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*(const u64 *)((const char *)per_cpu_ptr(stats, cpu) + offset));
	return sum;
}
