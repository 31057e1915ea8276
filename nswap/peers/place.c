// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: which peer a page-out goes to, against a grant.
 *
 * Invariants, under node->place_lock:
 *  - A page-out is sent only against a grant taken here; grants come only from
 *    the peer, so each page in flight has a page set aside for it.
 *  - The policy reads the candidates (place_cand.c) and changes nothing. What must not
 *    be chosen is decided before, for all policies alike (nswap_place_usable()).
 *
 * Nothing here sleeps or allocates but nswap_place_init().
 */
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "core/device_policy.h"
#include "core/reserve.h"
#include "place.h"

#define SLOW_MS		30
#define LATE_MS		250	/* less than this is never late: one lost segment */
#define LATE_MOST_MS	1000
#define LATE_TIMES	8	/* the usual time */
#define BACK		(2 * HZ) /* a session that broke may stand again within */

static const struct nswap_place_avoid place_avoid_none;

/* allocate the candidates. Returns 0, or -ENOMEM */
int nswap_place_init(struct nswap_node *node)
{
	spin_lock_init(&node->place_lock);
	prandom_seed_state(&node->place_rnd, get_random_u64());
	node->room_gone = jiffies - BACK - 1;
	node->cand = kvcalloc(NSWAP_MAX_PEERS, sizeof(*node->cand), GFP_KERNEL);
	return node->cand ? 0 : -ENOMEM;
}

/* @node: without sessions */
void nswap_place_exit(struct nswap_node *node)
{
	kvfree(node->cand);
}

static bool place_avoided(const struct nswap_place_avoid *avoid, u16 index)
{
	unsigned int i;

	for (i = 0; i < avoid->nr; i++)
		if (avoid->peer[i] == index)
			return true;
	return false;
}

/*
 * Could waiting help? Not for a peer that shrinks, which will not have room soon. All
 * sessions may be broken just now, by a message that was lost, or a peer's restart: the
 * only copy of a page waits for them, another one need not.
 */
static bool room_may_come(const struct nswap_node *node,
			  const struct nswap_place_avoid *avoid)
{
	unsigned int i;

	for (i = 0; i < node->nr_cand; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		if (!place_avoided(avoid, c->index) && c->eligible && !c->shrinking &&
		    (c->free || c->inflight || c->grants))
			return true;
	}
	return !avoid->nr && !time_after(jiffies, node->room_gone + BACK);
}

/*
 * Would one more page-out to it, perhaps, only wait there with its tag? Then it goes to
 * another peer, and home last.
 *
 *   it missed one		nothing until it is heard of, then one at a time until
 *				it answers
 *   no answer for long		nothing, while some are under way
 *   no answer for a moment	a quarter of the tags
 *   else			half of them, if there is another peer
 */
static bool place_busy(const struct nswap_node *node,
		       const struct nswap_place_peer *c)
{
	unsigned long age = jiffies - c->asked;
	u32 most = node->nr_cand > 1 ? NSWAP_TAGS / 2 : U32_MAX;

	if (!c->messages)
		return c->missed && !time_after(c->heard, c->missed_at);
	if (c->missed || age > msecs_to_jiffies(LATE_MOST_MS) ||
	    (age > msecs_to_jiffies(LATE_MS) &&
	     age > nsecs_to_jiffies(c->store_ns * LATE_TIMES)))
		return true;
	if (age > msecs_to_jiffies(SLOW_MS))
		most = NSWAP_TAGS / 4;
	return c->messages >= most;
}

static void place_update(struct nswap_node *node,
			 const struct nswap_place_avoid *avoid)
{
	unsigned int i;

	lockdep_assert_held(&node->place_lock);
	for (i = 0; i < node->nr_cand; i++)
		node->cand[i].busy = place_avoided(avoid, node->cand[i].index) ||
				     place_busy(node, &node->cand[i]);
}

/* a peer that may be chosen, or NULL; @index: 0 for none */
static struct nswap_place_peer *place_named(struct nswap_node *node, u16 index)
{
	struct nswap_place_peer *c = index ? nswap_place_find(node, index) : NULL;

	return c && nswap_place_usable(c) ? c : NULL;
}

