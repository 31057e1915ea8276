// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: pages and counts.
 *
 *   (memory) -> set aside (pool) -> granted -> being filled -> held
 *        ^           ^                             |             |
 *        +-----------+---- more than wanted -------+---- freed --+
 *
 * An owner that stores much has some of its granted pages ready (ready.h), which count as
 * being filled.
 *
 * What is freed while a socket refers to it waits for that first: cache_sent.c. Pages that
 * are short share one (pack.c): it is one that was filled, and it is freed with the last of
 * them; the pages that the others came in are set aside again.
 *
 * Invariants, under cache->lock:
 *  - granted <= set_aside: a page is set aside before it is promised, and never
 *    has to be found when a store arrives: a store cannot fail for lack of
 *    memory.
 *  - What a reserve lacks is not promised: reserved pages are in the pool besides the
 *    granted ones, but while the node gives RAM back. They go to stores of their own
 *    device alone.
 *  - No owner gets more than its share of what is lent now: what it holds, is promised
 *    or counts on, what is being filled for it, and what its reserves lack are compared
 *    with it before anything is promised, reserved or moved here. All that turns one of
 *    these into another, a store above all, is never refused for the share. Critical
 *    pages that are moved here are counted and not compared.
 *  - An owner above its share, because less is lent or the share became less, keeps what
 *    it has and gets nothing until it is below.
 *  - allocated counts every page of RAM, in whatever state: entries but for those that lie
 *    in a shared page. How many there should be: cache_size.c; where they come from:
 *    cache_fill.c; counting what is held: cache_count.c.
 *  - held is how many pages owners have here, ram what these take: entries in trees and
 *    pending that have a page to themselves, and shared pages until they are empty.
 *    ram <= held of each device: a shared page has one of its pages at least. All that
 *    says how much RAM there is, or may be had, goes by ram: shares, windows, what is above
 *    the target, what a reserve lacks.
 *  - So a reserve is one of pages of RAM, whatever pages its device has: those that share
 *    one may all be rewritten whole, one after the other, and never is there more RAM in
 *    use than there are pages.
 *
 * Lock order: owner->lock -> cache->lock.
 */
#include <linux/slab.h>

#include "core/node.h"
#include "cache.h"
#include "pack.h"
#include "pure/share.h"
#include "ready.h"

#define PENDING_MOST	1024u	/* pages of one owner moved here and not claimed */
#define WINDOW_FIRST	128u	/* pages granted to a new session */

/* the share of each owner in pages; cache->lock held */
static u64 cache_limit(const struct nswap_cache *c)
{
	return nswap_share_limit(c->target, nswap_knob(c->node, owner_max_pct));
}

/* what is left of an owner's share, NSWAP_NO_SHARE without one; cache->lock held */
u64 nswap_cache_left(const struct nswap_cache *c, const struct nswap_owner *o)
{
	return nswap_share_left(cache_limit(c), o->ram + o->filling + o->granted +
				o->revoked + o->reserved);
}

/* renew up to @n promises that were taken back; cache->lock held */
static u32 cache_renew(struct nswap_cache *c, struct nswap_owner *o, u32 n)
{
	n = min(n, o->revoked);
	o->revoked -= n;
	c->revoked -= n;
	o->granted += n;
	c->granted += n;
	return n;
}

/* take pages that are set aside, to fill them; cache's lock held by the caller */
static void pool_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken)
{
	c->set_aside -= n;
	o->filling += n;
	nswap_entries_take(&c->pool, n, nswap_knob(c->node, clear_freed), taken);
}

/*
 * Have pages ready for the next stores of an owner that has promises to spare, nothing being
 * ready now. Both locks held.
 */
static void cache_ready(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_ready *r = &o->ready;

	if (o->granted < 3 * NSWAP_READY || !nswap_ready_may(c, o))
		return;
	pool_take(c, o, NSWAP_READY, &r->list);
	WRITE_ONCE(r->nr, NSWAP_READY);
	WRITE_ONCE(r->promised, NSWAP_READY);
	o->granted -= NSWAP_READY;
	c->granted -= NSWAP_READY;
}

/*
 * Take granted pages, to fill them. @o: its lock held. Returns false if fewer than @n were
 * granted; then nothing is taken.
 */
bool nswap_cache_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken)
{
	bool ok;

	spin_lock(&c->lock);
	nswap_cache_unready(c, o);
	if (o->granted < n && !nswap_cache_holding(c) &&
	    nswap_cache_room(c) >= n - o->granted)
		cache_renew(c, o, n - o->granted);
	ok = o->granted >= n;
	if (ok) {
		pool_take(c, o, n, taken);
		o->granted -= n;
		c->granted -= n;
	}
	cache_ready(c, o);
	spin_unlock(&c->lock);
	return ok;
}

/*
 * The same for a device's reserve, whatever is promised to others. @left: what all that is
 * being filled for the owner may come to with these; NSWAP_NO_SHARE if that is the caller's.
 */
