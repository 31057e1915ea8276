// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: pages and counts.
 *
 *   (memory) -> set aside (pool) -> granted -> being filled -> held
 *        ^           ^                             |             |
 *        +-----------+--- lent less than before ---+---- freed --+
 *
 * Invariants, under cache->lock:
 *  - granted <= set_aside: a promised page exists before the promise is sent.
 *  - allocated counts every entry, whatever it does now; when it is above lent,
 *    entries that come back are freed.
 *  - A page is set aside by the fill work only, without reclaim of its own and
 *    without reserves, never when a store arrives: a store cannot fail for
 *    memory, and a starving node stores nothing at its own cost.
 *
 * Lock order: owner->lock -> cache->lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "memview.h"
#include "node.h"
#include "views.h"

#define FILL_CHUNK	1024	/* pages set aside before others may run */
#define FILL_FLOOR	20	/* leave this node's programs a 20th of RAM */
#define FILL_AGAIN	HZ	/* when there was no memory */
#define WINDOW_FIRST	128u	/* pages granted to a new session */
#define WINDOW_MAX	2048u

/* free memory only: lending must not make this node reclaim, or dip deep */
#define FILL_GFP	(GFP_NOWAIT | __GFP_HIGHMEM | __GFP_NOMEMALLOC | \
			 __GFP_NORETRY | __GFP_NOWARN)

/* of all nodes; with a constructor, so that it is never merged with others */
static struct kmem_cache *entries;

static void construct(void *entry)
{
	memset(entry, 0, sizeof(struct nswap_entry));
}

/**
 * nswap_cache_init() - make the slab of entries
 *
 * Context: process, module init.
 * Return: 0, or -ENOMEM.
 */
int nswap_cache_init(void)
{
	entries = kmem_cache_create("nswap_entry", sizeof(struct nswap_entry),
				    0, 0, construct);
	return entries ? 0 : -ENOMEM;
}

/**
 * nswap_cache_exit() - undo nswap_cache_init()
 *
 * Context: process, module exit; complains if an entry is left.
 */
void nswap_cache_exit(void)
{
	kmem_cache_destroy(entries);
}

static void free_entry(struct nswap_entry *e)
{
	__free_page(e->page);
	kmem_cache_free(entries, e);
}

static struct nswap_entry *alloc_entry(void)
{
	struct nswap_entry *e;

	e = kmem_cache_alloc(entries,
			     GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN);
	if (!e)
		return NULL;
	e->page = alloc_page(FILL_GFP);
	if (!e->page) {
		kmem_cache_free(entries, e);
		return NULL;
	}
	return e;
}

/*
 * Entries nobody was promised, while there are more than lent; lock held. At
 * most a chunk: true if there may be more.
 */
static bool take_surplus(struct nswap_cache *c, struct list_head *surplus)
{
	unsigned int n = FILL_CHUNK;

	while (n && c->allocated > c->lent && c->set_aside > c->granted) {
		struct nswap_entry *e = list_first_entry(&c->pool,
						struct nswap_entry, link);

		list_move(&e->link, surplus);
		c->set_aside--;
		c->allocated--;
		n--;
	}
	return !n;
}

static void free_list(struct list_head *list)
{
	struct nswap_entry *e, *next;

	list_for_each_entry_safe(e, next, list, link)
		free_entry(e);
}

static void free_surplus(struct nswap_cache *c)
{
	bool more;

	do {
		LIST_HEAD(surplus);

		spin_lock(&c->lock);
		more = take_surplus(c, &surplus);
		spin_unlock(&c->lock);
		free_list(&surplus);
		cond_resched();
	} while (more);
}

static bool fill_one(struct nswap_cache *c)
{
	struct nswap_entry *e = alloc_entry();

	if (!e)
		return false;
	spin_lock(&c->lock);
	list_add(&e->link, &c->pool);
	c->set_aside++;
	c->allocated++;
	spin_unlock(&c->lock);
	return true;
}

static void fill_work(struct work_struct *work)
{
	struct nswap_cache *c = container_of(to_delayed_work(work),
					     struct nswap_cache, fill);
	struct nswap_mem_view mem;
	unsigned int n;

	nswap_mem_view(c->node, &mem);
	if (mem.available < mem.total / FILL_FLOOR + FILL_CHUNK) {
		queue_delayed_work(system_dfl_wq, &c->fill, FILL_AGAIN);
		return;
	}
	for (n = 0; n < FILL_CHUNK; n++) {
		if (READ_ONCE(c->allocated) >= READ_ONCE(c->lent))
			return;
		if (!fill_one(c)) {
			queue_delayed_work(system_dfl_wq, &c->fill, FILL_AGAIN);
			return;
		}
	}
	queue_delayed_work(system_dfl_wq, &c->fill, 0);
}

