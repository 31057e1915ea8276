/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of a peer, see enum nswap_peer_state in base/views.h.
 */
#ifndef NSWAP_PEER_STATE_H
#define NSWAP_PEER_STATE_H

#include "base/views.h"

bool nswap_peer_legal(u8 from, u8 to);
u8 nswap_peer_reason_of(int error);

/* do page-ins fail at once? */
static inline bool nswap_peer_hopeless(u8 state)
{
	return state == NSWAP_PEER_DEAD || state == NSWAP_PEER_LOST;
}

#endif
