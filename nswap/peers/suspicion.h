/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Suspicion: when a peer's session is given up, and what users are told of it.
 */
#ifndef NSWAP_SUSPICION_H
#define NSWAP_SUSPICION_H

#include "peer.h"

void nswap_suspicion_again(struct nswap_peer *peer, u64 after_ms);
bool nswap_suspicion_of_flow(struct nswap_peer *peer);
u32 nswap_suspicion_longest_ms(const struct nswap_node *node);
void nswap_suspicion_failed(struct nswap_peer *peer, int error);
void nswap_suspicion_over(struct nswap_peer *peer);
void nswap_suspicion_view(const struct nswap_peer *peer,
			  struct nswap_peer_view *v);

#endif
