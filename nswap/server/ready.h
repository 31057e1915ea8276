/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages ready for the next stores of an owner, and what its last ones left to be counted: so
 * that most stores do not take the cache's lock, which the owners share.
 *
 *   granted --(NSWAP_READY at a time)--> ready -> being filled -> held, not counted yet
 *                                          ^                          |
 *                                          +-- the page it replaced --+
 *
 * Invariants, under owner->lock:
 *  - What is ready counts as being filled for its owner, and so does what @over says: the
 *    sum of what an owner holds and what is being filled for it is right at any moment, but
 *    for pages that went to sockets or to the pool meanwhile.
 *  - A store spends a promise and a page. Of the pages that are ready @promised are promised
 *    to the owner, beside the granted ones; the others were replaced.
 *  - Nothing is ready, and nothing left to be counted, for an owner with a reserve, without
 *    connections, or whose session was just replaced; nor for long while more is held than
 *    the target: nswap_owner_gather() sees to that.
 *  - At most NSWAP_READY pages, and those of a message of each connection that stores, are
 *    left to be counted. What reads counts of an owner adds @fresh, or holds its lock and
 *    has counted them (nswap_cache_unready()).
 */
#ifndef NSWAP_READY_H
#define NSWAP_READY_H

#include "cache.h"

#define NSWAP_READY	32u

/* may the owner's stores leave the cache's counts for later? the owner's lock held */
static inline bool nswap_ready_may(const struct nswap_cache *c, const struct nswap_owner *o)
{
	return !o->reserves && READ_ONCE(c->allocated) <= READ_ONCE(c->target) &&
	       READ_ONCE(o->granted) >= 2 * NSWAP_READY;
}

/* take @n pages that are ready, to fill them; the owner's lock held; false: none is taken */
static inline bool nswap_ready_take(struct nswap_owner *o, u32 n, bool clear,
				    struct list_head *taken)
{
	struct nswap_ready *r = &o->ready;

	if (r->promised < n)
		return false;
	WRITE_ONCE(r->promised, r->promised - n);
	WRITE_ONCE(r->nr, r->nr - n);
	nswap_entries_take(&r->list, n, clear, taken);
	return true;
}

/* @n more pages of a device are held; the owner's lock held. False: they are to be counted */
static inline bool nswap_ready_fresh(struct nswap_owner *o, u32 instance, s64 n)
{
	struct nswap_ready *r = &o->ready;

	if (n <= 0 || (r->fresh && r->instance != instance))
		return false;
	r->instance = instance;
	WRITE_ONCE(r->fresh, r->fresh + n);
	return true;
}

/*
 * A page was replaced: it is ready again, if nothing else refers to it. @e: on no list, with
 * the tree's reference, which is dropped; the owner's lock, under which others come, held.
 * False: nothing is done.
 */
static inline bool nswap_ready_again(struct nswap_owner *o, struct nswap_entry *e)
{
	struct nswap_ready *r = &o->ready;

#ifdef NSWAP_INJECT
	if (e->prev)
		return false;
#endif
	if (r->nr >= 2 * NSWAP_READY || e->in || refcount_read(&e->ref) != 1)
		return false;
	/* pairs with the drop of the last reference but this, after which no socket gets one */
	smp_rmb();
	if (nswap_cache_referred(e) || !refcount_dec_and_test(&e->ref))
		return false;
	list_add(&e->link, &r->list);
	WRITE_ONCE(r->nr, r->nr + 1);
	WRITE_ONCE(r->over, r->over - 1);
	return true;
}

#endif
