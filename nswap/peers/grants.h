/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Grants of a peer, as reported by its answers.
 */
#ifndef NSWAP_GRANTS_H
#define NSWAP_GRANTS_H

#include "peer.h"

void nswap_peer_granted(struct nswap_peer *peer, u32 grants, u64 free);
void nswap_peer_back_off(struct nswap_peer *peer);
void nswap_peer_refused(struct nswap_peer *peer, unsigned int pages);

#endif
