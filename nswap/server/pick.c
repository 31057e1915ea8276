// SPDX-License-Identifier: GPL-2.0
/*
 * Pages to be moved: picking them, and the result of each attempt.
 *
 * Invariants:
 *  - A page that is being moved stays in its owner's tree and is served from there
 *    until its owner has recorded the new place; it only leaves the lru, so
 *    that it is picked once.
 *  - An attempt ends when its number is removed from the entry: by its result, or
 *    before that by a store, a free or a claim of the slot. A result that finds
 *    another number changes nothing.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps.
 */
#include "held.h"

/* limit of pages looked at for one batch, with the owner's lock held */
#define LOOK_AT	1024

/* has the owner recently reported no backing store? @o: owner, kept by the caller */
bool nswap_owner_homeless(const struct nswap_owner *o)
{
	return READ_ONCE(o->homeless) &&
	       time_before(jiffies, READ_ONCE(o->homeless_until));
}

/**
 * nswap_held_pick() - pick the least recently used pages
 * @o: owner, kept by the caller
 * @attempt: not 0, and not used by a recent attempt of this node
 * @n: at most this many
 * @not_of: a device instance whose pages are skipped, 0 for none
 * @one_device: all pages of the same device
 * @entry: result; the caller gets a reference to each
 * @epoch: result; the owner's epoch they belong to
 *
 * Context: process, does not sleep; a page-out path.
 * Return: how many.
 */
u32 nswap_held_pick(struct nswap_owner *o, u32 attempt, u32 n, u32 not_of,
		    bool one_device, struct nswap_entry **entry, u64 *epoch)
{
	u32 left = LOOK_AT, nr = 0;

	spin_lock(&o->lock);
	*epoch = o->epoch;
	while (nr < n && left-- && !list_empty(&o->lru)) {
		struct nswap_entry *e = list_first_entry(&o->lru,
						struct nswap_entry, link);

		if ((not_of && e->instance == not_of) ||
		    (one_device && nr && e->instance != entry[0]->instance)) {
			list_move_tail(&e->link, &o->lru);
			continue;
		}
		list_del_init(&e->link);
		e->moving = attempt;
		refcount_inc(&e->ref);
		entry[nr++] = e;
	}
	spin_unlock(&o->lock);
	return nr;
}

/*
 * An attempt to move a page is over. @e: entry; the caller's reference is dropped.
 * Context: process, does not sleep; a page-out path. Returns true if the page was
 * dropped here.
 */
bool nswap_held_moved(struct nswap_cache *c, struct nswap_owner *o,
		      struct nswap_entry *e, u32 attempt,
		      enum nswap_moved_how how)
{
	bool mine, drop = how == NSWAP_GONE;

	spin_lock(&o->lock);
	mine = nswap_held_lookup(o, e->instance, e->slot) == e &&
	       e->moving == attempt;
	if (mine) {
		e->moving = 0;
		if (drop) {
			rb_erase(&e->rb, &o->tree);
			nswap_cache_count(c, o, -1);
		} else if (how == NSWAP_REFUSED) {
			list_add_tail(&e->link, &o->lru);
		} else {
			list_add(&e->link, &o->lru);
		}
	}
	spin_unlock(&o->lock);
	if (mine && drop)
		nswap_cache_put(c, e);
	nswap_cache_put(c, e);
	return mine && drop;
}
