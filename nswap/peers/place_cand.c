// SPDX-License-Identifier: GPL-2.0
/*
 * Candidates for placement: the peers with an established session, what they
 * announced, and the grants this node may spend on each.
 *
 * Invariants:
 *  - grants and what is under way belong to one session: the tally is opened by
 *    nswap_place_add() and shut by nswap_place_remove(). What a message of an older
 *    session gives or ends has no effect, because it is shut in between. A message
 *    ends exactly once: by its answer, or before nswap_place_add() by the
 *    session's end.
 *  - The list changes under node->place_lock, and is read under RCU. A candidate is a part
 *    of its peer; one that is listed again is at the same place, so that a task which
 *    looks at it meanwhile goes on to the next.
 *  - eligible, resting and shrinking are not independent state: place_judge()
 *    derives them from the peer and its entry of the IPTable, at every tick and
 *    when something happens that should not wait for one. It reads the peer
 *    inside the lock: the last caller has seen every change of the peer. The
 *    entry is copied before: what an announcement said meanwhile counts from
 *    the next tick on.
 *  - What a candidate has free is what this node may have of it. What it announces is
 *    for all: where it gives each owner a share, only its answers say that there is more.
 *  - free, lent, store_ns and the times are estimates, each a word of its own: tasks that
 *    change one at the same moment may undo each other, until the next answer.
 *  - store_ns of a candidate follows the latency of its page-outs, and decays
 *    while none ends: a peer that was slow once is tried again.
 *
 * No page-out takes place_lock, unless something has gone wrong.
 *
 * Lock order: ipt_lock and place_lock are taken one after the other, not nested.
 * Nothing here sleeps or allocates.
 */
#include <linux/rculist.h>

#include "base/clock.h"
#include "core/node.h"
#include "peer.h"
#include "place.h"

#define STORE_WEIGHT	8	/* weight of the old average, to 1 of a page-out */
#define STORE_FORGET	8	/* store_ns / 8 decays at a tick without a page-out */

static struct nswap_ipt_entry place_entry(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	struct nswap_ipt_entry e;
	unsigned long flags;

	spin_lock_irqsave(&node->ipt_lock, flags);
	e = node->ipt.entry[peer->index];
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	return e;
}

/* has it a session? place_lock held */
static bool place_there(const struct nswap_cand *c)
{
	return nswap_tally_look(&c->tally).open;
}

/*
 * It cannot be chosen any more from now on, but it may soon have room again; place_lock held.
 * A page-out that finds it gone has to find that, too.
 */
static void place_room_gone(struct nswap_node *node, const struct nswap_cand *c)
{
	struct nswap_tally t = nswap_tally_look(&c->tally);

	if (!c->shrinking && !c->leaving && (READ_ONCE(c->free) || t.pages || t.grants))
		WRITE_ONCE(node->room_gone, jiffies);
	/* pairs with room_may_come() */
	smp_wmb();
}

/* the one place that decides whether a candidate may be chosen */
static void place_judge(struct nswap_cand *c, const struct nswap_peer *peer,
			const struct nswap_ipt_entry *e)
{
	u32 silent_ms = nswap_knob(peer->node, silent_ms);
	unsigned long heard = READ_ONCE(peer->heard);
	bool eligible;

	lockdep_assert_held(&peer->node->place_lock);
	c->leaving = !nswap_ipt_stays(e);
	WRITE_ONCE(c->shrinking, e->shrinking);
	eligible = READ_ONCE(peer->state) == NSWAP_PEER_UP && !c->leaving &&
		   (nswap_ipt_fresh(e, nswap_now_ms(), silent_ms) ||
		    !time_after(jiffies, heard + msecs_to_jiffies(silent_ms)));
	WRITE_ONCE(c->resting, time_before(jiffies, READ_ONCE(peer->refraction)));
	WRITE_ONCE(c->heard, heard);
	if (c->eligible && !eligible)
		place_room_gone(peer->node, c);
	WRITE_ONCE(c->eligible, eligible);
}

/* before the candidate of this index; the head of the list if there is none */
static struct list_head *place_before(struct nswap_node *node, u16 index)
{
	struct nswap_cand *c;

