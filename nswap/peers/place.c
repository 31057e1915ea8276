// SPDX-License-Identifier: GPL-2.0
/*
 * Candidates for placement: the peers a session stands with, what they
 * announced, and the grants this node may spend on each.
 *
 * Invariants, all under node->place_lock:
 *  - A page-out is sent only against a grant taken here; grants only come from
 *    the peer, so a page on its way always has a page set aside for it.
 *  - grants and inflight of a candidate belong to one session: both start anew
 *    with nswap_place_add(), and what a message of an older session gives or
 *    ends goes nowhere because the candidate was removed in between. A message
 *    ends exactly once: by its answer, or before nswap_place_add() by the
 *    session's end.
 *  - The policy sees the candidates and changes nothing.
 *  - store_ns of a candidate follows what its page-outs take, and falls while
 *    none ends: a peer that was slow once is tried again.
 *
 * Nothing here sleeps or allocates but nswap_place_init().
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "base/types.h"
#include "core/device_policy.h"
#include "core/node.h"
#include "place.h"
#include "policy/policy.h"

#define STORE_WEIGHT	8	/* of what was before, to one of the last page-out */
#define STORE_FORGET	8	/* this part goes with every tick without a page-out */

/**
 * nswap_place_init() - room for all candidates
 * @node: a node that comes up
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOMEM.
 */
int nswap_place_init(struct nswap_node *node)
{
	spin_lock_init(&node->place_lock);
	prandom_seed_state(&node->place_rnd, get_random_u64());
	node->cand = kvcalloc(NSWAP_MAX_PEERS, sizeof(*node->cand), GFP_KERNEL);
	return node->cand ? 0 : -ENOMEM;
}

/**
 * nswap_place_exit() - undo nswap_place_init()
 * @node: a node without sessions
 *
 * Context: process, sleeps.
 */
void nswap_place_exit(struct nswap_node *node)
{
	kvfree(node->cand);
}

static struct nswap_place_peer *place_find(struct nswap_node *node, u16 index)
{
	unsigned int i;

	for (i = 0; i < node->nr_cand; i++)
		if (node->cand[i].index == index)
			return &node->cand[i];
	return NULL;
}

/**
 * nswap_place_add() - a session came up: the peer may be chosen
 * @node: node
 * @index: of the peer
 * @grants: pages it set aside with its HELLO_ACK
 * @free: pages it said are free
 *
 * Context: process, does not sleep.
 */
void nswap_place_add(struct nswap_node *node, u16 index, u32 grants, u64 free)
{
	struct nswap_place_peer *c;
	unsigned int i;

	spin_lock(&node->place_lock);
	for (i = node->nr_cand; i && node->cand[i - 1].index > index; i--)
		node->cand[i] = node->cand[i - 1];
	c = &node->cand[i];
	node->nr_cand++;
	*c = (struct nswap_place_peer){
		.index = index, .eligible = true, .grants = grants,
		.free = free, .lent = free,
	};
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_remove() - the session is over: the peer cannot be chosen
 * @node: node
 * @index: of the peer; one that is not there is ignored
 *
 * Context: process, does not sleep.
 */
void nswap_place_remove(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c) {
		node->nr_cand--;
		memmove(c, c + 1,
			(node->cand + node->nr_cand - c) * sizeof(*c));
	}
	spin_unlock(&node->place_lock);
}

/* could waiting help? One that shrinks will not have room soon */
static bool room_may_come(const struct nswap_node *node)
{
	unsigned int i;

	for (i = 0; i < node->nr_cand; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		if (c->eligible && !c->shrinking &&
		    (c->free || c->inflight || c->grants))
			return true;
	}
	return false;
}

/*
 * The policy's choice, NULL if nobody can take even one page; @flash: set if it
 * prefers that, and if it may.
 */
