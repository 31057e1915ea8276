// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a peer's state; the states and their table: pure/peer_state.c.
 *
 * Invariants:
 *  - The state changes in state_change() only, under peer->lock. The leader of
 *    the session, the tick, announcements, and tasks that start and end
 *    sessions do that concurrently: each names the states it expects and acts
 *    on the one it found. Read without the lock, a state is a snapshot,
 *    but for LOST, which is final.
 *  - Parked page-ins leave in the critical section that makes the peer DEAD or
 *    LOST; see parked.c for why none comes later.
 *  - What a page-in does and whether the peer may be chosen follows from the
 *    state. Only the candidates (place_cand.c) cache it, and they are evaluated
 *    again at each tick.
 */
#include "base/log.h"
#include "core/client_state.h"
#include "core/node.h"
#include "pure/peer_state.h"
#include "session.h"
#include "state_change.h"

#define ATTEMPT_MS	500	/* a peer that is well has a new session by then */

/* page-ins that need not wait any longer in the new state are moved to @parked */
static enum nswap_peer_state state_change(struct nswap_peer *peer,
					  unsigned long from,
					  enum nswap_peer_state to,
					  struct bio_list *parked)
{
	enum nswap_peer_state old = peer->state;

	lockdep_assert_held(&peer->lock);
	if (from & BIT(old) && !WARN_ON_ONCE(!nswap_peer_legal(old, to))) {
		WRITE_ONCE(peer->state, to);
		peer->changed = jiffies;
		if (nswap_peer_hopeless(to)) {
			bio_list_merge(parked, &peer->parked);
			bio_list_init(&peer->parked);
		}
	}
	return old;
}

/**
 * nswap_peer_become() - change a peer's state
 * @peer: the peer
 * @from: states the caller expects, BIT(NSWAP_PEER_...) each; in any other one
 *	nothing happens: another task was faster
 * @to: the new state
 *
 * If page-ins need not wait in the new state, those that are parked are looked up
 * again soon: they fail, or are elsewhere.
 *
 * Context: process; does not sleep; no lock held that a lost page-in takes.
 * Return: the state it was in: it has changed if that is one of @from.
 */
enum nswap_peer_state nswap_peer_become(struct nswap_peer *peer,
					unsigned long from,
					enum nswap_peer_state to)
{
	struct bio_list parked = BIO_EMPTY_LIST;
	enum nswap_peer_state old;

	spin_lock(&peer->lock);
	old = state_change(peer, from, to, &parked);
	spin_unlock(&peer->lock);
	nswap_client_ready(peer->node, &parked);
	wake_up_all(&peer->wait);
	return old;
}

/*
 * SUSPECTED -> DEAD when nothing has come for @ms, and it had the time that a new
 * session takes; as nswap_peer_become(). Returns true if it is DEAD now.
 */
bool nswap_peer_expire(struct nswap_peer *peer, unsigned int ms)
{
	struct bio_list parked = BIO_EMPTY_LIST;
	bool dead = false;

	spin_lock(&peer->lock);
	/* under the lock: a session that came and went meanwhile has updated @heard */
	if (time_after(jiffies, peer->changed + msecs_to_jiffies(ATTEMPT_MS)) &&
	    /* asked last: this machine may have been paused since it was asked before */
	    nswap_client_expired(peer->node, READ_ONCE(peer->heard), ms))
		dead = state_change(peer, BIT(NSWAP_PEER_SUSPECTED),
				    NSWAP_PEER_DEAD, &parked) ==
		       NSWAP_PEER_SUSPECTED;
	spin_unlock(&peer->lock);
	nswap_client_ready(peer->node, &parked);
	return dead;
}

/* the peer's epoch is over; process; does not sleep for the network */
void nswap_peer_lost(struct nswap_peer *peer)
{
	u64 slots = atomic64_read(&peer->slots);

	if (nswap_peer_become(peer, ~BIT(NSWAP_PEER_LOST), NSWAP_PEER_LOST) ==
	    NSWAP_PEER_LOST)
		return;
	nswap_session_break(peer);
	if (slots)
		nswap_warn(peer->node, "peer %s restarted: the %llu pages it held are gone, programs that read one that is nowhere else will fail; for the next time: nswapctl device protect",
			   peer->name, slots);
	queue_work(system_dfl_wq, &peer->node->client->losses);
}

/*
 * A peer that is not heard of, and holds nothing, is LOST as if its epoch were over, unless it has
 * a session: nothing is stored there before it has one. Process; does not sleep for the network.
 * Returns true if it is.
 */
bool nswap_peer_abandon(struct nswap_peer *peer)
{
	unsigned long from = BIT(NSWAP_PEER_NEW) | BIT(NSWAP_PEER_CONNECTING) |
			     BIT(NSWAP_PEER_DEAD);

	if (!(from & BIT(nswap_peer_become(peer, from, NSWAP_PEER_LOST))))
		return false;
	nswap_session_break(peer);
	return true;
}
