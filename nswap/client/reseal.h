/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of a sealed device that get another key.
 */
#ifndef NSWAP_CLIENT_RESEAL_H
#define NSWAP_CLIENT_RESEAL_H

#include "batch.h"

/**
 * struct nswap_reseal - a batch of adjacent slots
 * @b: their pages; its @todo: slots that are to be resealed
 * @had: of each slot: its word before its page was read, or since it could not be written
 * @open: slots whose page was read open
 * @want: slots whose page is to be written
 * @lock: protects @kept, and with it what is read of the pages of these slots
 * @kept: slots whose page is here, sealed with the newest key
 */
struct nswap_reseal {
	struct nswap_batch b;
	struct nswap_slot had[NSWAP_REQ_SLOTS];
	unsigned long open;
	unsigned long want;
	spinlock_t lock;
	unsigned long kept;
};

bool nswap_reseal_init(struct nswap_reseal *r, struct nswap_device *dev);
void nswap_reseal_exit(struct nswap_reseal *r);
void nswap_reseal_at(struct nswap_reseal *r, u64 slot);
unsigned long nswap_reseal_altered(const struct nswap_reseal *r);
unsigned long nswap_reseal_seal(struct nswap_reseal *r, unsigned long pages);
bool nswap_reseal_write(struct nswap_reseal *r);
unsigned int nswap_reseal_over(struct nswap_reseal *r);
bool nswap_reseal_read(struct nswap_io *io, unsigned int i);

#endif
