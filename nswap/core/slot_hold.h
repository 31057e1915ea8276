/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holding a slot at its peer: MOVING, while a task copies its page or changes where
 * copies are; and pages of flash that are being stored at peers.
 */
#ifndef NSWAP_SLOT_HOLD_H
#define NSWAP_SLOT_HOLD_H

#include "device.h"

bool nswap_slot_hold(struct nswap_device *dev, u64 slot,
		     struct nswap_slot *held);
bool nswap_slot_held(const struct nswap_device *dev, u64 slot,
		     const struct nswap_slot *held);
bool nswap_slot_release(struct nswap_device *dev, u64 slot,
			const struct nswap_slot *held, u16 peer);

void nswap_flash_stores_begin(struct nswap_device *dev);
void nswap_flash_stores_end(struct nswap_device *dev);

/*
 * May a copy at a peer of a page on flash, FLASH(g), be recorded at any moment? Asked before
 * its entry is read. Context: any, does not sleep.
 */
static inline bool nswap_flash_stores(const struct nswap_device *dev)
{
	bool ret = atomic_read(&dev->flash_stores) > 0;

	/* pairs with nswap_flash_stores_end(): an entry read from now on has its end */
	smp_rmb();
	return ret;
}

#endif
