// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: how many pages.
 *
 *   lent     set by the user, never exceeded except by pages that are held
 *   target   what to lend now: lent itself under a size policy that is not
 *            adaptive, else what the policy decides, lowered at once when
 *            reclaim wants pages back
 *   surplus  RAM of held pages above target: they are moved away; only droppable ones are
 *            dropped. What is ready for owners' stores (ready.h) is part of it until
 *            nswap_cache_gather()
 *
 * Shrinking, in this order: pages promised to no owner are freed; promises are
 * taken back and their pages freed, a store against one is refused; then unfilled
 * pages of reserves; held pages are left to the mover, which drops droppable ones. For
 * hold_off_ms after that nothing is set aside and nothing grows.
 *
 * A promise that was taken back is remembered until its owner has spent or
 * returned it, for the owner still counts on it: it is renewed without a message
 * when there is room again, before anything new is granted.
 *
 * Invariants, under cache->lock:
 *  - target <= lent.
 *  - While allocated exceeds the target nothing more is promised; what is ready for an owner
 *    stays so until nswap_cache_gather().
 *  - Under an adaptive policy the pool holds what is promised and a little
 *    more, not everything that could be lent.
 *
 * Lock order: owner->lock -> cache->lock. Functions called from reclaim take
 * cache->lock only, which is never held over an allocation.
 */
#include "base/clock.h"
#include "base/hooks.h"
#include "cache.h"
#include "core/node.h"
#include "observe/trace.h"
#include "owner.h"

#define TRIM_CHUNK	1024	/* pages freed between two cond_resched() */
#define POOL_PAGES	4096u	/* 16 MiB: unfilled pages of an adaptive node */

/* entries filled, being filled, or still being sent */
static u64 cache_used(const struct nswap_cache *c)
{
	return c->allocated - c->set_aside;
}

/* were pages taken back less than hold_off_ms ago? @c: cache, its lock held */
bool nswap_cache_holding(const struct nswap_cache *c)
{
	return c->adaptive && nswap_now_ms() < c->hold_until;
}

/* RAM of held pages above the target, to be moved away; @c: cache, its lock held */
u64 nswap_cache_above(const struct nswap_cache *c)
{
	/* what sockets still refer to comes back by itself */
	u64 used = cache_used(c) - c->nr_sent;

	return used > c->target ? min(c->ram, used - c->target) : 0;
}

/* should owners store elsewhere? @c: cache, its lock held */
bool nswap_cache_shrinks(const struct nswap_cache *c)
{
	return nswap_cache_above(c) || nswap_cache_holding(c) ||
	       c->revoked > nswap_cache_room(c);
}

/* unfilled pages that are neither granted nor reserved; @c: cache, its lock held */
u64 nswap_cache_idle(const struct nswap_cache *c)
{
	u64 kept = c->granted + c->reserved;

	return c->set_aside > kept ? c->set_aside - kept : 0;
}

/* pages that can be promised now; @c: cache, its lock held */
u64 nswap_cache_room(const struct nswap_cache *c)
{
	u64 over = c->allocated > c->target ? c->allocated - c->target : 0;
	u64 idle = nswap_cache_idle(c);

	return idle > over ? idle - over : 0;
}

/* how many unfilled pages there should be */
static u64 pool_wanted(const struct nswap_cache *c)
{
	u64 room = c->target > cache_used(c) ? c->target - cache_used(c) : 0;

	if (!c->adaptive)
		return room;
	return min_t(u64, room, max_t(u64, POOL_PAGES,
				      c->granted + c->revoked + c->reserved +
				      NSWAP_WINDOW_MAX));
}

/* should more pages be set aside? @c: cache, its lock held */
bool nswap_cache_lacks(const struct nswap_cache *c)
{
	return c->set_aside < pool_wanted(c) && !nswap_cache_holding(c);
}

/* Take promises back. Context: process, on the reclaim path; does not sleep. */
void nswap_cache_revoke(struct nswap_cache *c, u64 n)
{
	struct nswap_owner *o;

	list_for_each_entry(o, &c->owners, link) {
		u32 cut = min_t(u64, n, o->granted);

		o->granted -= cut;
		o->revoked += cut;
		c->granted -= cut;
		c->revoked += cut;
		n -= cut;
		nswap_stat_add(c->node, grants_revoked, cut);
	}
}

/*
 * Move excess unfilled entries to @out, to be freed without the lock; @c: cache, its
 * lock held. Returns true if more may be left than one pass takes.
 */
