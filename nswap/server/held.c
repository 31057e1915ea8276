// SPDX-License-Identifier: GPL-2.0
/*
 * Pages held for an owner: its tree, by device instance and slot.
 *
 * Invariants:
 *  - Every access is by a connection of the owner's newest session; the check
 *    and the access are one critical section under the owner's lock.
 *  - A page is inserted complete. The generation held only grows: a late store
 *    is refused, and a late free or drop finds a newer generation and leaves
 *    it.
 *  - An entry that was found is kept by a reference while it is sent, even if
 *    it is replaced or freed meanwhile.
 *  - Every store and claim gets a number. A drop that answers a list spares pages
 *    with a higher number than the list: the owner had not seen them.
 *  - An entry in the tree is in the owner's lru of its class, except while it is being moved.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps unless it says so.
 */
#include "attached.h"
#include "core/node.h"
#include "held.h"
#include "inject_entry.h"
#include "pure/share.h"
#include "pure/slot_map.h"
#include "ready.h"
#include "server.h"

#define DROP_CHUNK	256	/* entries dropped under one lock */

/* has a newer session replaced the connection's? @conn: its owner's lock, or hello, held */
bool nswap_held_fenced(const struct nswap_srv_conn *conn)
{
	const struct nswap_owner *o = conn->owner;

	return o->session != conn->session || o->epoch != conn->epoch;
}

/* the order of trees: negative if this name comes before the entry's */
int nswap_held_compare(u32 instance, u64 slot, const struct nswap_entry *e)
{
	if (instance != e->instance)
		return instance < e->instance ? -1 : 1;
	if (slot != e->slot)
		return slot < e->slot ? -1 : 1;
	return 0;
}

/* is the held generation newer than @gen? */
bool nswap_held_newer(u32 held, u32 gen)
{
	return !nswap_inject_no_gen_check() && nswap_gen_newer(held, gen);
}

/* is the held generation the one asked for? */
bool nswap_held_same(u32 held, u32 gen)
{
	return nswap_inject_no_gen_check() || held == gen;
}

/* the entry of a tree for a slot, if any; its owner's lock held */
struct nswap_entry *nswap_held_in(const struct rb_root *tree, u32 instance, u64 slot)
{
	struct rb_node *n = tree->rb_node;

	while (n) {
		struct nswap_entry *e = rb_entry(n, struct nswap_entry, rb);
		int d = nswap_held_compare(instance, slot, e);

		if (!d)
			return e;
		n = d < 0 ? n->rb_left : n->rb_right;
	}
	return NULL;
}

/* the entry held for a slot, if any; @o: owner, its lock held */
struct nswap_entry *nswap_held_lookup(struct nswap_owner *o, u32 instance,
				      u64 slot)
{
	return nswap_held_in(&o->tree, instance, slot);
}

/* the first entry at or after this instance and slot; @o: owner, its lock held */
struct nswap_entry *nswap_held_from(struct nswap_owner *o, u32 instance, u64 slot)
{
	struct rb_node *n = o->tree.rb_node;
	struct nswap_entry *best = NULL;

