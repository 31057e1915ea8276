// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: which nodes may store, and which of their connections are valid.
 *
 * Invariants:
 *  - A connection gets its owner only by a HELLO that returns the ticket this
 *    node put into the GREET of that connection. Tickets rise: of two epochs or
 *    sessions the one with the higher ticket is newer, whatever the owner's
 *    clock says.
 *  - A newer session fences the older ones before its own HELLO is answered:
 *    their session number no longer matches, so further messages of theirs are
 *    refused (held.c compares the number under the owner's lock).
 *  - Pages of an old epoch are useless to a new one: they are removed in the
 *    critical section that changes the epoch, so no page of the old one is
 *    ever moved under the name of the new one.
 *  - Grants belong to a session and end with it.
 *  - On a node that lists its members only they become owners, whether they say HELLO or
 *    another server moves their pages here: no member fills the table with names it made up.
 *  - A connection of a mover has no owner; one node, or address, has MOVER_CONNS of them at
 *    most, so that none takes those of all others.
 *  - Pages of an owner without a connection are kept for its lease, lease_s.
 *    After that all of them are dropped: at its next HELLO the owner is told that
 *    nothing is held, and treats what it recorded here as lost.
 *  - Pages are freed outside of hello, however many: a HELLO waits 2 s for its answer.
 *
 * Lock order: hello -> owner->lock -> cache->lock.
 */
#include <linux/slab.h>

#include "base/log.h"
#include "core/node.h"
#include "keys/identity.h"
#include "attach.h"
#include "attached.h"
#include "held.h"
#include "owner.h"
#include "pack.h"
#include "server.h"
#include "weights.h"

/*
 * A node has NSWAP_MOVERS to send and as many to tell, and its sessions prove who they are
 * with one each, as a survey asks for totals; twice, since ends of old ones may not have
 * been noticed.
 */
#define MOVER_CONNS	(4 * NSWAP_MAX_CONNS)

static struct nswap_owner *owner_find(struct nswap_cache *c, u64 id)
{
	struct nswap_owner *o;

	list_for_each_entry(o, &c->owners, link)
		if (o->id == id)
			return o;
	return NULL;
}

static struct nswap_owner *find_or_make(struct nswap_cache *c, u64 id)
{
	struct nswap_owner *o = owner_find(c, id);
	unsigned int class;

	if (o || c->nr_owners >= NSWAP_MAX_PEERS)
		return o;
	o = kzalloc_obj(*o, GFP_NOWAIT | __GFP_NOWARN);
	if (!o)
		return NULL;
	o->id = id;
	o->weight = nswap_weights_of(c, id);
	spin_lock_init(&o->lock);
	o->tree = RB_ROOT;
	INIT_LIST_HEAD(&o->conns);
	for (class = 0; class < NSWAP_DEV_CLASSES; class++)
		INIT_LIST_HEAD(&o->lru[class]);
	INIT_LIST_HEAD(&o->pending);
	o->pending_tree = RB_ROOT;
	INIT_LIST_HEAD(&o->attached);
	INIT_LIST_HEAD(&o->packs);
	INIT_LIST_HEAD(&o->ready.list);
	o->rest = jiffies;
	o->full_until = jiffies;
	o->unmet_until = jiffies;
	o->gone = jiffies;
	spin_lock(&c->lock);
	list_add_tail(&o->link, &c->owners);
	c->nr_owners++;
	c->weights += o->weight;
	spin_unlock(&c->lock);
	return o;
}

/* free an owner without pages, connections, reserves and users; @o may be freed afterwards */
void nswap_owner_forget_if_idle(struct nswap_cache *c, struct nswap_owner *o)
{
	bool idle;

	spin_lock(&c->lock);
	idle = list_empty(&o->conns) && !o->held && !o->users &&
	       !o->reserves;
	if (idle) {
		list_del(&o->link);
		nswap_pack_leave(o);
		c->nr_owners--;
		c->weights -= o->weight;
	}
	spin_unlock(&c->lock);
	if (!idle)
		return;
	nswap_cache_ungrant(c, o);
	nswap_attached_free(&o->attached);
	kfree(o);
}

/**
 * struct taken - the pages and devices removed from an owner
 * @tree: pages held
 * @lru: those of them that are not being moved
 * @pending: pages moved here
 * @attached: its devices
 */
struct taken {
	struct rb_root tree;
	struct list_head lru;
	struct list_head pending;
	struct list_head attached;
};

static void nothing_taken(struct taken *t)
{
	t->tree = RB_ROOT;
	INIT_LIST_HEAD(&t->lru);
	INIT_LIST_HEAD(&t->pending);
	INIT_LIST_HEAD(&t->attached);
}

/*
 * Remove all pages and devices of an owner from it at once, to be freed later; its lock
 * held by the caller.
 */
static void take_all(struct nswap_cache *c, struct nswap_owner *o,
		     struct taken *t)
{
	unsigned int class;

	t->tree = o->tree;
	o->tree = RB_ROOT;
	for (class = 0; class < NSWAP_DEV_CLASSES; class++)
		list_splice_init(&o->lru[class], &t->lru);
	list_splice_init(&o->pending, &t->pending);
	o->pending_tree = RB_ROOT;
	/* read without the owner's lock, cache.c */
	WRITE_ONCE(o->nr_pending, 0);
	nswap_cache_forget(c, o);
	list_splice_init(&o->attached, &t->attached);
}

static void free_all(struct nswap_cache *c, struct taken *t)
{
	struct nswap_entry *e, *next;
	unsigned int n = 0;

	list_for_each_entry_safe(e, next, &t->pending, link) {
		list_del_init(&e->link);
		nswap_cache_put(c, e);
	}
	while ((e = nswap_held_pop(&t->tree))) {
		list_del_init(&e->link);
		nswap_cache_put(c, e);
		if (!(++n % 1024))
			cond_resched();
	}
	nswap_attached_free(&t->attached);
}

/*
 * Drop all pages of an owner, and what it said of its devices, if its epoch is still @epoch and
 * it has no connections: its node was found in another one since. Process, sleeps. Returns
 * whether it had any.
 */
bool nswap_owner_over(struct nswap_cache *c, struct nswap_owner *o, u64 epoch)
{
	struct taken t;
	bool any = false;

	nothing_taken(&t);
	mutex_lock(&c->hello);
	spin_lock(&o->lock);
	if (o->epoch == epoch && list_empty(&o->conns)) {
		any = o->held;
		take_all(c, o, &t);
	}
	spin_unlock(&o->lock);
	mutex_unlock(&c->hello);
	free_all(c, &t);
	return any;
}

static void owner_fence(struct nswap_cache *c, struct nswap_owner *o)
{
	struct nswap_srv_conn *conn;

	list_for_each_entry(conn, &o->conns, of_owner) {
		conn->t->shutdown(conn->l);
		nswap_stat_inc(c->node, fenced);
	}
	nswap_cache_ungrant(c, o);
}

static unsigned int nr_conns(const struct nswap_owner *o)
{
	const struct nswap_srv_conn *conn;
	unsigned int n = 0;

	list_for_each_entry(conn, &o->conns, of_owner)
		n += !nswap_held_fenced(conn);
	return n;
}

/*
 * Is the owner's epoch connected from another address than this? A node keeps its id
 * when it moves, so one that comes up where it was could have the same: it is turned
 * away. One that has rebooted comes from its address, or the silence of its old
 * connection ends that.
 */
static bool lives_elsewhere(const struct nswap_owner *o,
			    const struct nswap_srv_conn *conn)
{
	const struct nswap_srv_conn *old;

	list_for_each_entry(old, &o->conns, of_owner)
		if (old->class == NSWAP_CLASS_CONTROL &&
		    memcmp(old->from.ip, conn->from.ip, sizeof(old->from.ip)))
			return true;
	return false;
}

static u16 new_session(struct nswap_cache *c, struct nswap_owner *o,
		       const struct nswap_srv_conn *conn, u64 epoch,
		       u64 session, struct taken *obsolete)
{
	bool other_epoch = o->epoch && o->epoch != epoch;

	if (conn->ticket < o->ticket ||
	    (other_epoch ? lives_elsewhere(o, conn) : session <= o->session))
		return NSWAP_ST_STALE;
	spin_lock(&o->lock);
	if (other_epoch)
		take_all(c, o, obsolete);
	o->epoch = epoch;
	o->session = session;
	spin_unlock(&o->lock);
	o->ticket = conn->ticket;
	o->began = jiffies;
	owner_fence(c, o);
	if (other_epoch)
		nswap_stat_inc(c->node, owners_rebooted);
	return NSWAP_ST_OK;
}

/* HELLO of a mover: of a node that sends pages, or says where they are now */
static u16 owner_mover_hello(struct nswap_cache *c, struct nswap_srv_conn *conn,
			     const struct nswap_wire_hello *h)
{
	u64 id = le64_to_cpu(h->id);
	struct nswap_srv_conn *other;
	unsigned int n = 0;

	mutex_lock(&c->hello);
	list_for_each_entry(other, &c->movers, of_owner)
		n += other->mover == id ||
		     !memcmp(other->from.ip, conn->from.ip, sizeof(conn->from.ip));
	if (n < MOVER_CONNS) {
		conn->mover = id;
		conn->epoch = le64_to_cpu(h->epoch);
		conn->class = h->class;
		list_add_tail(&conn->of_owner, &c->movers);
	}
	mutex_unlock(&c->hello);
	return n < MOVER_CONNS ? NSWAP_ST_OK : NSWAP_ST_NO_ROOM;
}

/*
 * Handle the HELLO of a connection; process, sleeps; needs no memory for a known owner.
 * Returns enum nswap_wire_status; OK: @conn belongs to an owner now.
 */
u16 nswap_owner_hello(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      const struct nswap_wire_hello *h)
{
	u64 epoch = le64_to_cpu(h->epoch), session = le64_to_cpu(h->session);
	struct taken obsolete;
	struct nswap_owner *o;
	u16 status;

	if (!h->id || !epoch || h->class >= NSWAP_CLASS_NR ||
	    (!session && h->class <= NSWAP_CLASS_STORE) ||
	    le64_to_cpu(h->ticket) != conn->ticket ||
	    memchr_inv(h->reserved, 0, sizeof(h->reserved)) ||
	    (!c->node->identity && memchr_inv(&h->keys, 0, sizeof(h->keys))))
		return NSWAP_ST_BAD;
	conn->features = le64_to_cpu(h->features) & NSWAP_HAS_ALL;
	if (h->class == NSWAP_CLASS_MOVE || h->class == NSWAP_CLASS_TELL)
		return owner_mover_hello(c, conn, h);
	nothing_taken(&obsolete);
	mutex_lock(&c->hello);
	o = find_or_make(c, le64_to_cpu(h->id));
	if (!o) {
		mutex_unlock(&c->hello);
		return NSWAP_ST_NO_ROOM;
	}
	if (h->class == NSWAP_CLASS_CONTROL)
		status = new_session(c, o, conn, epoch, session, &obsolete);
	else if (o->epoch != epoch || o->session != session)
		status = NSWAP_ST_STALE;
	else
		status = nr_conns(o) < NSWAP_MAX_CONNS ? NSWAP_ST_OK :
							 NSWAP_ST_BAD;
	if (status == NSWAP_ST_OK) {
		conn->owner = o;
		conn->epoch = epoch;
		conn->session = session;
		conn->class = h->class;
		list_add_tail(&conn->of_owner, &o->conns);
	} else {
		nswap_owner_forget_if_idle(c, o);
	}
	mutex_unlock(&c->hello);
	free_all(c, &obsolete);
	return status;
}

/* a session ends with its control connection; another epoch counts its own sessions */
static void end_session(struct nswap_owner *o, const struct nswap_srv_conn *control)
{
	struct nswap_srv_conn *conn;

	list_for_each_entry(conn, &o->conns, of_owner)
		if (conn->session == control->session &&
		    conn->epoch == control->epoch)
			conn->t->shutdown(conn->l);
}

static void owner_left(struct nswap_cache *c, struct nswap_owner *o,
		       struct nswap_srv_conn *conn)
{
	o->gone = jiffies;
	if (conn->class == NSWAP_CLASS_CONTROL)
		end_session(o, conn);
	if (!nswap_held_fenced(conn))
		nswap_cache_ungrant(c, o);
	nswap_owner_forget_if_idle(c, o);
	conn->owner = NULL;
}

/* a connection ends; @conn: connection, with or without an owner */
void nswap_owner_bye(struct nswap_cache *c, struct nswap_srv_conn *conn)
{
	struct nswap_owner *o = conn->owner;

	if (!o && !conn->mover)
		return;
	mutex_lock(&c->hello);
	list_del(&conn->of_owner);
	if (o)
		owner_left(c, o, conn);
	mutex_unlock(&c->hello);
}

/* pages held for the owner of a connection */
u64 nswap_owner_held(struct nswap_cache *c, struct nswap_srv_conn *conn)
{
	u64 n;

	spin_lock(&c->lock);
	n = conn->owner ? conn->owner->held + READ_ONCE(conn->owner->ready.fresh) : 0;
	spin_unlock(&c->lock);
	return n;
}

/* is an owner's lease over? under hello */
static bool lease_over(const struct nswap_cache *c, const struct nswap_owner *o)
{
	return list_empty(&o->conns) &&
	       !time_before(jiffies, o->gone + nswap_knob(c->node, lease_s) * HZ);
}

/* take what an owner whose lease is over has here, and keep the owner; under hello */
static void lease_end(struct nswap_cache *c, struct nswap_owner *o, struct taken *t)
{
	if (o->held) {
		nswap_warn(c->node, "an owner has been away for %u s: its %llu pages are dropped; to wait longer: nswapctl set lease_s",
			   nswap_knob(c->node, lease_s), o->held);
		nswap_stat_inc(c->node, leases_ended);
	}
	spin_lock(&o->lock);
	take_all(c, o, t);
	spin_unlock(&o->lock);
	spin_lock(&c->lock);
	o->users++;
	spin_unlock(&c->lock);
}

/*
 * The next owner that had something here when its lease ended: now in @t, and the owner is kept
 * until nswap_owner_leave(). NULL for none. @last: the one before, kept by the caller; NULL: from
 * the first on. Others whose lease is over are forgotten on the way.
 */
static struct nswap_owner *lease_next(struct nswap_cache *c, struct nswap_owner *last,
				      struct taken *t)
{
	struct nswap_owner *o, *found = NULL;
	struct list_head *at, *next;

	nothing_taken(t);
	mutex_lock(&c->hello);
	for (at = last ? last->link.next : c->owners.next; !found && at != &c->owners;
	     at = next) {
		next = at->next;
		o = list_entry(at, struct nswap_owner, link);
		if (!lease_over(c, o))
			continue;
		if (o->held || o->reserves) {
			lease_end(c, o, t);
			found = o;
		} else {
			nswap_owner_forget_if_idle(c, o);
		}
	}
	mutex_unlock(&c->hello);
	return found;
}

/**
 * nswap_owner_sweep() - drop the pages of owners whose lease has run out, and what is set aside
 *	for devices that are gone
 * @c: cache
 *
 * No HELLO waits while they are freed. An owner that comes back meanwhile finds none of
 * them, and is not forgotten. Each owner is met once.
 *
 * Context: process, sleeps.
 */
void nswap_owner_sweep(struct nswap_cache *c)
{
	struct nswap_owner *o, *next;
	struct taken t;

	nswap_attach_sweep(c);
	for (o = lease_next(c, NULL, &t); o; o = next) {
		free_all(c, &t);
		next = lease_next(c, o, &t);
		nswap_owner_leave(c, o);
	}
}

/*
 * Find or create the owner of pages that another server moves here. Returns the owner,
 * kept until nswap_owner_leave(); NULL if there are too many, it is known under another
 * epoch, or is no member.
 */
struct nswap_owner *nswap_owner_adopt(struct nswap_cache *c, u64 id, u64 epoch)
{
	const struct nswap_identity *me = c->node->identity;
	struct nswap_owner *o;

	if (!id || !epoch || (me && !nswap_identity_knows(me, id)))
		return NULL;
	mutex_lock(&c->hello);
	o = find_or_make(c, id);
	if (o && !o->epoch) {
		spin_lock(&o->lock);
		o->epoch = epoch;
		spin_unlock(&o->lock);
	}
	if (o && o->epoch != epoch)
		o = NULL;
	if (o) {
		spin_lock(&c->lock);
		o->users++;
		spin_unlock(&c->lock);
	}
	mutex_unlock(&c->hello);
	return o;
}

/* drop a reference, as that of nswap_owner_adopt() or nswap_owner_turn() */
void nswap_owner_leave(struct nswap_cache *c, struct nswap_owner *o)
{
	u64 id = o->id;
	bool maybe_idle;

	spin_lock(&c->lock);
	maybe_idle = !--o->users && !o->held;
	spin_unlock(&c->lock);
	if (!maybe_idle)
		return;
	mutex_lock(&c->hello);
	if (owner_find(c, id) == o)
		nswap_owner_forget_if_idle(c, o);
	mutex_unlock(&c->hello);
}