bool nswap_cache_trim(struct nswap_cache *c, struct list_head *out)
{
	u64 over = c->allocated > c->target ? c->allocated - c->target : 0;
	u64 idle = nswap_cache_idle(c);
	unsigned int n = TRIM_CHUNK;

	if (over > idle && c->granted)
		nswap_cache_revoke(c, over - idle);
	while (n && c->set_aside > c->granted &&
	       c->set_aside > pool_wanted(c)) {
		struct nswap_entry *e = list_first_entry(&c->pool,
						struct nswap_entry, link);

		list_move(&e->link, out);
		c->set_aside--;
		c->allocated--;
		n--;
	}
	return !n;
}

static void trim_all(struct nswap_cache *c)
{
	bool more;

	do {
		LIST_HEAD(out);

		spin_lock(&c->lock);
		more = nswap_cache_trim(c, &out);
		spin_unlock(&c->lock);
		nswap_cache_free(&out);
		cond_resched();
	} while (more);
}

/*
 * Have back what is ready for owners' stores, and free what is above the target: what is then
 * still a surplus is held. Context: process, sleeps; does not allocate.
 */
void nswap_cache_gather(struct nswap_cache *c)
{
	nswap_owner_gather(c);
	trim_all(c);
}

/*
 * Count and trace a change of the target. @why: what changed it. Context: process, on
 * the reclaim path; does not sleep.
 */
void nswap_cache_changed(struct nswap_cache *c, u64 old, u64 new,
			 enum nswap_resize_why why)
{
	if (new > old) {
		nswap_stat_add(c->node, grown, new - old);
		trace_nswap_grow(c->node->number, old, new, why);
	} else if (new < old) {
		nswap_stat_add(c->node, shrunk, old - new);
		trace_nswap_shrink(c->node->number, old, new, why);
	}
}

/* free or set aside pages after a change of the target; cache->lock not held */
static void cache_follow_target(struct nswap_cache *c, u64 old, u64 new,
				enum nswap_resize_why why)
{
	bool lacks;

	nswap_cache_changed(c, old, new, why);
	/* reclaim lowers the target itself */
	if (new < old || READ_ONCE(c->allocated) > new)
		nswap_cache_gather(c);
	else
		trim_all(c);
	if (new < old)
		nswap_hooks.announce_now(c->node);
	if (nswap_cache_surplus(c))
		nswap_hooks.mover_kick(c->node);
	spin_lock(&c->lock);
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
}

static void set_trend(struct nswap_cache *c, u64 old, u64 new)
{
	c->trend = new > old ? NSWAP_TREND_GROWING :
		   new < old ? NSWAP_TREND_SHRINKING : NSWAP_TREND_STEADY;
}

/* change how many pages are lent at most */
void nswap_cache_lend(struct nswap_cache *c, u64 pages)
{
	u64 old, new;

	spin_lock(&c->lock);
	old = c->target;
	new = c->adaptive ? min(old, pages) : pages;
	c->lent = pages;
	c->target = new;
	set_trend(c, old, new);
	spin_unlock(&c->lock);
	cache_follow_target(c, old, new, NSWAP_WHY_USER);
}

/* the new size policy is adaptive, or not */
void nswap_cache_adapt(struct nswap_cache *c, bool adaptive)
{
	u64 old, new;

	spin_lock(&c->lock);
	old = c->target;
	new = adaptive ? old : c->lent;
	c->adaptive = adaptive;
	c->target = new;
	c->hold_until = 0;
	set_trend(c, old, new);
	spin_unlock(&c->lock);
	cache_follow_target(c, old, new, NSWAP_WHY_USER);
}

/* set the target that the size policy chose; process, sleeps; does not allocate */
void nswap_cache_resize(struct nswap_cache *c, u64 pages)
{
	u32 hold_ms = nswap_knob(c->node, hold_off_ms);
	u64 old, new;

	spin_lock(&c->lock);
	old = c->target;
	new = min(pages, c->lent);
	if (nswap_cache_holding(c))
		new = min(new, old);
	c->target = new;
	set_trend(c, old, new);
	if (new < old)
		c->hold_until = nswap_now_ms() + hold_ms;
	spin_unlock(&c->lock);
	cache_follow_target(c, old, new, NSWAP_WHY_POLICY);
}

/* lend nothing from now on, without telling any peer */
void nswap_cache_close(struct nswap_cache *c)
{
	spin_lock(&c->lock);
	c->lent = 0;
	c->target = 0;
	spin_unlock(&c->lock);
	trim_all(c);
}
