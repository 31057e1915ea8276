// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: whose pages leave next, when the node gives RAM back.
 *
 * Invariant: an owner that is returned is kept, by @users under cache->lock, until
 * nswap_owner_leave().
 */
#include "core/node.h"
#include "owner.h"

/* has it pages of a class that are not being moved? a snapshot */
bool nswap_owner_has(struct nswap_owner *o, enum nswap_device_class class)
{
	return !list_empty_careful(&o->lru[class]);
}

/* has a node a connection or pages here? process, does not sleep */
bool nswap_owner_known(struct nswap_cache *c, u64 id)
{
	struct nswap_owner *o;
	bool known = false;

	spin_lock(&c->lock);
	list_for_each_entry(o, &c->owners, link)
		known = known || o->id == id;
	spin_unlock(&c->lock);
	return known;
}

/* is there an owner with critical pages that can be moved now? the cache's lock held */
bool nswap_owner_any_critical(struct nswap_cache *c)
{
	struct nswap_owner *o;

	list_for_each_entry(o, &c->owners, link)
		if (nswap_owner_has(o, NSWAP_DEV_CRITICAL) &&
		    !time_before(jiffies, READ_ONCE(o->rest)))
			return true;
	return false;
}

/*
 * The next owner that is wanted, kept until nswap_owner_leave(); NULL for none. @o: the one
 * before, kept by the caller; NULL: from the first on
 */
static struct nswap_owner *owner_next(struct nswap_cache *c, struct nswap_owner *o,
				      bool (*wanted)(struct nswap_owner *o))
{
	struct nswap_owner *next, *found = NULL;
	struct list_head *at;

	spin_lock(&c->lock);
	at = o ? o->link.next : c->owners.next;
	for (; !found && at != &c->owners; at = at->next) {
		next = list_entry(at, struct nswap_owner, link);
		if (wanted(next))
			found = next;
	}
	if (found)
		found->users++;
	spin_unlock(&c->lock);
	return found;
}

static bool owner_drops(struct nswap_owner *o)
{
	return nswap_owner_has(o, NSWAP_DEV_DROPPABLE);
}

/*
 * An owner with droppable pages, perhaps in backoff. Context: process, does not sleep; a
 * page-out path. Returns it, kept until nswap_owner_leave(), or NULL.
 */
struct nswap_owner *nswap_owner_droppable(struct nswap_cache *c)
{
	return owner_next(c, NULL, owner_drops);
}

/*
 * The next owner to have pages moved. Context: process, does not sleep; a page-out
 * path. Returns an owner with pages that is not in backoff, kept until
 * nswap_owner_leave(), or NULL. Owners take turns, those with critical pages first.
 */
struct nswap_owner *nswap_owner_turn(struct nswap_cache *c)
{
	struct nswap_owner *o, *first = NULL, *next = NULL;
	bool seen = false, critical;

	spin_lock(&c->lock);
	critical = nswap_owner_any_critical(c);
	list_for_each_entry(o, &c->owners, link) {
		bool may = (o->held || READ_ONCE(o->ready.fresh)) &&
			   (!critical || nswap_owner_has(o, NSWAP_DEV_CRITICAL)) &&
			   !time_before(jiffies, READ_ONCE(o->rest));

		if (may && !first)
			first = o;
		if (may && seen && !next)
			next = o;
		if (o->id == c->last_turn)
			seen = true;
	}
	o = next ?: first;
	if (o) {
		o->users++;
		c->last_turn = o->id;
	}
	spin_unlock(&c->lock);
	return o;
}

/* have its stores left something to be counted, or is something ready for them? a snapshot */
static bool owner_uncounted(struct nswap_owner *o)
{
	return READ_ONCE(o->ready.nr) || READ_ONCE(o->ready.fresh) || READ_ONCE(o->ready.over);
}

/**
 * nswap_owner_gather() - have all counts right, and nothing ready for any owner
 * @c: cache whose target has become less
 *
 * Each owner is met once, however busy those before it are. A store that began before may
 * leave something to be counted; one that begins now does not, as long as more is held than
 * the target.
 *
 * Context: process, sleeps if an owner has to be freed.
 */
void nswap_owner_gather(struct nswap_cache *c)
{
	struct nswap_owner *o = owner_next(c, NULL, owner_uncounted), *next;

	while (o) {
		spin_lock(&o->lock);
		spin_lock(&c->lock);
		nswap_cache_unready(c, o);
		spin_unlock(&c->lock);
		spin_unlock(&o->lock);
		next = owner_next(c, o, owner_uncounted);
		nswap_owner_leave(c, o);
		o = next;
	}
}
