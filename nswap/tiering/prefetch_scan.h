/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefetcher, clock hand: picks the pages to prefetch.
 */
#ifndef NSWAP_PREFETCH_SCAN_H
#define NSWAP_PREFETCH_SCAN_H

#include "prefetch/prefetch.h"
#include "pure/slot_map.h"

/**
 * struct nswap_hand - the hand of one device's prefetcher
 * @dev: device
 * @at: slot to continue at
 * @looked: slots looked at in this wake-up; reset to 0 when one begins
 */
struct nswap_hand {
	struct nswap_device *dev;
	u64 at;
	u32 looked;
};

/**
 * struct nswap_picked - a page to be prefetched
 * @slot: its slot
 * @entry: the slot's entry when it was picked
 */
struct nswap_picked {
	u64 slot;
	struct nswap_slot entry;
};

unsigned int nswap_hand_pick_remote(struct nswap_hand *h,
				    const struct nswap_which_ops *which,
				    struct nswap_picked *picked,
				    unsigned int most);
bool nswap_hand_may(enum nswap_prefetch_way way, const struct nswap_slot *s);
unsigned long nswap_hand_pick(struct nswap_hand *h, enum nswap_prefetch_way way,
			      const struct nswap_which_ops *which,
			      u64 want, u64 *first);

#endif
