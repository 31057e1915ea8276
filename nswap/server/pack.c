// SPDX-License-Identifier: GPL-2.0
/*
 * Packing: short pages of a device share pages of RAM.
 *
 *   received into a page set aside -> a shared page has room: copied there, the page is set
 *                                     aside again
 *                                  -> none has: the page is a shared one from now on
 *   the last of a shared page is freed -> it is set aside again
 *   RAM is to be given back -> pages that are half empty are emptied into others
 *
 * What lies in a shared page is a struct nswap_entry and, behind it, the bytes of its page.
 * So a shorter page takes no memory at all beyond what it was received into: an entry is
 * part of what is counted, and nothing has to be had from the machine. Only the list of a
 * device's shared pages has, once; without it pages are kept as they came.
 *
 * Invariants:
 *  - A shared page has pages of one device only: they are of one class, go with their device,
 *    and the RAM that the device takes is never more than it has pages.
 *  - What is in use of a shared page is its entry's @map, changed under the cache's lock. An
 *    entry in it is complete when its first unit is marked; the bytes behind it are when it
 *    gets into a tree. It stays where it is while anything but the tree refers to it.
 *  - Room is looked for where it is tightest, of all shared pages of the device; so they
 *    fill up before another page becomes one.
 *  - No socket refers to a shared page: what is sent of it is copied (serve_pages.c).
 *  - Where freed pages are to be cleared, what is freed of a shared page is at once, and so is
 *    what is left in the page that a packed one came in.
 *
 * Lock order: owner->lock -> cache->lock. Nothing here sleeps.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "attached.h"
#include "core/node.h"
#include "pack.h"

#define TIDY_LOOK	16	/* pages looked at for one that can be emptied */

static_assert(NSWAP_CHUNK_UNIT * NSWAP_CHUNK_UNITS == PAGE_SIZE);
static_assert(sizeof(struct nswap_entry) + NSWAP_PACK_MOST < PAGE_SIZE);
/* so all of a shared page can be moved in one message */
static_assert(DIV_ROUND_UP(sizeof(struct nswap_entry) + 1, NSWAP_CHUNK_UNIT) *
	      NSWAP_REQ_SLOTS >= NSWAP_CHUNK_UNITS);

/* units that a page of @len bytes takes in a shared one */
static unsigned int pack_units(u32 len)
{
	return DIV_ROUND_UP(sizeof(struct nswap_entry) + len, NSWAP_CHUNK_UNIT);
}

/* that of a device, NULL if there is none; cache's lock held */
static struct nswap_pack *pack_find(struct nswap_owner *o, u32 instance)
{
	struct nswap_pack *p;

	list_for_each_entry(p, &o->packs, link)
		if (p->instance == instance)
			return p;
	return NULL;
}

/* take a shared page out of its list, before its room changes; cache's lock held */
static void pack_unfile(struct nswap_pack *p, struct nswap_entry *shared)
{
	unsigned int room = nswap_chunks_room(&shared->map);

	list_del_init(&shared->link);
	if (list_empty(&p->room[room]))
		p->any &= ~(1ull << room);
}

/* put it into the list of those with as much room; cache's lock held */
static void pack_file(struct nswap_pack *p, struct nswap_entry *shared)
{
	unsigned int room = nswap_chunks_room(&shared->map);

	list_add(&shared->link, &p->room[room]);
	p->any |= 1ull << room;
}

/* a shared page with room for @n units, the tightest; NULL for none; cache's lock held */
static struct nswap_entry *pack_room(struct nswap_pack *p, unsigned int n)
{
	u64 fits = p->any & ~0ull << n;

	return fits ? list_first_entry(&p->room[__ffs64(fits)], struct nswap_entry, link) :
		      NULL;
}

/* an entry in a shared page for a page of the same name as @e; cache's lock held */
static struct nswap_entry *pack_put(struct nswap_pack *p, struct nswap_entry *shared,
				    const struct nswap_entry *e)
{
	int unit = nswap_chunks_take(&shared->map, pack_units(e->len));
	struct nswap_entry *new = nswap_pack_at(shared, unit);

	*new = (struct nswap_entry){
		.page = shared->page, .in = shared, .len = e->len,
		.slot = e->slot, .instance = e->instance, .gen = e->gen,
	};
	INIT_LIST_HEAD(&new->link);
	/* read without the lock when something in it is dropped */
	if (e->clear)
		WRITE_ONCE(shared->clear, true);
	pack_file(p, shared);
	return new;
}