static struct nswap_place_peer *place_pick(struct nswap_device *dev,
					   unsigned int pages,
					   int flash_inflight, bool *flash)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_view view = {
		.peer = node->cand, .nr = node->nr_cand,
		.last = dev->placed_last,
		.random = prandom_u32_state(&node->place_rnd),
		.flash = flash_inflight >= 0,
		.flash_inflight = max(flash_inflight, 0),
	};
	int pos = nswap_device_place(dev)->pick(&view, pages);

	*flash = view.flash && pos == NSWAP_PLACE_FLASH;
	if (pos < 0 || pos >= node->nr_cand ||
	    !nswap_place_usable(&node->cand[pos]))
		return NULL;
	dev->placed_last = node->cand[pos].index;
	return &node->cand[pos];
}

static unsigned int place_spend(struct nswap_place_peer *c, unsigned int pages)
{
	unsigned int n = min(pages, c->grants);

	c->grants -= n;
	c->free -= min_t(u64, n, c->free);
	c->inflight += n;
	return n;
}

/**
 * nswap_place_take() - choose a peer and spend grants on it
 * @dev: device, whose policy chooses
 * @pages: adjacent pages to be placed
 * @flash_inflight: reads and writes under way at the device's flash; negative
 *	if they cannot go there
 * @index: the chosen peer
 *
 * Context: process, page-out path; does not sleep.
 * Return: how many of @pages the peer takes; -EXDEV: they had better go to
 * flash; -EAGAIN: no grant now, but some may come; -ENOSPC: no room anywhere.
 */
int nswap_place_take(struct nswap_device *dev, unsigned int pages,
		     int flash_inflight, u16 *index)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_peer *c;
	bool flash;
	int n;

	spin_lock(&node->place_lock);
	c = place_pick(dev, pages, flash_inflight, &flash);
	if (c) {
		n = place_spend(c, pages);
		*index = c->index;
	} else if (flash) {
		n = -EXDEV;
	} else {
		n = room_may_come(node) ? -EAGAIN : -ENOSPC;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/**
 * nswap_place_spare() - would nswap_place_take_spare() find a peer?
 * @node: node
 * @pages: adjacent pages
 *
 * Context: process, does not sleep.
 * Return: true if a peer has more than page-outs need.
 */
bool nswap_place_spare(struct nswap_node *node, unsigned int pages)
{
	bool spare = false;
	unsigned int i;

	spin_lock(&node->place_lock);
	for (i = 0; i < node->nr_cand && !spare; i++)
		spare = nswap_place_ample(&node->cand[i], pages);
	spin_unlock(&node->place_lock);
	return spare;
}

/**
 * nswap_place_take_spare() - the same for pages that can stay where they are
 * @dev: device, whose policy chooses
 * @pages: adjacent pages to be placed
 * @index: the chosen peer
 *
 * Context: process, does not sleep.
 * Return: @pages, or 0 if the peer that the policy chooses has no more than
 * page-outs need.
 */
unsigned int nswap_place_take_spare(struct nswap_device *dev,
				    unsigned int pages, u16 *index)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_peer *c;
	unsigned int n = 0;
	bool flash;

	spin_lock(&node->place_lock);
	c = place_pick(dev, pages, -1, &flash);
	if (c && nswap_place_ample(c, pages)) {
		n = place_spend(c, pages);
		*index = c->index;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/**
 * nswap_place_give() - the peer granted more and told what is free
 * @node: node
 * @index: of the peer
 * @grants: pages set aside in addition
 * @free: pages it has neither filled nor granted
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_give(struct nswap_node *node, u16 index, u32 grants, u64 free)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c) {
		c->grants += grants;
		c->free = free;
	}
	spin_unlock(&node->place_lock);
}

static void place_charge(struct nswap_place_peer *c, u64 ns)
{
	c->store_ns = c->store_ns ? (c->store_ns * (STORE_WEIGHT - 1) + ns) /
				    STORE_WEIGHT : ns;
	/* 0 means that nothing is known */
	c->store_ns = max(c->store_ns, 1ull);
	c->measured = true;
}

/**
 * nswap_place_ended() - a page-out was answered or given up
 * @node: node
 * @index: of the peer
 * @pages: in the message
 * @began: when it was given to the connection, by ktime_get_ns()
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_ended(struct nswap_node *node, u16 index, u32 pages, u64 began)
{
	u64 ns = ktime_get_ns() - began;
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c) {
		c->inflight -= min(pages, c->inflight);
		place_charge(c, ns);
	}
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_forget() - a tick has passed: what a page-out takes may be old
 * @node: node
 * @index: of the peer
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_forget(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c && !c->measured && !c->inflight && c->store_ns)
		c->store_ns -= c->store_ns / STORE_FORGET;
	if (c)
		c->measured = false;
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_eligible() - may the peer be chosen?
 * @node: node
 * @index: of the peer
 * @eligible: yes or no
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_eligible(struct nswap_node *node, u16 index, bool eligible)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c)
		c->eligible = eligible;
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_rest() - the refraction period of a peer begins or ends
 * @node: node
 * @index: of the peer
 * @resting: begins
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_rest(struct nswap_node *node, u16 index, bool resting)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c)
		c->resting = resting;
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_shrinks() - the peer gives RAM back, or does so no more
 * @node: node
 * @index: of the peer
 * @shrinking: by its last announcement
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_shrinks(struct nswap_node *node, u16 index, bool shrinking)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c)
		c->shrinking = shrinking;
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_unspent() - a grant was not used: nothing was sent
 * @node: node
 * @index: of the peer
 * @pages: grants to put back
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_place_unspent(struct nswap_node *node, u16 index, u32 pages)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c)
		c->grants += pages;
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_announced() - the peer announced what it lends
 * @node: node
 * @index: of the peer
 * @lent: pages
 * @free: pages
 * @shrinking: it gives lent RAM back: not to be chosen from now on
 *
 * Context: process, does not sleep.
 */
void nswap_place_announced(struct nswap_node *node, u16 index, u64 lent,
			   u64 free, bool shrinking)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c) {
		c->lent = lent;
		c->free = shrinking ? 0 : free;
		c->shrinking = shrinking;
	}
	spin_unlock(&node->place_lock);
}