	while (n) {
		struct nswap_entry *e = rb_entry(n, struct nswap_entry, rb);

		if (nswap_held_compare(instance, slot, e) <= 0) {
			best = e;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

/* the entry after this one, or NULL; its owner's lock held */
struct nswap_entry *nswap_held_next(struct nswap_entry *e)
{
	struct rb_node *n = rb_next(&e->rb);

	return n ? rb_entry(n, struct nswap_entry, rb) : NULL;
}

/* it has been used last; @o: owner, its lock held; @e: in its tree, not being moved */
static void held_used(struct nswap_owner *o, struct nswap_entry *e)
{
	list_move_tail(&e->link, &o->lru[e->class]);
}

/* the entry of the tree that has @e's name, if it comes right after @before, which is in it */
static struct nswap_entry *held_after(struct nswap_entry *before, const struct nswap_entry *e)
{
	struct nswap_entry *next = before ? nswap_held_next(before) : NULL;

	return next && !nswap_held_compare(e->instance, e->slot, next) ? next : NULL;
}

/* @e is in the tree from now on, new or in the place of another */
static void held_linked(struct nswap_owner *o, struct nswap_entry *e)
{
	list_add_tail(&e->link, &o->lru[e->class]);
	e->seq = ++o->seq;
}

/* put an entry in the place of one with its name; as nswap_held_link() */
static struct nswap_entry *held_replace(struct nswap_owner *o, struct nswap_entry *old,
					struct nswap_entry *e)
{
	if (nswap_held_newer(old->gen, e->gen))
		return ERR_PTR(-ESTALE);
	rb_replace_node(&old->rb, &e->rb, &o->tree);
	list_del_init(&old->link);
	held_linked(o, e);
	return old;
}

/*
 * Insert an entry into its owner's tree; @o: owner, its lock held; @e: on no list; @before:
 * NULL, or an entry of the tree: if @e's slot comes next, it is not searched for.
 * Returns the entry it replaces, now on no list; NULL if there was none; -ESTALE if
 * that is newer: then nothing is changed.
 */
struct nswap_entry *nswap_held_link(struct nswap_owner *o, struct nswap_entry *e,
				    struct nswap_entry *before)
{
	struct rb_node **at = &o->tree.rb_node, *parent = NULL;
	struct nswap_entry *old = held_after(before, e);

	e->class = nswap_attached_class(o, e->instance);
	if (old)
		return held_replace(o, old, e);
	while (*at) {
		int d;

		parent = *at;
		old = rb_entry(parent, struct nswap_entry, rb);
		d = nswap_held_compare(e->instance, e->slot, old);
		if (!d)
			return held_replace(o, old, e);
		at = d < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&e->rb, parent, at);
	rb_insert_color(&e->rb, &o->tree);
	held_linked(o, e);
	return NULL;
}

/*
 * nswap_cache_take() for a connection that is not fenced. Returns false if it is, or if
 * fewer pages were granted.
 */
bool nswap_held_take(struct nswap_cache *c, struct nswap_srv_conn *conn, u32 n,
		     struct list_head *taken)
{
	struct nswap_owner *o = conn->owner;
	bool ok;

	spin_lock(&o->lock);
	ok = !nswap_held_fenced(conn) &&
	     (nswap_ready_take(o, n, nswap_knob(c->node, clear_freed), taken) ||
	      nswap_cache_take(c, o, n, taken));
	spin_unlock(&o->lock);
	return ok;
}

/*
 * The same for pages of the device's reserve. A page that is held already, in another
 * generation, takes no more of it. The reserve is one of RAM: what is kept of pages that
 * share some is room for others.
 */
bool nswap_held_take_reserved(struct nswap_cache *c, struct nswap_srv_conn *conn,
			      u32 instance, u64 slot, u32 n, struct list_head *taken)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_attached *a;
	u32 i, more = 0, ram = 0;
	bool ok = false;

	spin_lock(&o->lock);
	a = nswap_held_fenced(conn) ? NULL : nswap_attached_find(o, instance);
	for (i = 0; a && i < n; i++) {
		const struct nswap_entry *e = nswap_held_lookup(o, instance, slot + i);

		more += !e;
		ram += !e || !nswap_entry_ram(e);
	}
	if (a && a->reserve && (a->held + more <= a->reserve || a->ram + ram <= a->reserve))
		ok = nswap_cache_take_reserved(c, o, n, NSWAP_NO_SHARE, taken);
	spin_unlock(&o->lock);
	return ok;
}

/* nswap_cache_grant() for a connection that is not fenced */
u32 nswap_held_grant(struct nswap_cache *c, struct nswap_srv_conn *conn,
		     u32 used, u32 wanted)
{
	struct nswap_owner *o = conn->owner;
	u32 n = 0;

	spin_lock(&o->lock);
	if (!nswap_held_fenced(conn))
		n = nswap_cache_grant(c, o, used, wanted);
	spin_unlock(&o->lock);
	return n;
}

/*
 * nswap_cache_stored() for a connection, which is promised nothing if it is fenced; or, for a
 * store after which nothing has to be counted or promised yet, without it.
 */
void nswap_held_stored(struct nswap_cache *c, struct nswap_srv_conn *conn,
		       struct nswap_cache_stored *so)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_ready *r = &o->ready;
	bool fenced;

	spin_lock(&o->lock);
	fenced = nswap_held_fenced(conn);
	WRITE_ONCE(r->over, r->over + so->taken);
	r->used += so->used;
	if (!fenced && so->taken && r->used < NSWAP_READY && nswap_ready_may(c, o)) {
		so->free = nswap_answers_free(conn);
	} else {
		so->used = r->used;
		r->used = 0;
		nswap_cache_stored(c, o, fenced, so);
	}
	spin_unlock(&o->lock);
}

/* nswap_cache_take_back() for a connection that is not fenced */
void nswap_held_ungrant(struct nswap_cache *c, struct nswap_srv_conn *conn,
			u32 n)
{
	struct nswap_owner *o = conn->owner;
	LIST_HEAD(surplus);

	spin_lock(&o->lock);
	if (!nswap_held_fenced(conn))
		nswap_cache_take_back(c, o, n, &surplus);
	spin_unlock(&o->lock);
	nswap_cache_free(&surplus);
}

/**
 * nswap_held_insert() - insert pages of one device that have been received completely
 * @c: cache
 * @conn: the connection they came on
 * @entry: the pages, without a reference
 * @nr: how many, at most NSWAP_REQ_SLOTS
 * @status: result, of each: NSWAP_ST_OK, NSWAP_ST_OLDER, or NSWAP_ST_STALE
 *
 * All in one go: any task with the owner's lock sees all of them or none, and they are counted
 * together. What is not inserted, or was replaced, is dropped.
 *
 * Context: process, does not sleep.
 * Return: how many were inserted.
 */
u32 nswap_held_insert(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      struct nswap_entry **entry, u32 nr, u16 *status)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_entry *drop[NSWAP_REQ_SLOTS], *before = NULL;
	s64 held = 0, ram = 0;
	u32 i, inserted = 0;
	bool fenced, later;

