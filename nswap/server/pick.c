// SPDX-License-Identifier: GPL-2.0
/*
 * Pages to be moved: picking them, and the result of each attempt.
 *
 * Invariants:
 *  - A page that is being moved stays in its owner's tree and is served from there
 *    until its owner has recorded the new place; it only leaves the lru, so
 *    that it is picked once.
 *  - A page that is being moved is not dropped: it is on no lru.
 *  - Of pages that share one all are picked or dropped together, as far as they can be: its
 *    RAM is free when the last one is gone. Each that goes is one less, so that a page that
 *    stays, for its owner keeps it there, holds up no other.
 *  - An attempt ends when its number is removed from the entry: by its result, or
 *    before that by a store, a free or a claim of the slot. A result that finds
 *    another number changes nothing.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps.
 */
#include "core/node.h"
#include "held.h"
#include "owner.h"
#include "pack.h"

/* limit of pages looked at for one batch, with the owner's lock held */
#define LOOK_AT	1024

/* has the owner recently reported no backing store? @o: owner, kept by the caller */
bool nswap_owner_homeless(const struct nswap_owner *o)
{
	return READ_ONCE(o->homeless) &&
	       time_before(jiffies, READ_ONCE(o->homeless_until));
}

/*
 * The pages that have to go for the RAM of @e, which is held and not being moved: those that
 * share a page with it, itself included, as far as they can be moved. @mate: result, at most
 * @most, 1 or more; the owner's lock held. Returns how many, at least 1.
 */
static u32 pick_mates(struct nswap_cache *c, struct nswap_owner *o, struct nswap_entry *e,
		      struct nswap_entry **mate, u32 most)
{
	const struct nswap_entry *shared = e->in;
	u32 nr = 0;
	u64 left;

	mate[0] = e;
	if (!shared)
		return 1;
	spin_lock(&c->lock);
	for (left = shared->map.first; left && nr < most; left &= left - 1) {
		struct nswap_entry *x = nswap_pack_at(shared, __ffs64(left));

		/* others are pending, or dropped and still being sent */
		if (nswap_held_lookup(o, x->instance, x->slot) == x && !x->moving)
			mate[nr++] = x;
	}
	spin_unlock(&c->lock);
	return nr;
}

/* nswap_held_pick() from one lru; the owner's lock held */
static u32 pick_class(struct nswap_cache *c, struct nswap_owner *o,
		      const struct nswap_pick *p, struct nswap_entry **entry)
{
	struct list_head *lru = &o->lru[p->class];
	u32 left = LOOK_AT, nr = 0, ram;

	for (ram = 0; ram < p->ram && nr < p->n && left-- && !list_empty(lru);) {
		struct nswap_entry *e = list_first_entry(lru, struct nswap_entry,
							 link);
		u32 n;

		if ((p->not_of && e->instance == p->not_of) ||
		    (p->one_device && nr && e->instance != entry[0]->instance)) {
			list_move_tail(&e->link, lru);
			continue;
		}
		/* a part of a shared page frees nothing: with others only if all of it fits */
		if (e->in && nr && hweight64(READ_ONCE(e->in->map.first)) > p->n - nr)
			break;
		for (n = pick_mates(c, o, e, entry + nr, p->n - nr); n; n--) {
			e = entry[nr++];
			list_del_init(&e->link);
			e->moving = p->attempt;
			refcount_inc(&e->ref);
		}
		ram++;
	}
	return nr;
}

/* one more attempt to move critical pages, or one less; process, does not sleep */
static void pick_count(struct nswap_cache *c, int n)
{
	spin_lock(&c->lock);
	c->moving_critical += n;
	spin_unlock(&c->lock);
}

/* are there critical pages that come first? @mine: attempts of the caller that are counted */
static bool pick_after_critical(struct nswap_cache *c, u32 mine)
{
	bool there;

	/* one that failed has put its pages back before it was counted off */
	spin_lock(&c->lock);
	there = c->moving_critical > mine || nswap_owner_any_critical(c);
	spin_unlock(&c->lock);
	return there;
}

/**
 * nswap_held_pick() - pick the least recently used pages
 * @c: cache
 * @o: owner, kept by the caller
 * @p: how many, and which
 * @entry: result; the caller gets a reference to each
 * @epoch: result; the owner's epoch they belong to
 *
 * All are of one class, critical ones first. While some of these, of any owner, are on their
 * way, perhaps slowly, others do not take the last room before them.
 *
 * Context: process, does not sleep; a page-out path.
 * Return: how many; if any, nswap_held_picked_over() is to follow.
 */