/* @e's page is shared from now on, its own page the first one there; cache's lock held */
static struct nswap_entry *pack_begin(struct nswap_cache *c, struct nswap_pack *p,
				      struct nswap_entry *e)
{
	const struct nswap_entry name = *e;

	memmove(page_address(e->page) + sizeof(*e), page_address(e->page), e->len);
	e->map = (struct nswap_chunks){};
	e->pack = p;
	p->pages++;
	nswap_cache_shared(c, p->owner, p->attached, 1);
	return pack_put(p, e, &name);
}

/* make room for another device in the owner's list; false if it has as many as it may have */
static bool pack_may(struct nswap_owner *o)
{
	struct nswap_pack *p, *next;
	unsigned int n = 0;

	list_for_each_entry(p, &o->packs, link)
		n++;
	if (n < NSWAP_MAX_DEVICES)
		return true;
	list_for_each_entry_safe(p, next, &o->packs, link) {
		if (p->pages)
			continue;
		list_del(&p->link);
		kfree(p);
		n--;
	}
	return n < NSWAP_MAX_DEVICES;
}

/* have a list for a device, if there is memory for it */
static void pack_make(struct nswap_cache *c, struct nswap_owner *o, u32 instance)
{
	struct nswap_pack *p = kzalloc_obj(*p, GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN);
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < NSWAP_CHUNK_UNITS; i++)
		INIT_LIST_HEAD(&p->room[i]);
	p->owner = o;
	p->instance = instance;
	spin_lock(&o->lock);
	spin_lock(&c->lock);
	p->attached = nswap_attached_find(o, instance);
	if (!pack_find(o, instance) && pack_may(o)) {
		list_add(&p->link, &o->packs);
		p = NULL;
	}
	spin_unlock(&c->lock);
	spin_unlock(&o->lock);
	kfree(p);
}

/**
 * nswap_pack() - let a page that has been received share one, if it is short
 * @c: cache
 * @o: its owner, kept by the caller
 * @e: entry with the page and its name, on no list
 * @unused: @e is added if its page is not needed any more
 *
 * Context: process, does not sleep; no lock held.
 * Return: the entry that has the page now, to be inserted; @e itself if it is kept as it is.
 */
struct nswap_entry *nswap_pack(struct nswap_cache *c, struct nswap_owner *o,
			       struct nswap_entry *e, struct list_head *unused)
{
	struct nswap_entry *shared, *new = e;
	struct nswap_pack *p;

	if (e->len > NSWAP_PACK_MOST || PageHighMem(e->page))
		return e;
	spin_lock(&c->lock);
	p = pack_find(o, e->instance);
	if (!p) {
		spin_unlock(&c->lock);
		pack_make(c, o, e->instance);
		spin_lock(&c->lock);
		p = pack_find(o, e->instance);
	}
	shared = p ? pack_room(p, pack_units(e->len)) : NULL;
	if (shared) {
		pack_unfile(p, shared);
		new = pack_put(p, shared, e);
	} else if (p) {
		new = pack_begin(c, p, e);
	}
	spin_unlock(&c->lock);
	if (new != e)
		nswap_stat_inc(c->node, pages_packed);
	if (!shared)
		return new;
	memcpy(new + 1, page_address(e->page), e->len);
	if (e->clear)
		memset(page_address(e->page), 0, e->len);
	list_add(&e->link, unused);
	return new;
}

/**
 * nswap_pack_drop() - an entry in a shared page has lost its last user
 * @c: cache
 * @e: the entry; it is gone afterwards
 *
 * Context: process, on the reclaim path; does not sleep. The owner may be gone.
 * Return: the entry of the shared page if nothing is left in it: it is the caller's, to be
 * given back as any other without users; else NULL.
 */
struct nswap_entry *nswap_pack_drop(struct nswap_cache *c, struct nswap_entry *e)
{
	struct nswap_entry *shared = e->in;
	unsigned int unit = offset_in_page(e) / NSWAP_CHUNK_UNIT;
	struct nswap_pack *p, *gone = NULL;

	if (READ_ONCE(shared->clear))
		memset(e + 1, 0, e->len);
	spin_lock(&c->lock);
	p = shared->pack;
	pack_unfile(p, shared);
	nswap_chunks_put(&shared->map, unit);
	if (shared->map.used) {
		pack_file(p, shared);
		shared = NULL;
	} else {
		p->pages--;
		nswap_cache_shared(c, p->owner, p->attached, -1);
		if (!p->owner && !p->pages)
			gone = p;
	}
	spin_unlock(&c->lock);
	kfree(gone);
	return shared;
}

