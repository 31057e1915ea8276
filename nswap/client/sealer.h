/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What seals the pages of a device; for seal.c, seal_key.c, reseal.c and wrap.c.
 */
#ifndef NSWAP_CLIENT_SEALER_H
#define NSWAP_CLIENT_SEALER_H

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
 */
struct nswap_sealer {
	struct nswap_cipher cipher[NSWAP_SEAL_KEYS];
	unsigned long live;
	bool changing;
	u64 watched;
	unsigned long broken;
	struct nswap_side_table *table;
	atomic64_t nonce;
};

/* the key with which pages are sealed from now on */
static inline unsigned int nswap_seal_newest(struct nswap_sealer *s)
{
	return (u64)atomic64_read(&s->nonce) >> NSWAP_SEAL_KEY_BIT;
}

#endif
