/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What seals the pages of a device; for seal.c, seal_key.c and reseal.c.
 */
#ifndef NSWAP_CLIENT_SEALER_H
#define NSWAP_CLIENT_SEALER_H

#include <linux/spinlock.h>

#include "core/device.h"
#include "core/node.h"
#include "core/request.h"

/**
 * struct nswap_sealer - of a sealed device
 * @cipher: one for each key; but for a change of the key, one of them is zeros
 * @live: bit of each key that may be used; read with READ_ONCE
 * @changing: the key is being changed
 * @watched: first slot of the batch that is resealed
 * @broken: its slots of which a page has come and did not open; bits are set by any task
 * @table: side table of struct nswap_seal
 * @nonce: the last one used, and in its NSWAP_SEAL_KEY_BIT the newest key
 * @lock: protects all below
 * @turn: changes once a change of the key has begun
 * @busy: page-outs that have taken pages of the pool, by what @turn was then
 * @page: pages of the pool that are not used, POOL_PAGES at most
 * @nr: how many
 * @waiting: the request that is to get the next ones
 * @wanted: how many it needs
 */
struct nswap_sealer {
	struct nswap_cipher cipher[NSWAP_SEAL_KEYS];
	unsigned long live;
	bool changing;
	u64 watched;
	unsigned long broken;
	struct nswap_side_table *table;
	atomic64_t nonce;
	spinlock_t lock;
	u8 turn;
	u32 busy[2];
	struct page **page;
	u32 nr;
	const struct nswap_io *waiting;
	u32 wanted;
};

static inline struct nswap_seal_name nswap_seal_name(const struct nswap_device *dev,
						     u64 slot)
{
	return (struct nswap_seal_name){
		.owner = cpu_to_le64(dev->node->id),
		.epoch = cpu_to_le64(dev->node->epoch),
		.slot = cpu_to_le64(slot),
		.instance = cpu_to_le32(dev->instance),
	};
}

/* the key with which pages are sealed from now on */
static inline unsigned int nswap_seal_newest(struct nswap_sealer *s)
{
	return (u64)atomic64_read(&s->nonce) >> NSWAP_SEAL_KEY_BIT;
}

#endif