/* may all that is in a shared page be brought elsewhere? owner's and cache's locks held */
static bool pack_may_go(struct nswap_owner *o, const struct nswap_entry *shared, nswap_pack_may may)
{
	u64 left;

	for (left = shared->map.first; left; left &= left - 1)
		if (!may(o, nswap_pack_at(shared, __ffs64(left))))
			return false;
	return true;
}

/* one of those with the most room, half of it unused, that may go; likewise */
static struct nswap_entry *pack_sparse(struct nswap_owner *o, struct nswap_pack *p,
				       nswap_pack_may may)
{
	struct nswap_entry *shared;
	unsigned int looked = 0, room;
	u64 any = p->pages > 1 ? p->any : 0;

	for (; any; any &= ~(1ull << room)) {
		room = fls64(any) - 1;
		list_for_each_entry(shared, &p->room[room], link) {
			if (looked++ == TIDY_LOOK)
				return NULL;
			if (hweight64(shared->map.used) <= NSWAP_CHUNK_UNITS / 2 &&
			    pack_may_go(o, shared, may))
				return shared;
		}
	}
	return NULL;
}

/* bring a page of a shared one elsewhere; false if there is no room; both locks held */
static bool pack_bring(struct nswap_pack *p, struct nswap_entry *e)
{
	struct nswap_entry *to = pack_room(p, pack_units(e->len)), *new;

	if (!to)
		return false;
	pack_unfile(p, to);
	new = pack_put(p, to, e);
	memcpy(new + 1, e + 1, e->len);
	refcount_set(&new->ref, 1);
	new->class = e->class;
	new->seq = e->seq;
#ifdef NSWAP_INJECT
	new->prev = e->prev;
#endif
	rb_replace_node(&e->rb, &new->rb, &p->owner->tree);
	list_add(&new->link, &e->link);
	list_del_init(&e->link);
	if (e->in->clear)
		memset(e + 1, 0, e->len);
	return true;
}

/**
 * nswap_pack_tidy() - empty a shared page that is half empty into others
 * @c: cache
 * @o: owner, its lock held
 * @may: may an entry be brought elsewhere?
 *
 * One with a page that may not go is passed over. A page that finds no room ends it; what
 * was brought elsewhere before stays there.
 *
 * Context: process, does not sleep.
 * Return: the entry of the page that is empty now, as nswap_pack_drop(); NULL for none.
 */
struct nswap_entry *nswap_pack_tidy(struct nswap_cache *c, struct nswap_owner *o,
				    nswap_pack_may may)
{
	struct nswap_entry *shared = NULL, *e;
	struct nswap_pack *p;
	u64 left;

	spin_lock(&c->lock);
	list_for_each_entry(p, &o->packs, link) {
		shared = pack_sparse(o, p, may);
		if (!shared)
			continue;
		pack_unfile(p, shared);
		for (left = shared->map.first; left; left &= left - 1) {
			e = nswap_pack_at(shared, __ffs64(left));
			if (!pack_bring(p, e))
				break;
			nswap_chunks_put(&shared->map, __ffs64(left));
		}
		if (!shared->map.used) {
			p->pages--;
			nswap_cache_shared(c, o, p->attached, -1);
			break;
		}
		pack_file(p, shared);
		shared = NULL;
	}
	spin_unlock(&c->lock);
	return shared;
}

/* a device with pages here is attached; @o: its owner, its lock held */
void nswap_pack_attach(struct nswap_cache *c, struct nswap_owner *o,
		       struct nswap_attached *a)
{
	struct nswap_pack *p;

	spin_lock(&c->lock);
	p = pack_find(o, a->instance);
	if (p) {
		p->attached = a;
		a->ram += p->pages;
	}
	spin_unlock(&c->lock);
}

/* a device goes, as far as its owner's word goes; what is pending of it stays counted */
void nswap_pack_detach(struct nswap_cache *c, struct nswap_owner *o, u32 instance)
{
	struct nswap_pack *p;

	spin_lock(&c->lock);
	p = pack_find(o, instance);
	if (p)
		p->attached = NULL;
	if (p && !p->pages) {
		list_del(&p->link);
		kfree(p);
	}
	spin_unlock(&c->lock);
}

/*
 * All pages of an owner are taken from it, or the owner goes. What is still being sent of its
 * shared pages keeps these: returns how many. Cache's lock held.
 */
u64 nswap_pack_leave(struct nswap_owner *o)
{
	struct nswap_pack *p, *next;
	u64 pages = 0;

	list_for_each_entry_safe(p, next, &o->packs, link) {
		list_del_init(&p->link);
		p->owner = NULL;
		p->attached = NULL;
		pages += p->pages;
		if (!p->pages)
			kfree(p);
	}
	return pages;
}