bool nswap_cache_take_reserved(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			       u64 left, struct list_head *taken)
{
	bool ok;

	spin_lock(&c->lock);
	ok = c->set_aside - c->granted >= n && (u64)o->filling + n <= left;
	if (ok)
		pool_take(c, o, n, taken);
	spin_unlock(&c->lock);
	return ok;
}

/*
 * Pages that were taken for an owner are held now, or about to be put back. Returns the
 * surplus, as nswap_cache_surplus().
 */
u64 nswap_cache_filled(struct nswap_cache *c, struct nswap_owner *o, u32 n)
{
	u64 above;

	spin_lock(&c->lock);
	o->filling -= n;
	above = nswap_cache_above(c);
	spin_unlock(&c->lock);
	return above;
}

/* @sent: so many of them were kept for sockets */
static void cache_give(struct nswap_cache *c, struct list_head *unused, u64 sent)
{
	struct nswap_entry *e, *next;
	LIST_HEAD(surplus);

	if (list_empty(unused))
		return;
	spin_lock(&c->lock);
	c->nr_sent -= sent;
	list_for_each_entry_safe(e, next, unused, link) {
		list_move(&e->link, &c->pool);
		c->set_aside++;
	}
	nswap_cache_trim(c, &surplus);
	spin_unlock(&c->lock);
	nswap_cache_free(&surplus);
}

/* put back entries that were taken and are not filled, or no longer */
void nswap_cache_give(struct nswap_cache *c, struct list_head *unused)
{
	cache_give(c, unused, 0);
}

/* the same for @n entries to which sockets referred, see cache_sent.c */
void nswap_cache_sent_back(struct nswap_cache *c, struct list_head *unused, u64 n)
{
	cache_give(c, unused, n);
}

/* drop one reference to an entry; returns what can be put back now, or NULL */
static struct nswap_entry *cache_drop(struct nswap_cache *c, struct nswap_entry *e)
{
	if (!refcount_dec_and_test(&e->ref))
		return NULL;
#ifdef NSWAP_INJECT
	if (e->prev) {
		nswap_cache_put(c, e->prev);
		e->prev = NULL;
	}
#endif
	if (e->in) {
		e = nswap_pack_drop(c, e);
		if (!e)
			return NULL;
	}
	INIT_LIST_HEAD(&e->link);
	return nswap_cache_sent(c, e) ? NULL : e;
}

/* drop one reference to each of @nr entries, some of them NULL */
void nswap_cache_put_all(struct nswap_cache *c, struct nswap_entry **entry, u32 nr)
{
	struct nswap_entry *e;
	LIST_HEAD(unused);
	u32 i;

	for (i = 0; i < nr; i++) {
		e = entry[i] ? cache_drop(c, entry[i]) : NULL;
		if (e)
			list_add(&e->link, &unused);
	}
	nswap_cache_give(c, &unused);
}

/* drop one reference to an entry */
void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e)
{
	nswap_cache_put_all(c, &e, 1);
}

/*
 * Has the owner to claim pages before @n more are moved here? cache's lock held. The
 * owner's lock is not: until they are pending they are being filled.
 */
static bool cache_unclaimed(const struct nswap_owner *o, u32 n)
{
	/* what is ready for stores, or left to be counted (ready.h), is in it: it bounds as well */
	return READ_ONCE(o->nr_pending) + o->filling + n > PENDING_MOST;
}

/* may pages that are promised to no owner be taken? the cache's lock held */
static int cache_may_take(const struct nswap_cache *c, const struct nswap_owner *o, u32 n,
			  bool critical)
{
	bool ok = critical ? !nswap_cache_above(c) && nswap_cache_room(c) >= n :
		  !nswap_cache_shrinks(c) && nswap_cache_room(c) >= n + c->revoked;

	if (!ok)
		return -ENOSPC;
	return !critical && nswap_cache_left(c, o) < n ? -EDQUOT : 0;
}

/*
 * Take pages that are promised to no owner, to fill them with moved ones of @o. For
 * critical ones promises are taken back, and there is no share. Returns 0; -ENOSPC or
 * -EDQUOT if there are fewer than @n, or fewer left of its share, -EBUSY if it is to claim
 * others first: nothing is taken, and no promise is taken back for pages of the last kind.
 */
int nswap_cache_take_free(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			  bool critical, struct list_head *taken)
{
	int ret = -EBUSY;
	bool lacks;
	u64 room;

	spin_lock(&c->lock);
	if (cache_unclaimed(o, n))
		goto unlock;
	room = nswap_cache_room(c);
	if (critical && room < n && !nswap_cache_above(c) &&
	    c->allocated <= c->target)
		nswap_cache_revoke(c, n - room);
	ret = cache_may_take(c, o, n, critical);
	if (!ret)
		pool_take(c, o, n, taken);
unlock:
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
	return ret;
}

/* what an owner may get now */
static u32 cache_fair(const struct nswap_cache *c, const struct nswap_owner *o, u64 free)
{
	u64 fair = nswap_share_fair(free, o->weight, c->weights);

	return min_t(u64, max(fair, min(free, (u64)NSWAP_REQ_SLOTS)), U32_MAX);
}

