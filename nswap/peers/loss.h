/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Losses: slots of a peer whose epoch is over.
 */
#ifndef NSWAP_LOSS_H
#define NSWAP_LOSS_H

#include "peer.h"

void nswap_loss_work(struct work_struct *work);
void nswap_loss_forgotten(struct nswap_peer *peer);

#endif
