/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Losses: slots of a peer whose epoch is over.
 */
#ifndef NSWAP_LOSS_H
#define NSWAP_LOSS_H

#include "peer.h"

bool nswap_loss_of_copy(struct nswap_device *dev, u64 slot, u32 gen, u16 peer);
void nswap_loss_passed(struct nswap_node *node, u16 peer);
void nswap_loss_work(struct work_struct *work);
void nswap_loss_forgotten(struct nswap_peer *peer);

#endif