/* the limit of what is promised to one owner and not used; cache lock held */
static u32 cache_window_most(const struct nswap_cache *c, const struct nswap_owner *o)
{
	u64 used = c->ram + c->reserved, free = c->target > used ? c->target - used : 0;

	/* what is lent may not be there; an adaptive pool grows with what is promised */
	if (!c->adaptive)
		free = min(free, nswap_cache_room(c) + c->granted + c->revoked);
	return nswap_share_window(free, o->weight, c->weights, WINDOW_FIRST, NSWAP_WINDOW_MAX);
}

/* see nswap_cache_grant(); cache->lock held */
static u32 cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used, u32 wanted)
{
	u32 add = 0, fair, renewed = 0;

	o->window = clamp(max(o->window + used, wanted), WINDOW_FIRST,
			  cache_window_most(c, o));
	if (o->window > o->granted && !nswap_cache_holding(c)) {
		add = min(o->window - o->granted,
			  cache_fair(c, o, nswap_cache_room(c)));
		renewed = cache_renew(c, o, add);
		fair = add - renewed;
		add = min_t(u64, fair, nswap_cache_left(c, o));
		if (wanted && add < fair)
			nswap_stat_inc(c->node, shares_refused);
		o->granted += add;
		c->granted += add;
	}
	return add;
}

/*
 * Promise an owner more pages. Returns how many more it was granted; they are set aside
 * before the promise is sent.
 */
u32 nswap_cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used,
		      u32 wanted)
{
	bool lacks;
	u32 add;

	spin_lock(&c->lock);
	nswap_cache_unready(c, o);
	add = cache_grant(c, o, used, wanted);
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
	return add;
}

/*
 * An owner returns grants. @o: its lock held; @surplus: what is to be freed, outside of every
 * lock
 */
void nswap_cache_take_back(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			   struct list_head *surplus)
{
	u32 revoked;

	spin_lock(&c->lock);
	nswap_cache_unready(c, o);
	revoked = min(n, o->revoked);
	o->revoked -= revoked;
	c->revoked -= revoked;
	n = min(n - revoked, o->granted);
	o->granted -= n;
	c->granted -= n;
	o->window = WINDOW_FIRST;
	nswap_cache_trim(c, surplus);
	spin_unlock(&c->lock);
}

/* an owner's session is over; its lock is not held */
void nswap_cache_ungrant(struct nswap_cache *c, struct nswap_owner *o)
{
	LIST_HEAD(surplus);

	spin_lock(&o->lock);
	nswap_cache_take_back(c, o, U32_MAX, &surplus);
	spin_unlock(&o->lock);
	nswap_cache_free(&surplus);
}

/*
 * Pages that may be promised, now or once they are set aside; 0 while the node
 * shrinks. Cache lock held.
 */
u64 nswap_cache_promisable(const struct nswap_cache *c)
{
	u64 taken = c->allocated - c->set_aside + c->granted;

	if (nswap_cache_shrinks(c))
		return 0;
	if (!c->adaptive)
		return nswap_cache_room(c) - c->revoked;
	taken += c->revoked + c->reserved;
	return c->target > taken ? c->target - taken : 0;
}

/* see nswap_cache_free_pages(); cache->lock held */
static u64 cache_free_pages(const struct nswap_cache *c, const struct nswap_owner *o)
{
	u64 n = nswap_cache_promisable(c);

	return o ? min(n, nswap_cache_left(c, o)) : n;
}

/*
 * Pages neither filled nor granted; 0 while the node shrinks. @o: of these, those that
 * this owner may get; NULL for all.
 */
u64 nswap_cache_free_pages(struct nswap_cache *c, const struct nswap_owner *o)
{
	u64 n;

	spin_lock(&c->lock);
	n = cache_free_pages(c, o);
	spin_unlock(&c->lock);
	return n;
}

/**
 * nswap_cache_stored() - stores are over: what was taken for them is held, or put back
 * @c: cache
 * @o: their owner, whose lock is held; what it left to be counted is, and has what was taken
 * @fenced: it is promised nothing more
 * @so: @used, the rest is filled in
 *
 * nswap_cache_filled(), nswap_cache_grant() and nswap_cache_free_pages() in one go.
 *
 * Context: process, does not sleep.
 */
void nswap_cache_stored(struct nswap_cache *c, struct nswap_owner *o, bool fenced,
			struct nswap_cache_stored *so)
{
	bool lacks;

	spin_lock(&c->lock);
	nswap_cache_unready(c, o);
	so->grants = fenced ? 0 : cache_grant(c, o, so->used, 0);
	so->free = cache_free_pages(c, o);
	so->above = nswap_cache_above(c);
	lacks = nswap_cache_lacks(c);
	if (!fenced)
		cache_ready(c, o);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
}

/* the share of each owner in pages, NSWAP_NO_SHARE if that is all that is lent */
u64 nswap_cache_share(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = cache_limit(c);
	spin_unlock(&c->lock);
	return n;
}

/* pages held above the target, to be moved; process, reclaim path; does not sleep */
u64 nswap_cache_surplus(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = nswap_cache_above(c);
	spin_unlock(&c->lock);
	return n;
}
