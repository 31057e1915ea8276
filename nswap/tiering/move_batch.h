/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of a device's pages from one of its own tiers, home or flash: one batch
 * of adjacent slots.
 */
#ifndef NSWAP_MOVE_BATCH_H
#define NSWAP_MOVE_BATCH_H

#include "client/batch.h"

/**
 * struct nswap_move_batch - a batch
 * @b: its slots, pages, generations and messages; @todo of its @io: pages that
 *	are not moved yet
 * @state: of its slots until they are moved: NSWAP_SLOT_MOVING from home,
 *	NSWAP_SLOT_FLASH from flash
 * @tag: of the pages, see nswap_page_tag(); 0 if the prefetcher did not choose them
 * @spare: they may stay where they are: only room that page-outs do not need is used
 * @copy: flash keeps its copy of a page that has moved
 * @moved: slots recorded at a peer; bits are set by the receivers of answers
 */
struct nswap_move_batch {
	struct nswap_batch b;
	u8 state;
	u8 tag;
	bool spare;
	bool copy;
	unsigned long moved;
};

bool nswap_move_batch_valid(const struct nswap_move_batch *mo, unsigned int i,
			    struct nswap_slot *s);
bool nswap_move_batch_settle(struct nswap_move_batch *mo, unsigned int i,
			     u8 state, u16 peer, u32 flash);
void nswap_move_batch_store(struct nswap_move_batch *mo);
void nswap_move_batch_stay(struct nswap_move_batch *mo);

#endif