	list_for_each_entry(c, &node->cands, link)
		if (c->index > index)
			return &c->link;
	return &node->cands;
}

/* a session is established: the peer may be chosen */
void nswap_place_add(struct nswap_peer *peer)
{
	struct nswap_ipt_entry e = place_entry(peer);
	struct nswap_node *node = peer->node;
	struct nswap_cand *c = &peer->cand;

	spin_lock(&node->place_lock);
	c->index = peer->index;
	WRITE_ONCE(c->free, peer->free);
	WRITE_ONCE(c->lent, peer->free);
	WRITE_ONCE(c->store_ns, 0);
	WRITE_ONCE(c->missed, false);
	WRITE_ONCE(c->measured, false);
	c->share = U32_MAX;
	c->eligible = false;
	place_judge(c, peer, &e);
	nswap_tally_open(&c->tally, peer->grants);
	list_add_tail_rcu(&c->link, place_before(node, c->index));
	WRITE_ONCE(node->nr_cand, node->nr_cand + 1);
	spin_unlock(&node->place_lock);
}

/* the session has ended: the peer cannot be chosen */
void nswap_place_remove(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	struct nswap_cand *c = &peer->cand;

	spin_lock(&node->place_lock);
	if (place_there(c)) {
		place_room_gone(node, c);
		list_del_rcu(&c->link);
		WRITE_ONCE(node->nr_cand, node->nr_cand - 1);
		WRITE_ONCE(c->eligible, false);
		nswap_tally_shut(&c->tally);
	}
	spin_unlock(&node->place_lock);
}

/* silent, or without a session for now, and not dead; what it has announced still counts */
static bool place_may_return(struct nswap_peer *peer)
{
	struct nswap_ipt_entry e = place_entry(peer);
	enum nswap_peer_state state = READ_ONCE(peer->state);

	if (!e.free || e.shrinking || !nswap_ipt_stays(&e))
		return false;
	if (state != NSWAP_PEER_UP)
		return state == NSWAP_PEER_SUSPECTED;
	return !READ_ONCE(peer->cand.eligible);
}

/**
 * nswap_place_return_expected() - is a peer silent that may have room once it is back?
 * @node: node, of which no peer can be chosen now
 *
 * Context: process, page-out path; does not sleep or allocate.
 * Return: true if a page-out that waits may find it; not once it is dead or leaves.
 */
bool nswap_place_return_expected(struct nswap_node *node)
{
	struct nswap_peer *peer;
	bool expected = false;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		expected = place_may_return(peer);
		nswap_peer_put(peer);
		if (expected)
			break;
	}
	return expected;
}

/**
 * nswap_place_give() - the peer granted more and reported what is free
 * @peer: the peer
 * @grants: additional pages set aside
 * @free: pages it has neither filled nor granted
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_give(struct nswap_peer *peer, u32 grants, u64 free)
{
	WRITE_ONCE(peer->cand.free, free);
	nswap_tally_end(&peer->cand.tally, 0, grants);
}

/**
 * nswap_place_share() - the peer said what it lends to this node at most
 * @peer: the peer
 * @share: pages, U32_MAX for all it lends
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_share(struct nswap_peer *peer, u32 share)
{
	struct nswap_cand *c = &peer->cand;

	spin_lock(&peer->node->place_lock);
	c->share = share;
	WRITE_ONCE(c->lent, min_t(u64, c->lent, share));
	spin_unlock(&peer->node->place_lock);
}

/* what it announced, as far as that says something about this node's share */
static void place_announced(struct nswap_cand *c, const struct nswap_ipt_entry *e)
{
	bool shares = c->share != U32_MAX;
	u64 free = shares ? min(READ_ONCE(c->free), e->free) : e->free;

	WRITE_ONCE(c->lent, shares ? min_t(u64, e->lent, c->share) : e->lent);
	WRITE_ONCE(c->free, e->shrinking ? 0 : free);
}

/* a page-out that began then has ended, by an answer or without */
static void place_charge(struct nswap_cand *c, u64 began)
{
	u64 ns = ktime_get_ns() - began, usual = READ_ONCE(c->store_ns);

	if (usual)
		ns = (usual * (STORE_WEIGHT - 1) + ns) / STORE_WEIGHT;
	/* 0 means unknown */
	WRITE_ONCE(c->store_ns, max(ns, 1ull));
	WRITE_ONCE(c->measured, true);
}

