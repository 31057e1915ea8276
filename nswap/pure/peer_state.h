/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of a peer, see enum nswap_peer_state in base/views.h.
 */
#ifndef NSWAP_PEER_STATE_H
#define NSWAP_PEER_STATE_H

#include "base/views.h"

bool nswap_peer_legal(u8 from, u8 to);

/**
 * nswap_peer_hopeless() - do page-ins fail at once?
 * @state: enum nswap_peer_state
 *
 * Context: any.
 * Return: true if nothing that waits for the peer should go on waiting.
 */
static inline bool nswap_peer_hopeless(u8 state)
{
	return state == NSWAP_PEER_DEAD || state == NSWAP_PEER_LOST;
}

#endif