/**
 * nswap_place_give_back() - take grants away from an idle candidate
 * @node: node
 * @index: of the peer
 * @keep: grants to leave it with; none to one that shrinks, which has to
 *	refuse what is sent against those it took back
 *
 * Context: process, does not sleep.
 * Return: grants taken, to be returned to the peer; 0 if pages are on their
 * way to it or it has no more than @keep.
 */
u32 nswap_place_give_back(struct nswap_node *node, u16 index, u32 keep)
{
	struct nswap_place_peer *c;
	u32 n = 0;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	if (c && c->shrinking)
		keep = 0;
	if (c && !c->inflight && c->grants > keep) {
		n = c->grants - keep;
		c->grants = keep;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/**
 * nswap_place_wants() - should this peer be asked for grants?
 * @node: node
 * @index: of the peer
 *
 * Context: process, does not sleep.
 * Return: true if it is eligible, not shrinking, has room and no grant of it
 * is left.
 */
bool nswap_place_wants(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c;
	bool wants;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	wants = c && c->eligible && !c->shrinking && !c->grants && c->free;
	spin_unlock(&node->place_lock);
	return wants;
}

/**
 * nswap_place_look() - a candidate's numbers for people
 * @node: node
 * @index: of the peer
 * @grants: result, 0 if it is no candidate
 * @inflight: result, likewise
 *
 * Context: process, does not sleep.
 */
void nswap_place_look(struct nswap_node *node, u16 index, u32 *grants,
		      u32 *inflight)
{
	struct nswap_place_peer *c;

	spin_lock(&node->place_lock);
	c = place_find(node, index);
	*grants = c ? c->grants : 0;
	*inflight = c ? c->inflight : 0;
	spin_unlock(&node->place_lock);
}
