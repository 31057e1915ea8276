// SPDX-License-Identifier: GPL-2.0
/*
 * Pending pages: moved here by another server, not yet claimed by their owner.
 *
 *   MOVE -> pending -> CLAIM -> held
 *              \-> dropped: not claimed in time, or the owner is gone; sooner if this
 *                  node gives RAM back
 *
 * Invariants:
 *  - Until it is claimed a page is valid where it came from, so it may be
 *    dropped here at any moment; no LOAD, FREE or list finds it.
 *  - Whatever is in the list is in the tree and the other way round; at most one of a slot.
 *  - A claim makes it held and gives it a number in one critical section: a
 *    drop that answers an older list spares it.
 *  - Until then @seq is the id of the mover that brought it. The same generation from
 *    another mover is refused meanwhile, and a claim that names a mover finds only what that
 *    one brought: what one member brings is never taken for what another one holds. An owner
 *    that names none (0, as before this was there) relies on the first half.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps unless it says so.
 */
#include <linux/err.h>

#include "held.h"
#include "owner.h"
#include "server.h"

#define PENDING_MS	10000	/* an owner claims within a session's time-out */
#define UNCLAIMED_MS	1000	/* and, if nothing is in its way, much sooner */

static struct nswap_entry *pending_find(struct nswap_owner *o, u32 instance, u64 slot)
{
	return nswap_held_in(&o->pending_tree, instance, slot);
}

static int pending_order(struct rb_node *new, const struct rb_node *e)
{
	const struct nswap_entry *n = rb_entry(new, struct nswap_entry, rb);

	return nswap_held_compare(n->instance, n->slot,
				  rb_entry(e, struct nswap_entry, rb));
}

/* as the youngest, in place of @old if there is one; owner's lock held by the caller */
static void pending_link(struct nswap_owner *o, struct nswap_entry *e,
			 struct nswap_entry *old)
{
	list_add_tail(&e->link, &o->pending);
	/* read without the owner's lock, cache.c */
	WRITE_ONCE(o->nr_pending, o->nr_pending + !old);
	if (old) {
		list_del_init(&old->link);
		rb_replace_node(&old->rb, &e->rb, &o->pending_tree);
	} else {
		rb_find_add(&e->rb, &o->pending_tree, pending_order);
	}
}

/* owner's lock held by the caller */
static void pending_unlink(struct nswap_owner *o, struct nswap_entry *e)
{
	list_del_init(&e->link);
	rb_erase(&e->rb, &o->pending_tree);
	/* read without the owner's lock, cache.c */
	WRITE_ONCE(o->nr_pending, o->nr_pending - 1);
}

/* compare with what is held or pending; 0 if @e is to be added */
static int pending_compare(struct nswap_owner *o, const struct nswap_entry *e,
			   struct nswap_entry **old)
{
	struct nswap_entry *held;

	held = nswap_held_lookup(o, e->instance, e->slot);
	if (held && held->gen == e->gen)
		return -EEXIST;
	if (held && nswap_held_newer(held->gen, e->gen))
		return -ESTALE;
	*old = pending_find(o, e->instance, e->slot);
	if (*old && (*old)->gen == e->gen) {
		if ((*old)->seq != e->seq)
			return -ESTALE;
		(*old)->since = jiffies;
		list_move_tail(&(*old)->link, &o->pending);
		return -EEXIST;
	}
	if (*old && nswap_held_newer((*old)->gen, e->gen))
		return -ESTALE;
	return 0;
}

/*
 * Add a moved page that has been received completely; @o: its owner, kept by the
 * caller; @mover: node id of the mover; @e: entry with the page and its name, consumed in
 * any case. Returns NSWAP_ST_OK: it is here, perhaps from an earlier attempt;
 * NSWAP_ST_OLDER: a newer one is, or another mover's of this generation is pending;
 * NSWAP_ST_STALE.
 */
