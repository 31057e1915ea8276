/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of a peer's state.
 */
#ifndef NSWAP_STATE_CHANGE_H
#define NSWAP_STATE_CHANGE_H

#include <linux/bits.h>

#include "peer.h"

enum nswap_peer_state nswap_peer_become(struct nswap_peer *peer,
					unsigned long from,
					enum nswap_peer_state to);
bool nswap_peer_expire(struct nswap_peer *peer, unsigned int ms);
void nswap_peer_lost(struct nswap_peer *peer);
bool nswap_peer_abandon(struct nswap_peer *peer);

#endif
