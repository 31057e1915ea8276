/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Home copies: pages that peers hold and home holds too.
 */
#ifndef NSWAP_HOME_COPY_H
#define NSWAP_HOME_COPY_H

#include <linux/bitops.h>

#include "device.h"
#include "pure/slot_map.h"

bool nswap_home_copy_begin(struct nswap_device *dev, u64 slot);
bool nswap_home_copy_valid(const struct nswap_device *dev, u64 slot, u32 gen);
void nswap_home_copy_drop(struct nswap_device *dev, u64 slot);
void nswap_home_copy_end(struct nswap_device *dev, u64 slot, u32 gen,
			 bool written);
bool nswap_home_copy_lost(struct nswap_device *dev, u64 slot,
			  struct nswap_slot *s);
u64 nswap_home_copy_exposed(const struct nswap_device *dev);

/* Does home hold the page of this slot too, if a peer does? any; does not sleep. */
static inline bool nswap_home_copy_has(const struct nswap_device *dev, u64 slot)
{
	return dev->home_has && test_bit(slot, dev->home_has);
}

/*
 * Does home have a copy, or will it soon? any; does not sleep. A copy that is written
 * meanwhile is not overlooked.
 */
static inline bool nswap_home_copy_any(const struct nswap_device *dev, u64 slot)
{
	bool due = test_bit(slot, dev->home_due);

	/* pairs with nswap_home_copy_end(), which sets the one before it clears the other */
	smp_rmb();
	return due || test_bit(slot, dev->home_has);
}

/* Is a copy being written home, or about to be? any; does not sleep. */
static inline bool nswap_home_copy_due(const struct nswap_device *dev, u64 slot)
{
	/* pairs with nswap_home_copy_begin(): an entry that came after it shows it */
	smp_rmb();
	return dev->home_due && test_bit(slot, dev->home_due);
}

#endif