	spin_lock(&o->lock);
	fenced = nswap_held_fenced(conn);
	later = !fenced && nswap_ready_may(c, o);
	for (i = 0; i < nr; i++) {
		struct nswap_entry *e = entry[i], *old;

		refcount_set(&e->ref, 1);
		e->moving = 0;
		old = fenced ? ERR_PTR(-ECONNRESET) : nswap_held_link(o, e, before);
		status[i] = fenced ? NSWAP_ST_STALE :
			    IS_ERR(old) ? NSWAP_ST_OLDER : NSWAP_ST_OK;
		drop[i] = e;
		if (IS_ERR(old))
			continue;
		inserted++;
		before = e;
		held += !old;
		ram += (s64)nswap_entry_ram(e) - (old ? nswap_entry_ram(old) : 0);
		drop[i] = old && !nswap_inject_keep_entry(e, old) &&
			  !(later && nswap_ready_again(o, old)) ? old : NULL;
	}
	if ((held || ram) && !(later && held == ram &&
			       nswap_ready_fresh(o, entry[0]->instance, held)))
		nswap_cache_count(c, o, entry[0]->instance, held, ram);
	spin_unlock(&o->lock);
	nswap_cache_put_all(c, drop, nr);
	return inserted;
}

/*
 * Find exactly this generation and take a reference. Returns the entry, to be released
 * with nswap_cache_put(), or NULL.
 */
struct nswap_entry *nswap_held_find(struct nswap_srv_conn *conn, u32 instance,
				    u64 slot, u32 gen)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_entry *e = NULL;

	spin_lock(&o->lock);
	if (!nswap_held_fenced(conn)) {
		e = nswap_held_lookup(o, instance, slot);
		if (e && nswap_held_same(e->gen, gen)) {
			refcount_inc(&e->ref);
			if (!e->moving)
				held_used(o, e);
		} else {
			e = NULL;
		}
	}
	spin_unlock(&o->lock);
	return e;
}

/**
 * struct wanted - what is to be dropped
 * @instance: device instance
 * @slot: first slot; advances past what has been looked at
 * @end: slot after the last one
 * @any_gen: all generations
 * @gen: without @any_gen: this one and older ones
 * @before: nothing that was stored or claimed after this count
 */
struct wanted {
	u32 instance;
	u64 slot;
	u64 end;
	bool any_gen;
	u32 gen;
	u64 before;
};

/* unlink up to DROP_CHUNK wanted entries; owner's lock held by the caller */
static u32 unlink_chunk(struct nswap_cache *c, struct nswap_owner *o,
			struct wanted *w, struct list_head *dropped)
{
	struct nswap_entry *e, *next;
	u32 n = 0, seen = 0, ram = 0;

