// SPDX-License-Identifier: GPL-2.0
/*
 * States of a peer.
 *
 *        threads              session          broken
 *   NEW ---------> CONNECTING -------> UP <--------------> SUSPECTED
 *    ^                |  |              ^      session       |
 *    +----------------+  | left         | session            | left,
 *       no threads       v              |                    | dead_after
 *                       DEAD -----------+                    |
 *                        ^                                   |
 *                        +-----------------------------------+
 *
 *   NEW, CONNECTING, UP, SUSPECTED, DEAD -> LOST: another epoch has begun, or
 *   nothing is known of it and no slot names it. LOST is final: a successor has
 *   another index.
 *
 * Invariants:
 *  - A refused connection proves nothing, since a firewall refuses for a node that
 *    is well: SUSPECTED becomes DEAD only after dead_after, and not before a new
 *    session had its time, or when the node had announced that it leaves.
 *  - Only an UP peer has an established session. Page-ins that cannot be sent
 *    wait in every state but DEAD and LOST, where they fail at once.
 *  - States change in peers/state_change.c and nowhere else.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "peer_state.h"

/* legal[from] has bit "to" set for every legal transition */
static const u8 legal[NSWAP_PEER_STATES] = {
	[NSWAP_PEER_NEW] = BIT(NSWAP_PEER_CONNECTING) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_CONNECTING] = BIT(NSWAP_PEER_NEW) | BIT(NSWAP_PEER_UP) |
				  BIT(NSWAP_PEER_DEAD) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_UP] = BIT(NSWAP_PEER_SUSPECTED) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_SUSPECTED] = BIT(NSWAP_PEER_UP) | BIT(NSWAP_PEER_DEAD) |
			      BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_DEAD] = BIT(NSWAP_PEER_UP) | BIT(NSWAP_PEER_LOST),
	[NSWAP_PEER_LOST] = 0,
};

static const char *const names[NSWAP_PEER_STATES] = {
	[NSWAP_PEER_NEW] = "new",
	[NSWAP_PEER_CONNECTING] = "connecting",
	[NSWAP_PEER_UP] = "up",
	[NSWAP_PEER_SUSPECTED] = "suspected",
	[NSWAP_PEER_DEAD] = "dead",
	[NSWAP_PEER_LOST] = "lost",
};

static const char *const reasons[NSWAP_REASONS] = {
	[NSWAP_REASON_NONE] = "",
	[NSWAP_REASON_NO_ANSWER] = "no answer",
	[NSWAP_REASON_REFUSED] = "connection refused",
	[NSWAP_REASON_UNREACHABLE] = "unreachable",
	[NSWAP_REASON_CLOSED] = "connection closed",
	[NSWAP_REASON_OTHER_NODE] = "another node is at its address",
	[NSWAP_REASON_OTHER_VERSION] = "another version",
	[NSWAP_REASON_TURNED_AWAY] = "turned away",
	[NSWAP_REASON_FAILED] = "cannot connect",
	[NSWAP_REASON_KEYS] = "no member of this cluster",
	[NSWAP_REASON_FORGED] = "forged or changed on the way",
	[NSWAP_REASON_NO_KEYS] = "one side has keys, the other is open",
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

/* what the error of a connection, or of an attempt to make one, says of the peer */
u8 nswap_peer_reason_of(int error)
{
	switch (error) {
	case 0:
		return NSWAP_REASON_NONE;
	case -ECONNREFUSED:
		return NSWAP_REASON_REFUSED;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENETDOWN:
	case -EADDRNOTAVAIL:
		return NSWAP_REASON_UNREACHABLE;
	case -ETIMEDOUT:
	case -EAGAIN:
		return NSWAP_REASON_NO_ANSWER;
	case -ECONNRESET:
	case -ECONNABORTED:
	case -EPIPE:
		return NSWAP_REASON_CLOSED;
	case -ESTALE:
	case -EADDRINUSE:
		return NSWAP_REASON_OTHER_NODE;
	case -EPROTONOSUPPORT:
		return NSWAP_REASON_OTHER_VERSION;
	case -EACCES:
		return NSWAP_REASON_TURNED_AWAY;
	case -EKEYREJECTED:
		return NSWAP_REASON_KEYS;
	case -EBADMSG:
		return NSWAP_REASON_FORGED;
	case -ENOKEY:
		return NSWAP_REASON_NO_KEYS;
	default:
		return NSWAP_REASON_FAILED;
	}
}

/**
 * nswap_peer_reason_text() - why a peer is suspected, for people
 * @reason: enum nswap_peer_reason
 * @ms: for how long nothing has come
 * @text: result; "" without a reason
 * @len: room in it
 *
 * Context: any.
 */
void nswap_peer_reason_text(u8 reason, u32 ms, char *text, size_t len)
{
	const char *name = reason < NSWAP_REASONS ? reasons[reason] : "unknown";

	if (reason == NSWAP_REASON_NONE)
		*text = 0;
	else if (reason == NSWAP_REASON_NO_ANSWER)
		snprintf(text, len, "%s for %u.%u s", name, ms / 1000,
			 ms % 1000 / 100);
	else
		snprintf(text, len, "%s, for %u.%u s", name, ms / 1000,
			 ms % 1000 / 100);
}
