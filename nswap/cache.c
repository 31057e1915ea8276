// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: pages and counts.
 *
 *   (memory) -> set aside (pool) -> granted -> being filled -> held
 *        ^           ^                             |             |
 *        +-----------+---- more than wanted -------+---- freed --+
 *
 * Invariants, under cache->lock:
 *  - granted <= set_aside: a promised page exists before the promise is sent,
 *    and never has to be found when a store arrives: a store cannot fail for
 *    memory.
 *  - allocated counts every entry, whatever it does now. How many there should
 *    be: cache_size.c; where they come from: cache_fill.c.
 *
 * Lock order: owner->lock -> cache->lock.
 */
#include <linux/slab.h>

#include "cache.h"
#include "node.h"
#include "views.h"

#define WINDOW_FIRST	128u	/* pages granted to a new session */

/**
 * nswap_cache_start() - make the Nswap Cache of a node
 * @node: node that comes up
 * @pages: how many to lend at most
 *
 * Under an adaptive size policy nothing is lent until it says so.
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOMEM.
 */
int nswap_cache_start(struct nswap_node *node, u64 pages)
{
	struct nswap_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->node = node;
	mutex_init(&c->hello);
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->all);
	INIT_LIST_HEAD(&c->pool);
	INIT_LIST_HEAD(&c->owners);
	INIT_DELAYED_WORK(&c->fill, nswap_cache_fill_work);
	c->adaptive = nswap_node_size(node)->adaptive;
	node->cache = c;
	nswap_cache_lend(c, pages);
	return 0;
}

/**
 * nswap_cache_stop() - drop everything
 * @node: node without connections of owners
 *
 * Context: process, sleeps.
 */
void nswap_cache_stop(struct nswap_node *node)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o, *next;

	if (!c)
		return;
	nswap_cache_close(c);
	cancel_delayed_work_sync(&c->fill);
	list_for_each_entry_safe(o, next, &c->owners, link) {
		nswap_owner_drop_all(c, o);
		nswap_cache_ungrant(c, o, U32_MAX);
		list_del(&o->link);
		kfree(o);
	}
	nswap_cache_close(c);
	WARN_ON_ONCE(c->allocated);
	kfree(c);
	node->cache = NULL;
}

/* renew up to @n promises that were taken back; lock held */
static u32 renew(struct nswap_cache *c, struct nswap_owner *o, u32 n)
{
	n = min(n, o->revoked);
	o->revoked -= n;
	c->revoked -= n;
	o->granted += n;
	c->granted += n;
	return n;
}

/**
 * nswap_cache_take() - take pages that were granted, to fill them
 * @c: cache
 * @o: owner they were granted to
 * @n: how many
 * @taken: they are added here
 *
 * Context: process, does not sleep or allocate.
 * Return: false if fewer were granted; then nothing is taken.
 */
bool nswap_cache_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken)
{
	bool ok;
	u32 i;

	spin_lock(&c->lock);
	if (o->granted < n && !nswap_cache_holding(c) &&
	    nswap_cache_room(c) >= n - o->granted)
		renew(c, o, n - o->granted);
	ok = o->granted >= n;
	if (ok) {
		for (i = 0; i < n; i++)
			list_move_tail(c->pool.next, taken);
		o->granted -= n;
		c->granted -= n;
		c->set_aside -= n;
	}
	spin_unlock(&c->lock);
	return ok;
}

/**
 * nswap_cache_give() - entries are not filled (any more)
 * @c: cache
 * @unused: entries nobody refers to
 *
 * Context: process, does not sleep.
 */
void nswap_cache_give(struct nswap_cache *c, struct list_head *unused)
{
	struct nswap_entry *e, *next;
	LIST_HEAD(surplus);

	spin_lock(&c->lock);
	list_for_each_entry_safe(e, next, unused, link) {
		list_move(&e->link, &c->pool);
		c->set_aside++;
	}
	nswap_cache_trim(c, &surplus);
	spin_unlock(&c->lock);
	nswap_cache_free(&surplus);
}

/**
 * nswap_cache_put() - one reference to an entry is over
 * @c: cache
 * @e: entry
 *
 * Context: process, does not sleep.
 */
void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e)
{
	LIST_HEAD(unused);

	if (!refcount_dec_and_test(&e->ref))
		return;
#ifdef NSWAP_INJECT
	if (e->prev) {
		nswap_cache_put(c, e->prev);
		e->prev = NULL;
	}
#endif
	INIT_LIST_HEAD(&e->link);
	list_add(&e->link, &unused);
	nswap_cache_give(c, &unused);
}

/**
 * nswap_cache_take_free() - take pages nobody was promised, to fill them
 * @c: cache
 * @n: how many
 * @taken: they are added here
 *
 * Context: process, does not sleep or allocate.
 * Return: false if there are fewer; then nothing is taken.
 */
bool nswap_cache_take_free(struct nswap_cache *c, u32 n,
			   struct list_head *taken)
{
	bool ok, lacks;
	u32 i;

	spin_lock(&c->lock);
	ok = !nswap_cache_shrinks(c) && nswap_cache_room(c) >= n + c->revoked;
	for (i = 0; ok && i < n; i++)
		list_move_tail(c->pool.next, taken);
	if (ok)
		c->set_aside -= n;
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
	return ok;
}

/* what an owner may get: everything if it is alone, a fair part if not */
static u32 share(struct nswap_cache *c, u64 free)
{
	u64 fair = free / max(c->nr_owners, 1u);

	return min_t(u64, max(fair, min(free, (u64)NSWAP_REQ_SLOTS)), U32_MAX);
}