	for (e = nswap_held_from(o, w->instance, w->slot);
	     e && e->instance == w->instance && e->slot < w->end &&
	     seen < DROP_CHUNK; e = next, seen++) {
		next = nswap_held_next(e);
		w->slot = e->slot + 1;
		if (e->seq > w->before ||
		    (!w->any_gen && nswap_held_newer(e->gen, w->gen)))
			continue;
		rb_erase(&e->rb, &o->tree);
		list_move(&e->link, dropped);
		ram += nswap_entry_ram(e);
		n++;
	}
	if (!e || e->instance != w->instance || e->slot >= w->end)
		w->slot = w->end;
	nswap_cache_count(c, o, w->instance, -(s64)n, -(s64)ram);
	return n;
}

static u64 held_drop(struct nswap_cache *c, struct nswap_srv_conn *conn,
		     struct wanted *w)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_entry *e, *next;
	u64 total = 0;

	while (w->slot < w->end) {
		LIST_HEAD(dropped);

		spin_lock(&o->lock);
		if (nswap_held_fenced(conn))
			w->slot = w->end;
		else
			total += unlink_chunk(c, o, w, &dropped);
		spin_unlock(&o->lock);
		list_for_each_entry_safe(e, next, &dropped, link) {
			list_del_init(&e->link);
			nswap_cache_put(c, e);
		}
		cond_resched();
	}
	return total;
}

/*
 * Drop a run of slots, but no newer generation; @before: nothing stored or claimed
 * after this count, see nswap_held_list().
 */
u64 nswap_held_drop(struct nswap_cache *c, struct nswap_srv_conn *conn,
		    const struct nswap_wire_run *r, u64 before)
{
	struct wanted w = {
		.instance = le32_to_cpu(r->instance),
		.slot = le64_to_cpu(r->slot),
		.end = le64_to_cpu(r->slot) + le32_to_cpu(r->count),
		.gen = le32_to_cpu(r->gen), .before = before,
	};

	return held_drop(c, conn, &w);
}

/* drop everything of one device instance */
u64 nswap_held_drop_device(struct nswap_cache *c, struct nswap_srv_conn *conn,
			   u32 instance)
{
	struct wanted w = {
		.instance = instance, .end = U64_MAX, .any_gen = true,
		.before = U64_MAX,
	};

	return held_drop(c, conn, &w);
}

/*
 * List what is held from one slot on, as runs of at most DROP_CHUNK; process context,
 * does not sleep.
 */
u32 nswap_held_list(struct nswap_srv_conn *conn, u32 instance, u64 slot,
		    struct nswap_wire_run *run, u64 *seq, bool *last)
{
	struct nswap_owner *o = conn->owner;
	struct nswap_wire_run *r = NULL;
	struct nswap_entry *e = NULL;
	u32 n = 0, seen = 0;

	spin_lock(&o->lock);
	if (!nswap_held_fenced(conn))
		e = nswap_held_from(o, instance, slot);
	for (; e && seen < NSWAP_WIRE_RUN_MAX; e = nswap_held_next(e), seen++) {
		if (r && le32_to_cpu(r->instance) == e->instance &&
		    le32_to_cpu(r->gen) == e->gen &&
		    le64_to_cpu(r->slot) + le32_to_cpu(r->count) == e->slot) {
			le32_add_cpu(&r->count, 1);
			continue;
		}
		if (n == NSWAP_WIRE_RUNS)
			break;
		r = &run[n++];
		*r = (struct nswap_wire_run){
			.instance = cpu_to_le32(e->instance),
			.gen = cpu_to_le32(e->gen),
			.slot = cpu_to_le64(e->slot), .count = cpu_to_le32(1),
		};
	}
	*last = !e;
	*seq = o->seq;
	spin_unlock(&o->lock);
	return n;
}

/* remove any entry from a tree. Returns the entry, now the caller's, or NULL */
struct nswap_entry *nswap_held_pop(struct rb_root *tree)
{
	struct rb_node *n = rb_first(tree);

	if (!n)
		return NULL;
	rb_erase(n, tree);
	return rb_entry(n, struct nswap_entry, rb);
}
