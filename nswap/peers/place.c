// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: which peer a page-out goes to, against a grant.
 *
 * Invariants:
 *  - A page-out is sent only against a grant spent here; grants come only from
 *    the peer, so each page in flight has a page set aside for it. Its tally says so
 *    (pure/tally.h), which changes as a whole: tasks that choose at the same time spend
 *    no grant twice, and one that finds its choice without grants chooses again.
 *  - The policy reads a snapshot (place_snapshot.c) and changes nothing. What must not
 *    be chosen is decided there, for all policies alike.
 *  - Nothing is locked, and nothing written but what belongs to the chosen peer and to
 *    this processor.
 *
 * Nothing here sleeps or allocates.
 */
#include <linux/jiffies.h>
#include <linux/rculist.h>

#include "core/device_policy.h"
#include "core/reserve.h"
#include "place.h"
#include "place_snapshot.h"

#define BACK		(2 * HZ) /* a session that broke may stand again within */

static const struct nswap_place_avoid place_avoid_none;

/* before the node has sessions */
void nswap_place_init(struct nswap_node *node)
{
	spin_lock_init(&node->place_lock);
	INIT_LIST_HEAD(&node->cands);
	node->room_gone = jiffies - BACK - 1;
}

/*
 * Could waiting help? Not for a peer that shrinks, which will not have room soon. All
 * sessions may be broken just now, by a message that was lost, or a peer's restart: the
 * only copy of a page waits for them, another one need not.
 */
static bool room_may_come(struct nswap_node *node, const struct nswap_place_avoid *avoid)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	bool may = false;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		nswap_cand_look(node, c, &v);
		may = !nswap_place_avoided(avoid, c->index) && nswap_place_lends(&v) &&
		      (v.free || v.inflight || v.grants);
		if (may)
			break;
	}
	rcu_read_unlock();
	/* pairs with place_room_gone() */
	smp_rmb();
	return may || (!avoid->nr &&
		       !time_after(jiffies, READ_ONCE(node->room_gone) + BACK));
}

/* position of a peer that may be chosen, or -1; @index: 0 for none */
static int place_named(const struct nswap_place_snapshot *s, u16 index)
{
	int i;

	for (i = 0; index && i < s->nr; i++)
		if (s->peer[i].index == index)
			return i;
	return -1;
}

/* a page that is written again at its old place leaves no copy to be freed there */
static int place_or_old(struct nswap_device *dev, const struct nswap_place_snapshot *s,
			int picked, u16 index, unsigned int pages)
{
	const struct nswap_place_ops *policy = nswap_device_place(dev);
	int old = place_named(s, index);

	if (old < 0 ||
	    (policy->as_good && !policy->as_good(&s->peer[old], &s->peer[picked], pages)))
		return picked;
	return old;
}

/*
 * The policy's choice, its position; negative if no peer takes even one page:
 * NSWAP_PLACE_FLASH or NSWAP_PLACE_HOME if that is possible and the policy prefers it.
 */
static int place_pick(struct nswap_device *dev, struct nswap_place_snapshot *s,
		      unsigned int pages, const struct nswap_place_avoid *avoid,
		      int flash_inflight)
{
	struct nswap_place_view view = {
		.peer = s->peer, .nr = s->nr,
		.last = *this_cpu_ptr(dev->placed_last),
		.random = prandom_u32_state(&s->random),
		.flash = flash_inflight >= 0,
		.flash_inflight = max(flash_inflight, 0),
		.home = avoid->home,
		.lean = READ_ONCE(dev->leaning.now),
	};
	int pos = place_named(s, avoid->prefer);

	if (pos >= 0)
		return pos;
	pos = nswap_device_place(dev)->pick(&view, pages);
	if ((view.flash && pos == NSWAP_PLACE_FLASH) ||
	    (view.home && pos == NSWAP_PLACE_HOME))
		return pos;
	return pos < 0 || pos >= s->nr ? -1 :
	       place_or_old(dev, s, pos, avoid->old, pages);
}

/* a page that stays where it is, or goes to a preferred peer, takes no turn of another */
static void place_note_turn(struct nswap_device *dev, const struct nswap_place_avoid *avoid,
			    u16 index)
{
	if (index != avoid->old && index != avoid->prefer)
		*this_cpu_ptr(dev->placed_last) = index;
}

/* a message begins: at least @least grants are spent, or none */
static unsigned int place_spend(struct nswap_cand *c, unsigned int least,
				unsigned int pages)
{
	unsigned int n;
	u64 free;

	/* before it counts: no task may find it old */
	if (!nswap_tally_look(&c->tally).messages)
		WRITE_ONCE(c->asked, jiffies);
	n = nswap_tally_spend(&c->tally, least, pages);
	free = READ_ONCE(c->free);
	if (n && free)
		WRITE_ONCE(c->free, free - min_t(u64, n, free));
	return n;
}