/**
 * nswap_cache_start() - make the Nswap Cache of a node
 * @node: node that comes up
 * @pages: how many to lend
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOMEM.
 */
int nswap_cache_start(struct nswap_node *node, u64 pages)
{
	struct nswap_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->node = node;
	mutex_init(&c->hello);
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->pool);
	INIT_LIST_HEAD(&c->owners);
	INIT_DELAYED_WORK(&c->fill, fill_work);
	node->cache = c;
	nswap_cache_lend(c, pages);
	return 0;
}

/**
 * nswap_cache_stop() - drop everything
 * @node: node without connections of owners
 *
 * Context: process, sleeps.
 */
void nswap_cache_stop(struct nswap_node *node)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o, *next;

	if (!c)
		return;
	nswap_cache_lend(c, 0);
	cancel_delayed_work_sync(&c->fill);
	list_for_each_entry_safe(o, next, &c->owners, link) {
		nswap_owner_drop_all(c, o);
		nswap_cache_ungrant(c, o, U32_MAX);
		kfree(o);
	}
	free_surplus(c);
	WARN_ON_ONCE(c->allocated);
	kfree(c);
	node->cache = NULL;
}

/**
 * nswap_cache_lend() - change how many pages are lent
 * @c: cache
 * @pages: from now on; held pages stay until their owners free them
 *
 * Context: process, sleeps.
 */
void nswap_cache_lend(struct nswap_cache *c, u64 pages)
{
	spin_lock(&c->lock);
	WRITE_ONCE(c->lent, pages);
	spin_unlock(&c->lock);
	free_surplus(c);
	if (pages)
		mod_delayed_work(system_dfl_wq, &c->fill, 0);
}

/**
 * nswap_cache_take() - take pages that were granted, to fill them
 * @c: cache
 * @o: owner they were granted to
 * @n: how many
 * @taken: they are added here
 *
 * Context: process, does not sleep or allocate.
 * Return: false if fewer were granted; then nothing is taken.
 */
bool nswap_cache_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken)
{
	bool ok;
	u32 i;

	spin_lock(&c->lock);
	ok = o->granted >= n;
	if (ok) {
		for (i = 0; i < n; i++)
			list_move_tail(c->pool.next, taken);
		o->granted -= n;
		c->granted -= n;
		c->set_aside -= n;
	}
	spin_unlock(&c->lock);
	return ok;
}

/**
 * nswap_cache_give() - entries are not filled (any more)
 * @c: cache
 * @unused: entries nobody refers to
 *
 * Context: process, does not sleep.
 */
void nswap_cache_give(struct nswap_cache *c, struct list_head *unused)
{
	struct nswap_entry *e, *next;
	LIST_HEAD(surplus);

	spin_lock(&c->lock);
	list_for_each_entry_safe(e, next, unused, link) {
		list_move(&e->link, &c->pool);
		c->set_aside++;
	}
	take_surplus(c, &surplus);
	spin_unlock(&c->lock);
	free_list(&surplus);
}

/**
 * nswap_cache_put() - one reference to an entry is over
 * @c: cache
 * @e: entry
 *
 * Context: process, does not sleep.
 */
void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e)
{
	LIST_HEAD(unused);

	if (!refcount_dec_and_test(&e->ref))
		return;
#ifdef NSWAP_INJECT
	if (e->prev) {
		nswap_cache_put(c, e->prev);
		e->prev = NULL;
	}
#endif
	INIT_LIST_HEAD(&e->link);
	list_add(&e->link, &unused);
	nswap_cache_give(c, &unused);
}

/**
 * nswap_cache_take_free() - take pages nobody was promised, to fill them
 * @c: cache
 * @n: how many
 * @taken: they are added here
 *
 * Context: process, does not sleep or allocate.
 * Return: false if there are fewer; then nothing is taken.
 */
bool nswap_cache_take_free(struct nswap_cache *c, u32 n,
			   struct list_head *taken)
{
	bool ok;
	u32 i;

	spin_lock(&c->lock);
	ok = c->set_aside >= c->granted + n && c->held + n <= c->lent;
	for (i = 0; ok && i < n; i++)
		list_move_tail(c->pool.next, taken);
	if (ok)
		c->set_aside -= n;
	spin_unlock(&c->lock);
	return ok;
}

