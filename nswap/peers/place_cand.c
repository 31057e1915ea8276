// SPDX-License-Identifier: GPL-2.0
/*
 * Candidates for placement: the peers with an established session, what they
 * announced, and the grants this node may spend on each.
 *
 * Invariants, all under node->place_lock:
 *  - grants and inflight of a candidate belong to one session: both start
 *    with nswap_place_add(). What a message of an older session gives or ends
 *    has no effect, because the candidate was removed in between. A message
 *    ends exactly once: by its answer, or before nswap_place_add() by the
 *    session's end.
 *  - eligible, resting and shrinking are not independent state: place_judge()
 *    derives them from the peer and its entry of the IPTable, at every tick and
 *    when something happens that should not wait for one. It reads the peer
 *    inside the lock: the last caller has seen every change of the peer. The
 *    entry is copied before: what an announcement said meanwhile counts from
 *    the next tick on.
 *  - busy follows from what is under way, when that was answered last, and what was
 *    not answered at all; place.c derives it for each choice.
 *  - What a candidate has free is what this node may have of it. What it announces is
 *    for all: where it gives each owner a share, only its answers say that there is more.
 *  - store_ns of a candidate follows the latency of its page-outs, and decays
 *    while none ends: a peer that was slow once is tried again.
 *
 * Lock order: ipt_lock and place_lock are taken one after the other, not nested.
 * Nothing here sleeps or allocates.
 */
#include "base/clock.h"
#include "core/node.h"
#include "peer.h"
#include "place.h"

#define STORE_WEIGHT	8	/* weight of the old average, to 1 of a page-out */
#define STORE_FORGET	8	/* store_ns / 8 decays at a tick without a page-out */

/* the candidate of that index, or NULL; under the place_lock */
struct nswap_place_peer *nswap_place_find(struct nswap_node *node, u16 index)
{
	unsigned int i;

	for (i = 0; i < node->nr_cand; i++)
		if (node->cand[i].index == index)
			return &node->cand[i];
	return NULL;
}

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

/* it cannot be chosen any more, but it may soon have room again; place_lock held */
static void place_room_gone(struct nswap_node *node, const struct nswap_place_peer *c)
{
	if (!c->shrinking && !c->leaving && (c->free || c->inflight || c->grants))
		node->room_gone = jiffies;
}

/* the one place that decides whether a candidate may be chosen */
static void place_judge(struct nswap_place_peer *c,
			const struct nswap_peer *peer,
			const struct nswap_ipt_entry *e)
{
	u32 silent_ms = nswap_knob(peer->node, silent_ms);
	unsigned long silent = READ_ONCE(peer->heard) +
			       msecs_to_jiffies(silent_ms);
	bool was = c->eligible;

	lockdep_assert_held(&peer->node->place_lock);
	c->shrinking = e->shrinking;
	c->leaving = !nswap_ipt_stays(e);
	c->eligible = READ_ONCE(peer->state) == NSWAP_PEER_UP &&
		      !c->leaving &&
		      (nswap_ipt_fresh(e, nswap_now_ms(), silent_ms) ||
		       !time_after(jiffies, silent));
	c->resting = time_before(jiffies, READ_ONCE(peer->refraction));
	c->heard = READ_ONCE(peer->heard);
	if (was && !c->eligible)
		place_room_gone(peer->node, c);
}

/* a session is established: the peer may be chosen */
void nswap_place_add(struct nswap_peer *peer)
{
	struct nswap_ipt_entry e = place_entry(peer);
	struct nswap_node *node = peer->node;
	struct nswap_place_peer *c;
	unsigned int i;

	spin_lock(&node->place_lock);
	for (i = node->nr_cand; i && node->cand[i - 1].index > peer->index; i--)
		node->cand[i] = node->cand[i - 1];
	c = &node->cand[i];
	node->nr_cand++;
	*c = (struct nswap_place_peer){
		.index = peer->index, .grants = peer->grants,
		.free = peer->free, .lent = peer->free,
		.share = U32_MAX,
	};
	place_judge(c, peer, &e);
	spin_unlock(&node->place_lock);
}

/* the session has ended: the peer cannot be chosen */
void nswap_place_remove(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c) {
		place_room_gone(node, c);
		node->nr_cand--;
		memmove(c, c + 1,
			(node->cand + node->nr_cand - c) * sizeof(*c));
	}
	spin_unlock(&node->place_lock);
}

/* silent, or without a session for now, and not dead; what it has announced still counts */
static bool place_may_return(struct nswap_node *node, struct nswap_peer *peer)
{
	struct nswap_ipt_entry e = place_entry(peer);
	enum nswap_peer_state state = READ_ONCE(peer->state);
	const struct nswap_place_peer *c;
	bool eligible;

	if (!e.free || e.shrinking || !nswap_ipt_stays(&e))
		return false;
	if (state != NSWAP_PEER_UP)
		return state == NSWAP_PEER_SUSPECTED;
	spin_lock(&node->place_lock);
	c = nswap_place_find(node, peer->index);
	eligible = c && c->eligible;
	spin_unlock(&node->place_lock);
	return !eligible;
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
		expected = place_may_return(node, peer);
		nswap_peer_put(peer);
		if (expected)
			break;
	}
	return expected;
}

/* the peer that was chosen, with a reference; NULL if it is gone, and no candidate now */
struct nswap_peer *nswap_place_peer(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);

	if (!peer)
		nswap_place_remove(node, index);
	return peer;
}

