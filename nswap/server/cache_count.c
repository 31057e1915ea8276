// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: what is held, what it takes, and what reserves lack. What these counts mean:
 * cache.c.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps.
 */
#include "attached.h"
#include "cache.h"
#include "core/node.h"
#include "pack.h"
#include "pure/share.h"

/* pages that a reserve still lacks */
static u64 cache_lacking(const struct nswap_attached *a)
{
	return a->reserve > a->ram ? a->reserve - a->ram : 0;
}

/* the reserve of a device, or what is held of it, changes: before, and after it has */
static void cache_lacked(struct nswap_cache *c, struct nswap_owner *o,
			 const struct nswap_attached *a)
{
	c->reserved -= cache_lacking(a);
	o->reserved -= cache_lacking(a);
}

static void cache_lacks_now(struct nswap_cache *c, struct nswap_owner *o,
			    const struct nswap_attached *a)
{
	c->reserved += cache_lacking(a);
	o->reserved += cache_lacking(a);
}

static void cache_counted(struct nswap_cache *c, struct nswap_owner *o, u32 instance,
			  s64 held, s64 ram)
{
	struct nswap_attached *a = nswap_attached_find(o, instance);

	o->held += held;
	c->held += held;
	if (a)
		a->held += held;
	nswap_cache_shared(c, o, a, ram);
}

/* count what the stores of an owner left; its lock and the cache's held */
static void cache_settle(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_ready *r = &o->ready;

	o->filling -= r->over;
	WRITE_ONCE(r->over, 0);
	if (r->fresh)
		cache_counted(c, o, r->instance, r->fresh, r->fresh);
	WRITE_ONCE(r->fresh, 0);
}

/* likewise, and nothing is ready for its next stores any more */
void nswap_cache_unready(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_ready *r = &o->ready;

	cache_settle(c, o);
	list_splice_init(&r->list, &c->pool);
	c->set_aside += r->nr;
	o->filling -= r->nr;
	o->granted += r->promised;
	c->granted += r->promised;
	WRITE_ONCE(r->promised, 0);
	WRITE_ONCE(r->nr, 0);
}

/**
 * nswap_cache_reserve() - set pages aside for a device
 * @c: cache
 * @o: its owner, whose lock is held
 * @a: the device
 * @wanted: pages, those included that it takes here
 *
 * Context: process, does not sleep.
 * Return: how many can be kept for it, at most @wanted.
 */
u32 nswap_cache_reserve(struct nswap_cache *c, struct nswap_owner *o,
			struct nswap_attached *a, u32 wanted)
{
	bool lacks;
	u64 free;

	spin_lock(&c->lock);
	nswap_cache_unready(c, o);
	o->reserves -= !!a->reserve;
	cache_lacked(c, o, a);
	free = min(nswap_cache_promisable(c), nswap_cache_left(c, o));
	if (wanted > a->ram + free && free < nswap_cache_promisable(c))
		nswap_stat_inc(c->node, shares_refused);
	a->reserve = min_t(u64, wanted, a->ram + free);
	cache_lacks_now(c, o, a);
	o->reserves += !!a->reserve;
	lacks = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	if (lacks)
		nswap_cache_fill_kick(c);
	return a->reserve;
}

/*
 * Pages of a device were added to or removed from an owner's tree and pending ones.
 * @o: owner, its lock held; @ram: of them, those that have a page to themselves
 */
void nswap_cache_count(struct nswap_cache *c, struct nswap_owner *o, u32 instance,
		       s64 held, s64 ram)
{
	spin_lock(&c->lock);
	cache_settle(c, o);
	cache_counted(c, o, instance, held, ram);
	spin_unlock(&c->lock);
}

/*
 * What held pages take has changed. @o, @a: owner and attached device, or NULL; cache's lock
 * held
 */
void nswap_cache_shared(struct nswap_cache *c, struct nswap_owner *o,
			struct nswap_attached *a, s64 ram)
{
	c->ram += ram;
	if (o)
		o->ram += ram;
	if (!a)
		return;
	cache_lacked(c, o, a);
	a->ram += ram;
	cache_lacks_now(c, o, a);
}

/* an owner has no pages and no reserves any more; @o: its lock held */
void nswap_cache_forget(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_attached *a;

	spin_lock(&c->lock);
	cache_settle(c, o);
	c->held -= o->held;
	o->held = 0;
	/* shared pages are counted until they are empty */
	c->ram -= o->ram - nswap_pack_leave(o);
	o->ram = 0;
	list_for_each_entry(a, &o->attached, link) {
		cache_lacked(c, o, a);
		a->reserve = 0;
		a->held = 0;
		a->ram = 0;
	}
	o->reserves = 0;
	spin_unlock(&c->lock);
}
