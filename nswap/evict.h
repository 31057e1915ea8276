/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evicts: copies on flash make room for others.
 */
#ifndef NSWAP_EVICT_H
#define NSWAP_EVICT_H

#include <linux/types.h>

struct nswap_device;

u64 nswap_evict(struct nswap_device *dev, u64 *hand, u64 want, u64 look);

#endif