/**
 * nswap_place_give() - the peer granted more and reported what is free
 * @node: node
 * @index: of the peer
 * @grants: additional pages set aside
 * @free: pages it has neither filled nor granted
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_give(struct nswap_node *node, u16 index, u32 grants, u64 free)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c) {
		c->grants += grants;
		c->free = free;
	}
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_share() - the peer said what it lends to this node at most
 * @node: node
 * @index: of the peer
 * @share: pages, U32_MAX for all it lends
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_share(struct nswap_node *node, u16 index, u32 share)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c) {
		c->share = share;
		c->lent = min_t(u64, c->lent, share);
	}
	spin_unlock(&node->place_lock);
}

/* what it announced, as far as that says something about this node's share */
static void place_announced(struct nswap_place_peer *c, const struct nswap_ipt_entry *e)
{
	bool shares = c->share != U32_MAX;

	c->lent = shares ? min_t(u64, e->lent, c->share) : e->lent;
	c->free = e->shrinking ? 0 : shares ? min(c->free, e->free) : e->free;
}

static void place_charge(struct nswap_place_peer *c, u64 ns)
{
	c->store_ns = c->store_ns ? (c->store_ns * (STORE_WEIGHT - 1) + ns) /
				    STORE_WEIGHT : ns;
	/* 0 means unknown */
	c->store_ns = max(c->store_ns, 1ull);
	c->measured = true;
}

/**
 * nswap_place_ended() - a page-out was answered or given up
 * @node: node
 * @index: of the peer
 * @pages: in the message
 * @began: when it was given to the connection, by ktime_get_ns()
 * @answered: it was answered
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_ended(struct nswap_node *node, u16 index, u32 pages, u64 began,
		       bool answered)
{
	u64 ns = ktime_get_ns() - began;
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c) {
		c->inflight -= min(pages, c->inflight);
		c->messages -= !!c->messages;
		c->missed = !answered;
		*(answered ? &c->asked : &c->missed_at) = jiffies;
		place_charge(c, ns);
	}
	spin_unlock(&node->place_lock);
}

/* without page-outs the latency estimate decays */
static void place_forget(struct nswap_place_peer *c)
{
	if (!c->measured && !c->inflight && c->store_ns)
		c->store_ns -= c->store_ns / STORE_FORGET;
	c->measured = false;
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
	struct nswap_node *node = peer->node;
	struct nswap_place_peer *c;

	if (!e.shrinking)
		WRITE_ONCE(peer->apart_last, 0);
	spin_lock(&node->place_lock);
	c = nswap_place_find(node, peer->index);
	if (c) {
		place_judge(c, peer, &e);
		if (why == NSWAP_PLACE_ANNOUNCED)
			place_announced(c, &e);
		else if (why == NSWAP_PLACE_TICK)
			place_forget(c);
	}
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_rest() - a page-out found no session: do not choose before the tick
 * @node: node
 * @index: of the peer
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_rest(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c)
		c->resting = true;
	spin_unlock(&node->place_lock);
}

/*
 * Return unused grants: nothing was sent. Context: process, page-out path; does not
 * sleep.
 */
void nswap_place_unspent(struct nswap_node *node, u16 index, u32 pages)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c)
		c->grants += pages;
	spin_unlock(&node->place_lock);
}

/*
 * Take grants from an idle candidate, to be returned to the peer. Returns their
 * number; 0 if pages are in flight to it or it has no more than @keep.
 */
u32 nswap_place_give_back(struct nswap_node *node, u16 index, u32 keep)
{
	struct nswap_place_peer *c;
	u32 n = 0;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	if (c && c->shrinking)
		keep = 0;
	if (c && !c->inflight && c->grants > keep) {
		n = c->grants - keep;
		c->grants = keep;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/* pages that candidates lend this node together, and how many of them are used */
void nswap_place_room(struct nswap_node *node, u64 *lent, u64 *used)
{
	unsigned int i;

	*lent = 0;
	*used = 0;
	spin_lock(&node->place_lock);
	for (i = 0; i < node->nr_cand; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		if (!c->eligible || c->shrinking)
			continue;
		*lent += c->lent;
		*used += c->lent - min(c->free, c->lent);
	}
	spin_unlock(&node->place_lock);
}

/* the least time of a page-out to a candidate that may be chosen, in ns; 0: unknown */
u64 nswap_place_fastest(struct nswap_node *node)
{
	unsigned int i;
	u64 ns = 0;

	spin_lock(&node->place_lock);
	for (i = 0; i < node->nr_cand; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		if (c->eligible && !c->shrinking && c->store_ns &&
		    (!ns || c->store_ns < ns))
			ns = c->store_ns;
	}
	spin_unlock(&node->place_lock);
	return ns;
}

/* should this peer be asked for grants? */
bool nswap_place_wants(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;
	bool wants;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	wants = c && c->eligible && !c->shrinking && !c->grants && c->free;
	spin_unlock(&node->place_lock);
	return wants;
}

/* a candidate's numbers for views */
void nswap_place_numbers(struct nswap_node *node, u16 index, u32 *grants,
			 u32 *inflight)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = nswap_place_find(node, index);
	*grants = c ? c->grants : 0;
	*inflight = c ? c->inflight : 0;
	spin_unlock(&node->place_lock);
}
