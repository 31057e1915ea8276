/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Candidates for placement and their grants.
 */
#ifndef NSWAP_PLACE_H
#define NSWAP_PLACE_H

#include "base/types.h"

int nswap_place_init(struct nswap_node *node);
void nswap_place_exit(struct nswap_node *node);
void nswap_place_add(struct nswap_node *node, u16 index, u32 grants, u64 free);
void nswap_place_remove(struct nswap_node *node, u16 index);
int nswap_place_take(struct nswap_device *dev, unsigned int pages,
		     int flash_inflight, u16 *index);
bool nswap_place_spare(struct nswap_node *node, unsigned int pages);
unsigned int nswap_place_take_spare(struct nswap_device *dev,
				    unsigned int pages, u16 *index);
void nswap_place_give(struct nswap_node *node, u16 index, u32 grants, u64 free);
void nswap_place_ended(struct nswap_node *node, u16 index, u32 pages,
		       u64 began);
void nswap_place_forget(struct nswap_node *node, u16 index);
void nswap_place_eligible(struct nswap_node *node, u16 index, bool eligible);
void nswap_place_rest(struct nswap_node *node, u16 index, bool resting);
void nswap_place_shrinks(struct nswap_node *node, u16 index, bool shrinking);
void nswap_place_unspent(struct nswap_node *node, u16 index, u32 pages);
void nswap_place_announced(struct nswap_node *node, u16 index, u64 lent,
			   u64 free, bool shrinking);
u32 nswap_place_give_back(struct nswap_node *node, u16 index, u32 keep);
bool nswap_place_wants(struct nswap_node *node, u16 index);
void nswap_place_look(struct nswap_node *node, u16 index, u32 *grants,
		      u32 *inflight);

#endif
