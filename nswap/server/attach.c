// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching a device of an owner, and what its class and reserve are worth to pages that
 * come in a move.
 *
 * Invariants:
 *  - An ATTACH takes effect in one critical section under the owner's lock: pages that are
 *    held are counted and sorted by class in it.
 *  - A node that gives RAM back makes no room for others' critical pages.
 *  - What is moved here, on however many connections, takes no more of a reserve than it
 *    lacks: all that is being filled for the owner is counted against it. A store may
 *    exceed it by what is under way on its owner's own connections.
 *
 * Lock order: hello -> owner->lock -> cache->lock. Nothing here sleeps unless it says so.
 */
#include <linux/slab.h>

#include "attach.h"
#include "attached.h"
#include "core/node.h"
#include "held.h"
#include "owner.h"
#include "pack.h"
#include "server.h"

/*
 * When an owner's session has said all its devices: its ATTACHes leave with the same ticks as
 * its PINGs. Twice that is longer than it may be silent (server.c): one that is has lost its
 * session before.
 */
#define SAID_S		60u

/* count and sort the pages of it that were here first; @o: owner, its lock held */
static void attach_adopt(struct nswap_cache *c, struct nswap_owner *o,
			 struct nswap_attached *a)
{
	struct nswap_entry *e;

	for (e = nswap_held_from(o, a->instance, 0);
	     e && e->instance == a->instance; e = nswap_held_next(e)) {
		a->held++;
		a->ram += nswap_entry_ram(e);
		e->class = a->class;
		if (!e->moving)
			list_move_tail(&e->link, &o->lru[a->class]);
	}
	list_for_each_entry(e, &o->pending, link) {
		if (e->instance != a->instance)
			continue;
		a->held++;
		a->ram += nswap_entry_ram(e);
	}
	nswap_pack_attach(c, o, a);
}

/* has the owner as many as it may have? @o: owner, its lock held */
static bool attach_full(const struct nswap_owner *o)
{
	const struct nswap_attached *a;
	unsigned int n = 0;

	list_for_each_entry(a, &o->attached, link)
		n++;
	return n >= NSWAP_MAX_DEVICES;
}

/**
 * nswap_attach_set() - the owner said of what class a device is, and what to reserve
 * @c: cache
 * @conn: the owner's control connection
 * @instance: device instance
 * @class: enum nswap_device_class
 * @wanted: pages to be reserved, those included that are held
 * @reserved: result; as many of them as can be kept, 0 on failure
 *
 * Context: process, does not sleep; needs memory for a new device.
 * Return: NSWAP_ST_OK, NSWAP_ST_NO_ROOM, NSWAP_ST_STALE.
 */
u16 nswap_attach_set(struct nswap_cache *c, struct nswap_srv_conn *conn, u32 instance,
		     u8 class, u32 wanted, u32 *reserved)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_attached *a, *new;
	u16 status = NSWAP_ST_OK;

	*reserved = 0;
	new = kzalloc_obj(*new, GFP_NOWAIT | __GFP_NOWARN);
	spin_lock(&o->lock);
	a = nswap_attached_find(o, instance);
	if (nswap_held_fenced(conn)) {
		status = NSWAP_ST_STALE;
	} else if (!a && (!new || attach_full(o))) {
		status = NSWAP_ST_NO_ROOM;
	} else {
		if (!a) {
			a = new;
			new = NULL;
			a->instance = instance;
			a->class = class;
			/* what is held of it counts, before it has a count of its own */
			nswap_cache_count(c, o, instance, 0, 0);
			attach_adopt(c, o, a);
			list_add_tail(&a->link, &o->attached);
		}
		a->session = conn->session;
		*reserved = nswap_cache_reserve(c, o, a, wanted);
	}
	spin_unlock(&o->lock);
	kfree(new);
	return status;
}

/* a device is gone, and its pages with it; @conn: its owner's control connection */
void nswap_attach_end(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      u32 instance)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_attached *a;

	spin_lock(&o->lock);
	a = nswap_held_fenced(conn) ? NULL : nswap_attached_find(o, instance);
	if (a) {
		nswap_cache_reserve(c, o, a, 0);
		list_del(&a->link);
	}
	if (!nswap_held_fenced(conn))
		nswap_pack_detach(c, o, instance);
	spin_unlock(&o->lock);
	kfree(a);
}

/*
 * Forget the devices that an owner has not said again in its session, which began long enough
 * ago: they were deleted while it had none, or FREE_DEVICE was lost. Those with pages stay until
 * it has compared these.
 */