/* a page that is written again at its old place leaves no copy to be freed there */
static struct nswap_place_peer *place_or_old(struct nswap_device *dev,
					     struct nswap_place_peer *picked, u16 index,
					     unsigned int pages)
{
	const struct nswap_place_ops *policy = nswap_device_place(dev);
	struct nswap_place_peer *old = place_named(dev->node, index);

	if (!old || (policy->as_good && !policy->as_good(old, picked, pages)))
		return picked;
	return old;
}

/*
 * The policy's choice, NULL if no peer takes even one page. @tier: set to what place_take()
 * returns if another tier is possible and the policy prefers it, else 0.
 */
static struct nswap_place_peer *place_pick(struct nswap_device *dev,
					   unsigned int pages,
					   const struct nswap_place_avoid *avoid,
					   int flash_inflight, int *tier)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_view view = {
		.peer = node->cand, .nr = node->nr_cand,
		.last = dev->placed_last,
		.random = prandom_u32_state(&node->place_rnd),
		.flash = flash_inflight >= 0,
		.flash_inflight = max(flash_inflight, 0),
		.home = avoid->home,
		.lean = READ_ONCE(dev->leaning.now),
	};
	struct nswap_place_peer *c;
	int pos;

	*tier = 0;
	place_update(node, avoid);
	c = place_named(node, avoid->prefer);
	if (c)
		return c;
	pos = nswap_device_place(dev)->pick(&view, pages);
	if (view.flash && pos == NSWAP_PLACE_FLASH)
		*tier = -EXDEV;
	else if (view.home && pos == NSWAP_PLACE_HOME)
		*tier = -EREMOTE;
	if (pos < 0 || pos >= node->nr_cand ||
	    !nswap_place_usable(&node->cand[pos]))
		return NULL;
	c = place_or_old(dev, &node->cand[pos], avoid->old, pages);
	/* a page that stays where it is takes no turn of another peer */
	if (c->index != avoid->old)
		dev->placed_last = c->index;
	return c;
}

static unsigned int place_spend(struct nswap_place_peer *c, unsigned int pages)
{
	unsigned int n = min(pages, c->grants);

	if (!c->messages++)
		c->asked = jiffies;
	c->grants -= n;
	c->free -= min_t(u64, n, c->free);
	c->inflight += n;
	return n;
}

