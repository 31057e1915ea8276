/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of a device's pages from one of its own tiers, home or flash, to peers:
 * one batch of adjacent slots.
 */
#ifndef NSWAP_MOVE_BATCH_H
#define NSWAP_MOVE_BATCH_H

#include <linux/completion.h>

#include "core/request.h"

/**
 * struct nswap_move_batch - a batch
 * @io: its slots, pages, generations and messages, with no block request
 *	around it; @todo of it: pages that have no new place yet
 * @state: of its slots until they have one: NSWAP_SLOT_MOVING from home,
 *	NSWAP_SLOT_FLASH from flash
 * @tag: of the pages from home, see nswap_page_tag()
 * @moved: slots recorded at a peer; bits set by whoever takes an answer
 * @over: all reads, writes or messages begun since nswap_move_batch_begin() are
 */
struct nswap_move_batch {
	struct nswap_io io;
	u8 state;
	u8 tag;
	unsigned long moved;
	struct completion over;
};

bool nswap_move_batch_init(struct nswap_move_batch *mo, struct nswap_device *dev,
			   u8 state);
void nswap_move_batch_exit(struct nswap_move_batch *mo);
void nswap_move_batch_begin(struct nswap_move_batch *mo);
void nswap_move_batch_wait(struct nswap_move_batch *mo);
struct nswap_op *nswap_move_batch_op(struct nswap_move_batch *mo,
				     unsigned int first, unsigned int nr);
void nswap_move_batch_store(struct nswap_move_batch *mo);
void nswap_move_batch_stay(struct nswap_move_batch *mo);

#endif
