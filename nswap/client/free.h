/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freed slots and obsolete copies: the peers are told in batches.
 */
#ifndef NSWAP_FREE_H
#define NSWAP_FREE_H

#include "peers/peer.h"

int nswap_free_init(struct nswap_peer *peer);
void nswap_free_slot(struct nswap_device *dev, u64 slot);
void nswap_free_told(struct nswap_device *dev, u64 slot);
void nswap_free_orphan(struct nswap_device *dev, u64 slot, u32 gen, u16 peer);
void nswap_free_by_comparison(struct nswap_node *node, u16 index);
void nswap_free_work(struct work_struct *work);
void nswap_free_kick(struct nswap_node *node, unsigned int ms);

#endif