static int place_take(struct nswap_device *dev, unsigned int pages,
		      const struct nswap_place_avoid *avoid, int flash_inflight,
		      u16 *index)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_peer *c;
	int n, tier;

	spin_lock(&node->place_lock);
	c = place_pick(dev, pages, avoid, flash_inflight, &tier);
	if (c) {
		n = place_spend(c, pages);
		*index = c->index;
	} else if (tier) {
		n = tier;
	} else {
		n = room_may_come(node, avoid) ? -EAGAIN : -ENOSPC;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/**
 * nswap_place_take() - choose a peer and spend grants on it
 * @dev: device, whose policy chooses
 * @pages: adjacent pages to be placed
 * @avoid: peer that is not to be chosen, which holds another copy of them; 0 for none
 * @flash_inflight: reads and writes in flight at the device's flash; negative
 *	if the pages cannot go there
 * @index: the chosen peer
 *
 * Context: process, page-out path; does not sleep.
 * Return: how many of @pages the peer takes; -EXDEV: flash is preferred;
 * -EAGAIN: no grant now, but some may come; -ENOSPC: no room anywhere.
 */
int nswap_place_take(struct nswap_device *dev, unsigned int pages, u16 avoid,
		     int flash_inflight, u16 *index)
{
	struct nswap_place_avoid one = { .nr = !!avoid, .peer = { avoid } };

	return place_take(dev, pages, &one, flash_inflight, index);
}

/*
 * The same for pages of which a peer, @old, has older copies; it may be as good. -EREMOTE:
 * home is preferred; only if they may go there, @home.
 */
int nswap_place_take_again(struct nswap_device *dev, unsigned int pages, u16 old,
			   int flash_inflight, bool home, u16 *index)
{
	struct nswap_place_avoid any = { .old = old, .home = home };

	return place_take(dev, pages, &any, flash_inflight, index);
}

/* the same, without flash, and for more than one peer that is not to be chosen */
int nswap_place_take_apart(struct nswap_device *dev, unsigned int pages,
			   const struct nswap_place_avoid *avoid, u16 *index)
{
	return place_take(dev, pages, avoid, -1, index);
}

/**
 * nswap_place_take_reserved() - choose a peer that keeps pages of the device's reserve
 * @dev: device for which nswap_place_take() found no peer
 * @pages: adjacent pages to be placed
 * @index: the chosen peer, the one that has most of it left
 *
 * No grant is spent: the store has to say that it is of the reserve.
 *
 * Context: process, page-out path; does not sleep.
 * Return: how many of @pages the peer takes, 0 if there is none.
 */
unsigned int nswap_place_take_reserved(struct nswap_device *dev, unsigned int pages,
				       u16 *index)
{
	struct nswap_place_peer *c, *best = NULL;
	struct nswap_node *node = dev->node;
	unsigned int i, most = 0;

	if (!dev->reserve)
		return 0;
	spin_lock(&node->place_lock);
	place_update(node, &place_avoid_none);
	for (i = 0; i < node->nr_cand; i++) {
		u32 left;

		c = &node->cand[i];
		left = c->eligible && !c->busy ? nswap_reserve_left(dev, c->index) : 0;
		if (left > most) {
			most = left;
			best = c;
		}
	}
	pages = min(pages, most);
	if (best) {
		if (!best->messages++)
			best->asked = jiffies;
		best->inflight += pages;
		*index = best->index;
	}
	spin_unlock(&node->place_lock);
	return pages;
}

/* at how many peers is there room for a strip of a row? any context; a snapshot */
unsigned int nswap_place_count(struct nswap_node *node)
{
	unsigned int i, n = 0;

	spin_lock(&node->place_lock);
	for (i = 0; i < node->nr_cand; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		n += c->eligible && !c->shrinking && !c->missed &&
		     c->free + c->inflight + c->grants >= NSWAP_REQ_SLOTS;
	}
	spin_unlock(&node->place_lock);
	return n;
}

/* would nswap_place_take() find a peer, for the policy to choose? */
bool nswap_place_any(struct nswap_node *node, u16 avoid)
{
	struct nswap_place_avoid one = { .nr = !!avoid, .peer = { avoid } };
	bool any = false;
	unsigned int i;

	spin_lock(&node->place_lock);
	place_update(node, &one);
	for (i = 0; i < node->nr_cand && !any; i++)
		any = nswap_place_usable(&node->cand[i]);
	spin_unlock(&node->place_lock);
	return any;
}

/* does a peer besides these two have room, as far as is known? */
bool nswap_place_third(struct nswap_node *node, u16 a, u16 b)
{
	bool any = false;
	unsigned int i;

	spin_lock(&node->place_lock);
	for (i = 0; i < node->nr_cand && !any; i++) {
		const struct nswap_place_peer *c = &node->cand[i];

		any = c->index != a && c->index != b && c->eligible &&
		      !c->shrinking && c->free;
	}
	spin_unlock(&node->place_lock);
	return any;
}

/* would nswap_place_take_spare() find a peer? */
bool nswap_place_spare(struct nswap_node *node, unsigned int pages)
{
	bool spare = false;
	unsigned int i;

	spin_lock(&node->place_lock);
	place_update(node, &place_avoid_none);
	for (i = 0; i < node->nr_cand && !spare; i++)
		spare = nswap_place_ample(&node->cand[i], pages);
	spin_unlock(&node->place_lock);
	return spare;
}

/*
 * The same for pages that can stay where they are. Returns @pages, or 0 if the peer
 * that the policy chooses has no more than page-outs need.
 */
unsigned int nswap_place_take_spare(struct nswap_device *dev,
				    unsigned int pages, u16 *index)
{
	struct nswap_node *node = dev->node;
	struct nswap_place_peer *c;
	unsigned int n = 0;
	int tier;

	spin_lock(&node->place_lock);
	c = place_pick(dev, pages, &place_avoid_none, -1, &tier);
	if (c && nswap_place_ample(c, pages)) {
		n = place_spend(c, pages);
		*index = c->index;
	}
	spin_unlock(&node->place_lock);
	return n;
}
