/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evicts copies on flash to make room.
 */
#ifndef NSWAP_EVICT_H
#define NSWAP_EVICT_H

#include <linux/types.h>

struct nswap_device;

/**
 * struct nswap_evictor - progress of the search on one device
 * @hand: slot to continue at
 * @in_vain: slots looked at since a copy was last evicted
 * @rest_until: jiffies, no tick starts a search before; initially now
 */
struct nswap_evictor {
	u64 hand;
	u64 in_vain;
	unsigned long rest_until;
};

void nswap_evict(struct nswap_device *dev, struct nswap_evictor *e, u64 want);
bool nswap_evict_room(const struct nswap_device *dev);
bool nswap_evict_due(const struct nswap_device *dev,
		     const struct nswap_evictor *e);

#endif
