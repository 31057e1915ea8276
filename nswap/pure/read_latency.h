/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read latency: how long page-ins of a device take at each tier, and how many
 * are in flight. Only for devices with flash: the others have no choice.
 */
#ifndef NSWAP_READ_LATENCY_H
#define NSWAP_READ_LATENCY_H

#include <linux/atomic.h>

#include "policy/policy.h"
#include "policy/read_line.h"

/**
 * struct nswap_read_latency - measurements of one device
 * @inflight: pages being read at each tier
 * @line: latency of reads there as a function of their pages
 * @last: jiffies of the last measurement
 * @pages: moving average of pages per read, over all tiers, in fractions of a page
 */
struct nswap_read_latency {
	atomic_t inflight[NSWAP_READ_TIERS];
	struct nswap_read_line line[NSWAP_READ_TIERS];
	unsigned long last[NSWAP_READ_TIERS];
	s32 pages;
};

u32 nswap_read_began(struct nswap_read_latency *t, enum nswap_read_tier tier,
		     unsigned int nr);
void nswap_read_ended(struct nswap_read_latency *t, enum nswap_read_tier tier,
		      unsigned int nr, u32 began, bool good);
void nswap_read_look(const struct nswap_read_latency *t,
		     struct nswap_read_view *view);

#endif
