// SPDX-License-Identifier: GPL-2.0
/*
 * States of a peer.
 *
 *        threads              session          broken
 *   NEW ---------> CONNECTING -------> UP <--------------> SILENT
 *    ^                |  |              ^      session       |
 *    +----------------+  | refused      | session            | refused,
 *       no threads       v              |                    | dead_after
 *                       DEAD -----------+                    |
 *                        ^                                   |
 *                        +-----------------------------------+
 *
 *   NEW, CONNECTING, UP, SILENT, DEAD -> LOST: another epoch has begun, or the
 *   address leads to another node. LOST is final: a successor has another
 *   index.
 *
 * Invariants:
 *  - Only an UP peer has an established session. Page-ins that cannot be sent
 *    wait in every state but DEAD and LOST, where they fail at once.
 *  - States change in peers/state_change.c and nowhere else.
 */
#include <linux/bits.h>

#include "peer_state.h"

/* legal[from] has bit "to" set for every legal transition */
static const u8 legal[NSWAP_PEER_STATES] = {
	[NSWAP_PEER_NEW] = BIT(NSWAP_PEER_CONNECTING) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_CONNECTING] = BIT(NSWAP_PEER_NEW) | BIT(NSWAP_PEER_UP) |
				  BIT(NSWAP_PEER_DEAD) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_UP] = BIT(NSWAP_PEER_SILENT) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_SILENT] = BIT(NSWAP_PEER_UP) | BIT(NSWAP_PEER_DEAD) |
			      BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_DEAD] = BIT(NSWAP_PEER_UP) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_LOST] = 0,
};

static const char *const names[NSWAP_PEER_STATES] = {
	[NSWAP_PEER_NEW] = "new",
	[NSWAP_PEER_CONNECTING] = "connecting",
	[NSWAP_PEER_UP] = "up",
	[NSWAP_PEER_SILENT] = "silent",
	[NSWAP_PEER_DEAD] = "dead",
	[NSWAP_PEER_LOST] = "lost",
};

static_assert(BITS_PER_TYPE(legal[0]) >= NSWAP_PEER_STATES);

/* is this transition in the table? */
bool nswap_peer_legal(u8 from, u8 to)
{
	return from < NSWAP_PEER_STATES && to < NSWAP_PEER_STATES &&
	       legal[from] & BIT(to);
}

const char *nswap_peer_state_name(u8 state)
{
	return state < NSWAP_PEER_STATES ? names[state] : "unknown";
}