/**
 * nswap_cache_surplus() - pages held beyond what is lent
 * @c: cache
 *
 * Context: any process context; does not sleep.
 * Return: how many have to go elsewhere.
 */
u64 nswap_cache_surplus(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = c->held > c->lent ? c->held - c->lent : 0;
	spin_unlock(&c->lock);
	return n;
}

/* what an owner may get: everything if it is alone, a fair part if not */
static u32 share(struct nswap_cache *c, u64 free)
{
	u64 fair = free / max(c->nr_owners, 1u);

	return min_t(u64, max(fair, min(free, (u64)NSWAP_REQ_SLOTS)), U32_MAX);
}

/**
 * nswap_cache_grant() - promise an owner more pages
 * @c: cache
 * @o: owner
 * @used: pages it has just stored: its window grows with use
 * @wanted: pages it asks for, 0 to go by its window
 *
 * Context: process, does not sleep.
 * Return: how many more it was granted; set aside before the promise is sent.
 */
u32 nswap_cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used,
		      u32 wanted)
{
	u32 add = 0;

	spin_lock(&c->lock);
	o->window = clamp(max(o->window + used, wanted), WINDOW_FIRST,
			  WINDOW_MAX);
	if (o->window > o->granted && c->lent > c->held) {
		add = min(o->window - o->granted,
			  share(c, c->set_aside - c->granted));
		o->granted += add;
		c->granted += add;
	}
	spin_unlock(&c->lock);
	return add;
}

/**
 * nswap_cache_ungrant() - an owner returns grants, or its session is over
 * @c: cache
 * @o: owner
 * @n: how many, at most what it has
 *
 * Context: process, does not sleep.
 */
void nswap_cache_ungrant(struct nswap_cache *c, struct nswap_owner *o, u32 n)
{
	LIST_HEAD(surplus);

	spin_lock(&c->lock);
	n = min(n, o->granted);
	o->granted -= n;
	c->granted -= n;
	o->window = WINDOW_FIRST;
	take_surplus(c, &surplus);
	spin_unlock(&c->lock);
	free_list(&surplus);
}

/**
 * nswap_cache_free_pages() - pages neither filled nor granted
 * @c: cache
 *
 * Context: process, does not sleep.
 * Return: how many.
 */
u64 nswap_cache_free_pages(struct nswap_cache *c)
{
	u64 n;

	spin_lock(&c->lock);
	n = c->set_aside - c->granted;
	spin_unlock(&c->lock);
	return n;
}

/**
 * nswap_cache_count() - pages went into or out of an owner's tree
 * @c: cache
 * @o: owner, its lock held
 * @held: how many, negative for out
 *
 * Context: process, does not sleep.
 */
void nswap_cache_count(struct nswap_cache *c, struct nswap_owner *o, s64 held)
{
	spin_lock(&c->lock);
	o->held += held;
	c->held += held;
	spin_unlock(&c->lock);
}

/**
 * nswap_cache_get_view() - a snapshot of the Nswap Cache
 * @node: node
 * @v: result
 *
 * Context: process, does not sleep.
 */
void nswap_cache_get_view(struct nswap_node *node, struct nswap_cache_view *v)
{
	struct nswap_cache *c = node->cache;

	spin_lock(&c->lock);
	*v = (struct nswap_cache_view){
		.lent = c->lent, .set_aside = c->set_aside,
		.granted = c->granted, .held = c->held, .owners = c->nr_owners,
	};
	spin_unlock(&c->lock);
}

/**
 * nswap_owner_next() - a snapshot of one owner
 * @node: node
 * @after: how many owners have been seen already
 * @v: result
 *
 * Context: process, sleeps.
 * Return: true if there is one.
 */
bool nswap_owner_next(struct nswap_node *node, unsigned int after,
		      struct nswap_owner_view *v)
{
	struct nswap_cache *c = node->cache;
	struct nswap_owner *o;
	bool found = false;

	mutex_lock(&c->hello);
	list_for_each_entry(o, &c->owners, link) {
		if (after--)
			continue;
		*v = (struct nswap_owner_view){
			.id = o->id, .epoch = o->epoch, .held = o->held,
			.granted = o->granted,
			.connected = !list_empty(&o->conns),
		};
		found = true;
		break;
	}
	mutex_unlock(&c->hello);
	return found;
}