u16 nswap_pending_add(struct nswap_cache *c, struct nswap_owner *o, u64 epoch,
		      u64 mover, struct nswap_entry *e)
{
	struct nswap_entry *old = NULL, *drop = e;
	u16 status = NSWAP_ST_OK;
	int ret = -ENOENT;

	refcount_set(&e->ref, 1);
	e->moving = 0;
	e->seq = mover;
	e->since = jiffies;
	spin_lock(&o->lock);
	if (o->epoch == epoch)
		ret = pending_compare(o, e, &old);
	if (!ret) {
		pending_link(o, e, old);
		nswap_cache_count(c, o, e->instance, !old, (s64)nswap_entry_ram(e) -
							   (old ? nswap_entry_ram(old) : 0));
		drop = old;
	}
	spin_unlock(&o->lock);
	if (ret && ret != -EEXIST)
		status = ret == -ESTALE ? NSWAP_ST_OLDER : NSWAP_ST_STALE;
	if (drop)
		nswap_cache_put(c, drop);
	return status;
}

/*
 * The owner claims a page that was moved here; @mover: node id of who told it so, 0: it
 * does not say. Returns NSWAP_ST_OK: it is held now; NSWAP_ST_NOT_HELD; NSWAP_ST_STALE.
 */
u16 nswap_pending_claim(struct nswap_cache *c, struct nswap_srv_conn *conn, u64 mover,
			const struct nswap_wire_page *p)
{
	u32 instance = le32_to_cpu(p->instance), gen = le32_to_cpu(p->gen);
	struct nswap_owner *o = conn->owner;
	struct nswap_entry *e, *old = NULL;
	u64 slot = le64_to_cpu(p->slot);
	u16 status = NSWAP_ST_NOT_HELD;

	spin_lock(&o->lock);
	if (nswap_held_fenced(conn)) {
		spin_unlock(&o->lock);
		return NSWAP_ST_STALE;
	}
	e = nswap_held_lookup(o, instance, slot);
	if (e && nswap_held_same(e->gen, gen)) {
		e->seq = ++o->seq;
		e->moving = 0;
		list_move_tail(&e->link, &o->lru[e->class]);
		status = NSWAP_ST_OK;
	} else {
		e = pending_find(o, instance, slot);
		if (e && nswap_held_same(e->gen, gen) && (!mover || e->seq == mover)) {
			pending_unlink(o, e);
			old = nswap_held_link(o, e, NULL);
			status = NSWAP_ST_OK;
		}
	}
	if (IS_ERR(old)) {
		/* something newer is held: the claimed page is obsolete */
		status = NSWAP_ST_NOT_HELD;
		old = e;
	}
	if (old)
		nswap_cache_count(c, o, instance, -1, -(s64)nswap_entry_ram(old));
	spin_unlock(&o->lock);
	if (old)
		nswap_cache_put(c, old);
	return status;
}

/* drop what has been pending for @ms */
static void pending_drop(struct nswap_cache *c, struct nswap_owner *o,
			 unsigned int ms)
{
	unsigned long since = jiffies - msecs_to_jiffies(ms);
	struct nswap_entry *e, *next;
	LIST_HEAD(late);

	spin_lock(&o->lock);
	list_for_each_entry_safe(e, next, &o->pending, link) {
		if (!time_before(e->since, since))
			break;
		pending_unlink(o, e);
		list_add_tail(&e->link, &late);
		nswap_cache_count(c, o, e->instance, -1, -(s64)nswap_entry_ram(e));
	}
	spin_unlock(&o->lock);
	list_for_each_entry_safe(e, next, &late, link) {
		list_del_init(&e->link);
		nswap_cache_put(c, e);
	}
}

/**
 * nswap_pending_give_up() - drop pages that their owner is not about to claim
 * @c: cache of a node that holds more than it lends
 * @o: owner, kept by the caller
 *
 * A page that was rewritten or freed during its move is never claimed. A node that
 * gives RAM back, or leaves, does not keep such pages for PENDING_MS.
 *
 * Context: process, does not sleep; a page-out path.
 */
void nswap_pending_give_up(struct nswap_cache *c, struct nswap_owner *o)
{
	pending_drop(c, o, UNCLAIMED_MS);
}

/* drop pages that were not claimed within PENDING_MS */
void nswap_pending_sweep(struct nswap_cache *c)
{
	struct nswap_owner *o, *next;

	mutex_lock(&c->hello);
	list_for_each_entry_safe(o, next, &c->owners, link) {
		pending_drop(c, o, PENDING_MS);
		nswap_owner_forget_if_idle(c, o);
	}
	mutex_unlock(&c->hello);
}
