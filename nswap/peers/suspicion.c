// SPDX-License-Identifier: GPL-2.0
/*
 * Suspicion. A session is given up when one of its connections owes an answer for too
 * long, and then the peer is suspected until it has another one; only dead_after, a
 * leave that it announced, or another epoch makes it worse than that.
 *
 * Each connection is judged by itself: a network may lose one flow and carry the others,
 * for instance where one link of a bond is broken. A new connection is another flow. And
 * after a cut TCP may be silent for as long again, since it doubles what it waits between
 * two tries: a new connection does not wait.
 *
 * Invariant: a suspicion costs no more than a new session: page-ins wait, and what the
 * peer holds is not sent again.
 */
#include "address.h"
#include "base/log.h"
#include "core/node.h"
#include "pure/peer_state.h"
#include "session.h"
#include "suspicion.h"

#define SILENT_MS	4000
#define MOVED_MS	1000	/* it was announced from another address */
#define FLOW_MS		6000	/* its other connections live: more patience */
#define LIVES_MS	2000
#define GAP_MS		2500u	/* it was not announced: the way there was cut */
#define AGAIN_MS	500	/* for what was sent before that to be sent again by TCP */
/*
 * A server short of memory drops what it is sent to store, and the network repeats that
 * (docs/locking.md), so its store connection may be slow. Page-outs go elsewhere long
 * before.
 */
#define STORE_MS	15000
#define SHOWN_MS	1000	/* a wait that users need not see */

static u32 ms_since(unsigned long then)
{
	return jiffies_to_msecs(jiffies - then);
}

/* ms that @c may owe an answer */
static unsigned int patience_ms(struct nswap_peer *peer, const struct nswap_conn *c)
{
	if (c->class == NSWAP_CLASS_STORE)
		return STORE_MS;
	if (nswap_address_hinted(peer))
		return MOVED_MS;
	return ms_since(READ_ONCE(peer->heard)) < LIVES_MS ? FLOW_MS : SILENT_MS;
}

/**
 * nswap_suspicion_again() - a peer was announced
 * @peer: peer
 * @after_ms: how long after the announcement before, if that was unusual
 *
 * Context: process; does not sleep.
 */
void nswap_suspicion_again(struct nswap_peer *peer, u64 after_ms)
{
	if (after_ms <= GAP_MS)
		return;
	WRITE_ONCE(peer->again_all, ms_since(READ_ONCE(peer->heard)) > GAP_MS);
	/* pairs with flow_left_behind() */
	smp_store_release(&peer->again, jiffies ?: 1);
}

/*
 * Does @c owe an answer since before a cut that is over? Page-outs may wait for a peer that
 * is short of memory and announces nothing either: theirs only if nothing came at all.
 */
static bool flow_left_behind(struct nswap_peer *peer, const struct nswap_conn *c)
{
	/* pairs with nswap_suspicion_again() */
	unsigned long again = smp_load_acquire(&peer->again), asked = READ_ONCE(c->asked);

	if (!again || time_before(jiffies, again + msecs_to_jiffies(AGAIN_MS)))
		return false;
	if (time_after(jiffies, again + msecs_to_jiffies(STORE_MS))) {
		WRITE_ONCE(peer->again, 0);
		return false;
	}
	return asked && time_before(asked, again) &&
	       (c->class != NSWAP_CLASS_STORE || READ_ONCE(peer->again_all));
}

/**
 * nswap_suspicion_of_flow() - is a connection of a peer's session dead?
 * @peer: an UP peer
 *
 * Context: process, the tick; does not sleep.
 * Return: true if the session has to be broken: its @reason is set.
 */
bool nswap_suspicion_of_flow(struct nswap_peer *peer)
{
	u32 i;

	for (i = 0; i < peer->nr_conns; i++) {
		struct nswap_conn *c = &peer->conn[i];

		if (nswap_conn_unanswered(c) <= patience_ms(peer, c) &&
		    !flow_left_behind(peer, c))
			continue;
		WRITE_ONCE(peer->reason, NSWAP_REASON_NO_ANSWER);
		return true;
	}
	return false;
}

/**
 * nswap_suspicion_longest_ms() - how long can it take until a silent peer is DEAD?
 * @node: whose peers
 *
 * Context: any.
 * Return: ms, at most: until it is suspected, and dead_after from then on.
 */
u32 nswap_suspicion_longest_ms(const struct nswap_node *node)
{
	return FLOW_MS + MSEC_PER_SEC + nswap_knob(node, dead_after_ms);
}

/**
 * nswap_suspicion_failed() - an attempt to connect has failed
 * @peer: its peer
 * @error: of the attempt
 *
 * Logged for a peer that had a session, once until it has another: a session that
 * comes back at the first attempt is not worth a line.
 *
 * Context: process, the leader; does not sleep.
 */
void nswap_suspicion_failed(struct nswap_peer *peer, int error)
{
	char text[64];

	WRITE_ONCE(peer->reason, nswap_peer_reason_of(error));
	if (peer->complained || READ_ONCE(peer->state) != NSWAP_PEER_SUSPECTED)
		return;
	peer->complained = true;
	nswap_peer_reason_text(peer->reason, ms_since(READ_ONCE(peer->heard)),
			       text, sizeof(text));
	nswap_warn(peer->node, "peer %s is suspected: %s; page-ins of the %lld pages it holds wait for it, unless they are elsewhere too; is it up, and the way there? nswapctl doctor",
		   peer->name, text, atomic64_read(&peer->slots));
}

/* it has a session again, in the same epoch; process, the leader; does not sleep */
void nswap_suspicion_over(struct nswap_peer *peer)
{
	if (peer->complained)
		nswap_info(peer->node, "peer %s is back in the same epoch: %lld pages stayed there",
			   peer->name, atomic64_read(&peer->slots));
	peer->complained = false;
	WRITE_ONCE(peer->reason, NSWAP_REASON_NONE);
}

/* what users see of it: @v has the state; any context */
void nswap_suspicion_view(const struct nswap_peer *peer,
			  struct nswap_peer_view *v)
{
	u32 i;

	/* of the first nothing is wanted yet, the other is no matter of suspicion */
	if (v->state == NSWAP_PEER_NEW || v->state == NSWAP_PEER_LOST)
		return;
	if (v->state != NSWAP_PEER_UP) {
		v->reason = READ_ONCE(peer->reason);
		v->since_ms = ms_since(READ_ONCE(peer->heard));
		return;
	}
	for (i = 0; i < peer->nr_conns; i++)
		v->since_ms = max(v->since_ms,
				  nswap_conn_unanswered(&peer->conn[i]));
	if (v->since_ms >= SHOWN_MS)
		v->reason = NSWAP_REASON_NO_ANSWER;
}
