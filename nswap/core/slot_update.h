/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing an entry of the shadow slot map, with what is counted by it.
 */
#ifndef NSWAP_SLOT_UPDATE_H
#define NSWAP_SLOT_UPDATE_H

#include "device.h"

bool nswap_device_slot_move(struct nswap_device *dev, u64 slot, u64 old,
			    const struct nswap_slot *to);

#endif