u32 nswap_held_pick(struct nswap_cache *c, struct nswap_owner *o, struct nswap_pick *p,
		    struct nswap_entry **entry, u64 *epoch)
{
	static const u8 order[NSWAP_DEV_CLASSES] = {
		NSWAP_DEV_CRITICAL, NSWAP_DEV_NORMAL, NSWAP_DEV_DROPPABLE,
	};
	u32 i, nr = 0;
	bool critical;

	spin_lock(&o->lock);
	*epoch = o->epoch;
	/* counted first, so that no other thread finds them neither there nor on their way */
	critical = p->to_peer && !list_empty(&o->lru[NSWAP_DEV_CRITICAL]);
	if (critical)
		pick_count(c, 1);
	for (i = 0; i < NSWAP_DEV_CLASSES && !nr; i++) {
		if (i && p->scarce && pick_after_critical(c, critical))
			break;
		p->class = order[i];
		nr = pick_class(c, o, p, entry);
	}
	if (critical && (!nr || p->class != NSWAP_DEV_CRITICAL))
		pick_count(c, -1);
	spin_unlock(&o->lock);
	return nr;
}

/* the attempt to move what was picked is over; process, does not sleep */
void nswap_held_picked_over(struct nswap_cache *c, const struct nswap_pick *p)
{
	if (p->to_peer && p->class == NSWAP_DEV_CRITICAL)
		pick_count(c, -1);
}

/**
 * nswap_held_drop_some() - drop the least recently used droppable pages, for good
 * @c: cache
 * @o: owner, kept by the caller
 * @ram: pages of RAM to be given back; result: what is left of them
 * @name: result; the names of at most NSWAP_REQ_SLOTS pages, for the owner
 * @epoch: result; the owner's epoch they belonged to
 *
 * Context: process, does not sleep; a page-out path.
 * Return: how many.
 */
u32 nswap_held_drop_some(struct nswap_cache *c, struct nswap_owner *o, u32 *ram,
			 struct nswap_wire_page *name, u64 *epoch)
{
	struct list_head *lru = &o->lru[NSWAP_DEV_DROPPABLE];
	struct nswap_entry *mate[NSWAP_REQ_SLOTS], *e, *next;
	LIST_HEAD(dropped);
	u32 nr = 0, n;

	spin_lock(&o->lock);
	*epoch = o->epoch;
	for (; *ram && nr < NSWAP_REQ_SLOTS && !list_empty(lru); --*ram) {
		e = list_first_entry(lru, struct nswap_entry, link);
		for (n = pick_mates(c, o, e, mate, NSWAP_REQ_SLOTS - nr); n; n--) {
			e = mate[n - 1];
			rb_erase(&e->rb, &o->tree);
			list_move(&e->link, &dropped);
			nswap_cache_count(c, o, e->instance, -1,
					  -(s64)nswap_entry_ram(e));
			name[nr++] = (struct nswap_wire_page){
				.slot = cpu_to_le64(e->slot),
				.instance = cpu_to_le32(e->instance),
				.gen = cpu_to_le32(e->gen),
			};
		}
	}
	spin_unlock(&o->lock);
	list_for_each_entry_safe(e, next, &dropped, link) {
		list_del_init(&e->link);
		nswap_cache_put(c, e);
	}
	nswap_stat_add(c->node, pages_dropped, nr);
	return nr;
}

/* has it no user but its owner's tree? its owner's lock, under which others come, held */
static bool pick_unused(struct nswap_owner *o, struct nswap_entry *e)
{
	return nswap_held_lookup(o, e->instance, e->slot) == e && !e->moving &&
	       refcount_read(&e->ref) == 1;
}

/*
 * Give RAM back that no page has to leave for: short pages of an owner come closer together.
 * Context: process, does not sleep; a page-out path.
 */
void nswap_held_tidy(struct nswap_cache *c, struct nswap_owner *o)
{
	while (nswap_cache_surplus(c)) {
		struct nswap_entry *shared;
		LIST_HEAD(unused);

		spin_lock(&o->lock);
		shared = nswap_pack_tidy(c, o, pick_unused);
		spin_unlock(&o->lock);
		if (!shared)
			break;
		list_add(&shared->link, &unused);
		nswap_cache_give(c, &unused);
	}
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
			nswap_cache_count(c, o, e->instance, -1,
					  -(s64)nswap_entry_ram(e));
		} else if (how == NSWAP_REFUSED) {
			list_add_tail(&e->link, &o->lru[e->class]);
		} else {
			list_add(&e->link, &o->lru[e->class]);
		}
	}
	spin_unlock(&o->lock);
	if (mine && drop)
		nswap_cache_put(c, e);
	nswap_cache_put(c, e);
	return mine && drop;
}