/**
 * nswap_cache_grant() - promise an owner more pages
 * @c: cache
 * @o: owner
 * @used: pages it has just stored: its window grows with use
 * @wanted: pages it asks for, 0 to go by its window
 *
 * Context: process, does not sleep.
 * Return: how many more it was granted; set aside before the promise is sent.
 */
u32 nswap_cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used,
		      u32 wanted)
{
	u32 add = 0, renewed = 0;
	bool lacks;

	spin_lock(&c->lock);
	o->window = clamp(max(o->window + used, wanted), WINDOW_FIRST,
			  NSWAP_WINDOW_MAX);
	if (o->window > o->granted && !nswap_cache_holding(c)) {
		add = min(o->window - o->granted,
			  share(c, nswap_cache_room(c)));
		renewed = renew(c, o, add);
		add -= renewed;
		o->granted += add;
		c->granted += add;
	}
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
	return add;
}

/**
 * nswap_cache_ungrant() - an owner returns grants, or its session is over
 * @c: cache
 * @o: owner
 * @n: how many, at most what it has; those taken back already count first
 *
 * Context: process, does not sleep.
 */
void nswap_cache_ungrant(struct nswap_cache *c, struct nswap_owner *o, u32 n)
{
	LIST_HEAD(surplus);
	u32 revoked;

	spin_lock(&c->lock);
	revoked = min(n, o->revoked);
	o->revoked -= revoked;
	c->revoked -= revoked;
	n = min(n - revoked, o->granted);
	o->granted -= n;
	c->granted -= n;
	o->window = WINDOW_FIRST;
	nswap_cache_trim(c, &surplus);
	spin_unlock(&c->lock);
	nswap_cache_free(&surplus);
}

/* pages that may be promised, now or once they are set aside; lock held */
static u64 promisable(const struct nswap_cache *c)
{
	u64 taken = c->allocated - c->set_aside + c->granted;

	if (nswap_cache_shrinks(c))
		return 0;
	if (!c->adaptive)
		return nswap_cache_room(c) - c->revoked;
	taken += c->revoked;
	return c->target > taken ? c->target - taken : 0;
}

/**
 * nswap_cache_free_pages() - pages neither filled nor granted
 * @c: cache
 *
 * Context: process, does not sleep.
 * Return: how many, 0 while the node shrinks.
 */
u64 nswap_cache_free_pages(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = promisable(c);
	spin_unlock(&c->lock);
	return n;
}

/**
 * nswap_cache_surplus() - pages held that have to move away
 * @c: cache
 *
 * Context: process, on the reclaim path; does not sleep.
 * Return: how many.
 */
u64 nswap_cache_surplus(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = nswap_cache_above(c);
	spin_unlock(&c->lock);
	return n;
}

/**
 * nswap_cache_count() - pages went into or out of an owner's tree
 * @c: cache
 * @o: owner, its lock held
 * @held: how many, negative for out
 *
 * Context: process, does not sleep.
 */
void nswap_cache_count(struct nswap_cache *c, struct nswap_owner *o, s64 held)
{
	spin_lock(&c->lock);
	o->held += held;
	c->held += held;
	spin_unlock(&c->lock);
}

/**
 * nswap_trend_name() - a trend for people
 * @trend: enum nswap_trend, or anything
 *
 * Context: any.
 * Return: its name.
 */
const char *nswap_trend_name(u8 trend)
{
	static const char *const names[NSWAP_TRENDS] = {
		[NSWAP_TREND_STEADY] = "steady",
		[NSWAP_TREND_GROWING] = "growing",
		[NSWAP_TREND_SHRINKING] = "shrinking",
	};

	return trend < NSWAP_TRENDS ? names[trend] : "unknown";
}

/* lock held */
static u8 trend(const struct nswap_cache *c)
{
	if (nswap_cache_shrinks(c))
		return NSWAP_TREND_SHRINKING;
	return c->trend == NSWAP_TREND_GROWING ? NSWAP_TREND_GROWING :
						 NSWAP_TREND_STEADY;
}

/**
 * nswap_cache_get_view() - a snapshot of the Nswap Cache
 * @node: node
 * @v: result
 *
 * Context: process, does not sleep.
 */
void nswap_cache_get_view(struct nswap_node *node, struct nswap_cache_view *v)
{
	struct nswap_cache *c = node->cache;

	spin_lock(&c->lock);
	*v = (struct nswap_cache_view){
		.lent = c->lent, .target = c->target,
		.surplus = nswap_cache_above(c), .free = promisable(c),
		.trend = trend(c), .allocated = c->allocated,
		.shrinker_calls = c->shrinker_calls, .set_aside = c->set_aside,
		.granted = c->granted, .held = c->held, .owners = c->nr_owners,
	};
	spin_unlock(&c->lock);
}

/**
 * nswap_owner_next() - a snapshot of one owner
 * @node: node
 * @after: how many owners have been seen already
 * @v: result
 *
 * Context: process, sleeps.
 * Return: true if there is one.
 */
bool nswap_owner_next(struct nswap_node *node, unsigned int after,
		      struct nswap_owner_view *v)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o;
	bool found = false;

	mutex_lock(&c->hello);
	list_for_each_entry(o, &c->owners, link) {
		if (after--)
			continue;
		*v = (struct nswap_owner_view){
			.id = o->id, .epoch = o->epoch, .held = o->held,
			.granted = o->granted,
			.connected = !list_empty(&o->conns),
			.no_home = nswap_owner_homeless(o),
		};
		found = true;
		break;
	}
	mutex_unlock(&c->hello);
	return found;
}
