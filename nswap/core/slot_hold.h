/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holding a slot at its peer: MOVING, while a task copies its page or changes where
 * copies are.
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

#endif