static void attach_forget(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_attached *a, *next;
	LIST_HEAD(gone);

	spin_lock(&o->lock);
	list_for_each_entry_safe(a, next, &o->attached, link) {
		if (a->session == o->session)
			continue;
		/* what is held of it and does not count yet */
		nswap_cache_count(c, o, a->instance, 0, 0);
		if (a->held)
			continue;
		nswap_cache_reserve(c, o, a, 0);
		list_move(&a->link, &gone);
		nswap_pack_detach(c, o, a->instance);
	}
	spin_unlock(&o->lock);
	nswap_attached_free(&gone);
}

/**
 * nswap_attach_sweep() - forget devices that are gone
 * @c: cache
 *
 * An owner says all its devices within a few seconds of each session. One that it has not
 * said in twice SAID_S, or twice its lease, was deleted.
 *
 * Context: process, sleeps.
 */
void nswap_attach_sweep(struct nswap_cache *c)
{
	unsigned long said = 2 * min(nswap_knob(c->node, lease_s), SAID_S) * HZ;
	struct nswap_owner *o;

	mutex_lock(&c->hello);
	list_for_each_entry(o, &c->owners, link)
		if (!list_empty(&o->conns) && !time_before(jiffies, o->began + said))
			attach_forget(c, o);
	mutex_unlock(&c->hello);
}

/* are all pages of critical devices? */
static bool attach_critical(struct nswap_owner *o, const struct nswap_wire_page *page,
			    u32 nr)
{
	bool all = true;

	spin_lock(&o->lock);
	while (nr--)
		all = all && nswap_attached_class(o, le32_to_cpu(page[nr].instance)) ==
			     NSWAP_DEV_CRITICAL;
	spin_unlock(&o->lock);
	return all;
}

/* take from the reserve of their device, if it lacks as many */
static bool attach_take_reserve(struct nswap_cache *c, struct nswap_owner *o,
				const struct nswap_wire_page *page, u32 nr,
				struct list_head *taken)
{
	struct nswap_attached *a;
	bool ok = false, all = true;
	u32 i;

	for (i = 1; i < nr; i++)
		all = all && page[i].instance == page[0].instance;
	spin_lock(&o->lock);
	a = all ? nswap_attached_find(o, le32_to_cpu(page[0].instance)) : NULL;
	if (a && a->ram < a->reserve)
		ok = nswap_cache_take_reserved(c, o, nr, a->reserve - a->ram, taken);
	spin_unlock(&o->lock);
	return ok;
}

/* drop droppable pages for about @n critical ones; their owners will find them missing */
static void attach_drop(struct nswap_cache *c, u32 n)
{
	struct nswap_wire_page name[NSWAP_REQ_SLOTS];
	struct nswap_owner *o;
	u32 dropped = 1;
	u64 epoch;

	while (n && dropped && (o = nswap_owner_droppable(c))) {
		dropped = nswap_held_drop_some(c, o, &n, name, &epoch);
		nswap_owner_leave(c, o);
	}
}

/**
 * nswap_attach_take() - take pages for those that another server is moving here
 * @c: cache
 * @o: their owner, kept by the caller
 * @page: their names
 * @nr: how many, at most NSWAP_REQ_SLOTS
 * @taken: result
 *
 * From the reserve of their device, or from what is promised to no owner. For critical
 * pages a node that does not give RAM back takes back promises, and drops droppable pages.
 *
 * Context: process, sleeps if an owner has to be freed.
 * Return: NSWAP_ST_OK; NSWAP_ST_NO_ROOM, or NSWAP_ST_SHARE if others' pages may have room,
 * for its share or since it is to claim pages first: nothing is taken.
 */
u16 nswap_attach_take(struct nswap_cache *c, struct nswap_owner *o,
		      const struct nswap_wire_page *page, u32 nr,
		      struct list_head *taken)
{
	bool critical = attach_critical(o, page, nr);
	int ret;

	if (attach_take_reserve(c, o, page, nr, taken))
		return NSWAP_ST_OK;
	ret = nswap_cache_take_free(c, o, nr, critical, taken);
	if (ret == -ENOSPC && critical) {
		/* what is ready for stores is no promise that can be taken back */
		nswap_owner_gather(c);
		ret = nswap_cache_take_free(c, o, nr, true, taken);
	}
	if (ret == -ENOSPC && critical && !nswap_cache_surplus(c)) {
		attach_drop(c, nr);
		ret = nswap_cache_take_free(c, o, nr, true, taken);
	}
	if (ret == -EDQUOT)
		nswap_stat_inc(c->node, shares_refused);
	return !ret ? NSWAP_ST_OK : ret == -ENOSPC ? NSWAP_ST_NO_ROOM : NSWAP_ST_SHARE;
}
