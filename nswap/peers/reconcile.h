/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reconcile: comparison of what a peer holds with what is recorded here.
 */
#ifndef NSWAP_RECONCILE_H
#define NSWAP_RECONCILE_H

#include "peer.h"

int nswap_reconcile_init(struct nswap_peer *peer);
void nswap_reconcile_tick(struct nswap_peer *peer);
bool nswap_reconcile_lasts(const struct nswap_peer *peer);
void nswap_reconcile_soon(struct nswap_peer *peer);

#endif