static int place_take(struct nswap_device *dev, unsigned int pages,
		      const struct nswap_place_avoid *avoid, int flash_inflight,
		      u16 *index)
{
	struct nswap_node *node = dev->node;
	unsigned int n = 0;
	int pos;

	do {
		struct nswap_place_snapshot *s = nswap_place_snapshot(node, avoid);

		pos = place_pick(dev, s, pages, avoid, flash_inflight);
		if (pos >= 0) {
			*index = s->peer[pos].index;
			n = place_spend(s->cand[pos], 1, pages);
		}
		if (n)
			place_note_turn(dev, avoid, *index);
		nswap_place_snapshot_end();
		/* other tasks have spent them since, or the session has ended */
	} while (pos >= 0 && !n);
	if (n)
		return n;
	if (pos == NSWAP_PLACE_FLASH)
		return -EXDEV;
	if (pos == NSWAP_PLACE_HOME)
		return -EREMOTE;
	return room_may_come(node, avoid) ? -EAGAIN : -ENOSPC;
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
	struct nswap_node *node = dev->node;
	struct nswap_cand *c, *best = NULL;
	struct nswap_place_peer v;
	unsigned int most = 0;

	if (!dev->reserve)
		return 0;
	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		u32 left;

		nswap_cand_look(node, c, &v);
		left = v.eligible && !v.busy ? nswap_reserve_left(dev, c->index) : 0;
		if (left > most) {
			most = left;
			best = c;
		}
	}
	pages = min(pages, most);
	if (best && !nswap_tally_look(&best->tally).messages)
		WRITE_ONCE(best->asked, jiffies);
	if (best && nswap_tally_begin(&best->tally, pages))
		*index = best->index;
	else
		pages = 0;
	rcu_read_unlock();
	return pages;
}

/* at how many peers is there room for a strip of a row? any context; a snapshot */
unsigned int nswap_place_count(struct nswap_node *node)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	unsigned int n = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		nswap_cand_look(node, c, &v);
		n += nswap_place_lends(&v) && !READ_ONCE(c->missed) &&
		     v.free + v.inflight + v.grants >= NSWAP_REQ_SLOTS;
	}
	rcu_read_unlock();
	return n;
}

/* pages that candidates lend this node together, and how many of them are used */
void nswap_place_room(struct nswap_node *node, u64 *lent, u64 *used)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;

	*lent = 0;
	*used = 0;
	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		nswap_cand_look(node, c, &v);
		if (!nswap_place_lends(&v))
			continue;
		*lent += v.lent;
		*used += v.lent - min(v.free, v.lent);
	}
	rcu_read_unlock();
}

/* the least time of a page-out to a candidate that may be chosen, in ns; 0: unknown */
u64 nswap_place_fastest(struct nswap_node *node)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	u64 ns = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		nswap_cand_look(node, c, &v);
		if (nswap_place_lends(&v) && v.store_ns && (!ns || v.store_ns < ns))
			ns = v.store_ns;
	}
	rcu_read_unlock();
	return ns;
}

/* would nswap_place_take() find a peer, for the policy to choose? */
bool nswap_place_any(struct nswap_node *node, u16 avoid)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		any = c->index != avoid && nswap_cand_look(node, c, &v);
		if (any)
			break;
	}
	rcu_read_unlock();
	return any;
}

/* does a peer besides these two have room, as far as is known? */
bool nswap_place_third(struct nswap_node *node, u16 a, u16 b)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		nswap_cand_look(node, c, &v);
		any = c->index != a && c->index != b && nswap_place_lends(&v) && v.free;
		if (any)
			break;
	}
	rcu_read_unlock();
	return any;
}

/* would nswap_place_take_spare() find a peer? */
bool nswap_place_spare(struct nswap_node *node, unsigned int pages)
{
	struct nswap_place_peer v;
	struct nswap_cand *c;
	bool spare = false;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &node->cands, link) {
		spare = nswap_cand_look(node, c, &v) && nswap_place_ample(&v, pages);
		if (spare)
			break;
	}
	rcu_read_unlock();
	return spare;
}

/*
 * The same for pages that can stay where they are. Returns @pages, or 0 if the peer
 * that the policy chooses has no more than page-outs need.
 */
unsigned int nswap_place_take_spare(struct nswap_device *dev,
				    unsigned int pages, u16 *index)
{
	struct nswap_place_snapshot *s = nswap_place_snapshot(dev->node, &place_avoid_none);
	int pos = place_pick(dev, s, pages, &place_avoid_none, -1);
	unsigned int n = 0;

	if (pos >= 0 && nswap_place_ample(&s->peer[pos], pages)) {
		*index = s->peer[pos].index;
		n = place_spend(s->cand[pos], pages, pages);
	}
	if (n)
		place_note_turn(dev, &place_avoid_none, *index);
	nswap_place_snapshot_end();
	return n;
}