/**
 * nswap_place_answered() - a page-out was answered
 * @peer: the peer
 * @pages: in the message
 * @began: when it was given to the connection, by ktime_get_ns()
 * @grants: of the answer: additional pages set aside
 * @free: likewise: pages it has neither filled nor granted
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_answered(struct nswap_peer *peer, u32 pages, u64 began, u32 grants,
			  u64 free)
{
	struct nswap_cand *c = &peer->cand;

	WRITE_ONCE(c->missed, false);
	WRITE_ONCE(c->asked, jiffies);
	WRITE_ONCE(c->free, free);
	place_charge(c, began);
	nswap_tally_end(&c->tally, pages, grants);
}

/* it was given up; as above */
void nswap_place_missed(struct nswap_peer *peer, u32 pages, u64 began)
{
	struct nswap_cand *c = &peer->cand;

	WRITE_ONCE(c->missed_at, jiffies);
	WRITE_ONCE(c->missed, true);
	place_charge(c, began);
	nswap_tally_end(&c->tally, pages, 0);
}

/* without page-outs the latency estimate decays */
static void place_forget(struct nswap_cand *c)
{
	u64 usual = READ_ONCE(c->store_ns);

	if (!READ_ONCE(c->measured) && usual && !nswap_tally_look(&c->tally).pages)
		WRITE_ONCE(c->store_ns, usual - usual / STORE_FORGET);
	WRITE_ONCE(c->measured, false);
}

/**
 * nswap_place_look() - evaluate again whether the peer may be chosen
 * @peer: the peer
 * @why: something changed in it, it announced what it lends and the IPTable has
 *	recorded that, or a tick has passed
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_look(struct nswap_peer *peer, enum nswap_place_why why)
{
	struct nswap_ipt_entry e = place_entry(peer);
	struct nswap_cand *c = &peer->cand;

	if (!e.shrinking)
		WRITE_ONCE(peer->apart_last, 0);
	spin_lock(&peer->node->place_lock);
	if (place_there(c)) {
		place_judge(c, peer, &e);
		if (why == NSWAP_PLACE_ANNOUNCED)
			place_announced(c, &e);
		else if (why == NSWAP_PLACE_TICK)
			place_forget(c);
	}
	spin_unlock(&peer->node->place_lock);
}

/*
 * A page-out found no session: do not choose it before the tick. Context: process,
 * page-out path; does not sleep.
 */
void nswap_place_rest(struct nswap_peer *peer)
{
	spin_lock(&peer->node->place_lock);
	WRITE_ONCE(peer->cand.resting, true);
	spin_unlock(&peer->node->place_lock);
}

/*
 * Return unused grants: nothing was sent. Context: process, page-out path; does not
 * sleep.
 */
void nswap_place_unspent(struct nswap_peer *peer, u32 pages)
{
	nswap_tally_end(&peer->cand.tally, 0, pages);
}

/*
 * Take grants from an idle candidate, to be returned to the peer. Returns their
 * number; 0 if pages are in flight to it or it has no more than @keep.
 */
u32 nswap_place_give_back(struct nswap_peer *peer, u32 keep)
{
	struct nswap_cand *c = &peer->cand;

	return nswap_tally_take_back(&c->tally, READ_ONCE(c->shrinking) ? 0 : keep);
}

/* should this peer be asked for grants? */
bool nswap_place_wants(const struct nswap_peer *peer)
{
	const struct nswap_cand *c = &peer->cand;
	struct nswap_tally t = nswap_tally_look(&c->tally);

	return t.open && READ_ONCE(c->eligible) && !READ_ONCE(c->shrinking) &&
	       !t.grants && READ_ONCE(c->free);
}

/* a candidate's numbers for views */
void nswap_place_numbers(const struct nswap_peer *peer, u32 *grants, u32 *inflight)
{
	struct nswap_tally t = nswap_tally_look(&peer->cand.tally);

	*grants = t.grants;
	*inflight = t.pages;
}
