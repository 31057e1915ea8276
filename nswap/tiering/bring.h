/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bringing pages where a user wants them.
 */
#ifndef NSWAP_BRING_H
#define NSWAP_BRING_H

#include "base/latency_steps.h"
#include "base/types.h"

struct nswap_device;

/**
 * struct nswap_brought - what became of the pages of a range
 * @done: slots that were gone through
 * @there: pages that were there already
 * @moved: pages that are there now, and were not
 * @left: pages that are elsewhere
 * @lost: pages that are lost
 * @empty: slots without a page
 */
struct nswap_brought {
	u64 done;
	u64 there;
	u64 moved;
	u64 left;
	u64 lost;
	u64 empty;
};

int nswap_bring_may(const struct nswap_device *dev, enum nswap_tier tier);
int nswap_bring(struct nswap_device *dev, enum nswap_tier tier, u64 first, u64 nr,
		struct nswap_brought *b);

#endif
