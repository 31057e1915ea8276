// SPDX-License-Identifier: GPL-2.0
/*
 * Nswap Cache: allocating and freeing its pages.
 *
 * Invariants:
 *  - Pages are set aside by the fill work only, without direct reclaim and without
 *    memory reserves: a node that is short of memory does not pay for stores.
 *  - Nothing is set aside for a while after reclaim has taken pages back.
 *  - Entries are freed outside every lock, and each page that goes back to the
 *    machine is counted: the OOM notifier measures progress by it.
 */
#include <linux/atomic.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/inject.h"
#include "core/meminfo.h"
#include "core/node.h"

#define FILL_CHUNK	1024	/* pages set aside before the work requeues itself */
#define FILL_FLOOR	20	/* leave this node's programs a 20th of RAM */
#define FILL_AGAIN	HZ	/* retry when there was no memory */

/* free memory only: lending must neither make this node reclaim nor use reserves */
#define FILL_GFP	(GFP_NOWAIT | __GFP_HIGHMEM | __GFP_NOMEMALLOC | \
			 __GFP_NORETRY | __GFP_NOWARN)

static atomic64_t given_back = ATOMIC64_INIT(0);

/* for all nodes; with a constructor, so that the slab is never merged with others */
static struct kmem_cache *entries;

static void cache_construct(void *entry)
{
	memset(entry, 0, sizeof(struct nswap_entry));
}

/* create the slab of entries. Returns 0, or -ENOMEM */
int nswap_cache_init(void)
{
	entries = kmem_cache_create("nswap_entry", sizeof(struct nswap_entry),
				    0, 0, cache_construct);
	return entries ? 0 : -ENOMEM;
}

/* undo nswap_cache_init(); process, module exit; complains if an entry is left */
void nswap_cache_exit(void)
{
	kmem_cache_destroy(entries);
}

static void free_entry(struct nswap_entry *e)
{
	/* what an owner had there is not for those who get it next */
	if (e->clear && !want_init_on_free())
		clear_highpage(e->page);
	nswap_inject_freed(e->page);
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
	e->clear = false;
	e->page = alloc_page(FILL_GFP);
	if (!e->page) {
		kmem_cache_free(entries, e);
		return NULL;
	}
	return e;
}

/**
 * nswap_cache_free() - give entries back to the machine
 * @entries: entries without users; the list is invalid afterwards
 *
 * Context: process, on the reclaim path; does not sleep or allocate.
 */
void nswap_cache_free(struct list_head *entries)
{
	struct nswap_entry *e, *next;
	u64 n = 0;

	list_for_each_entry_safe(e, next, entries, link) {
		free_entry(e);
		n++;
	}
	if (n)
		atomic64_add(n, &given_back);
}

/* number of pages all nodes have given back so far */
u64 nswap_cache_given_back(void)
{
	return atomic64_read(&given_back);
}

/* false if the node has enough, or there is no memory */
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

static bool cache_lacks(struct nswap_cache *c)
{
	bool ret;

	spin_lock(&c->lock);
	ret = nswap_cache_lacks(c);
	spin_unlock(&c->lock);
	return ret;
}

/*
 * Set pages aside until there are enough. Context: process, system work queue; sleeps.
 */
void nswap_cache_fill_work(struct work_struct *work)
{
	struct nswap_cache *c = container_of(to_delayed_work(work),
					     struct nswap_cache, fill);
	struct nswap_mem_view mem;
	unsigned int n;

	nswap_mem_view(c->node, &mem);
	if (mem.available < mem.total / FILL_FLOOR + FILL_CHUNK) {
		if (cache_lacks(c))
			queue_delayed_work(system_dfl_wq, &c->fill, FILL_AGAIN);
		return;
	}
	for (n = 0; n < FILL_CHUNK; n++) {
		if (!cache_lacks(c))
			return;
		if (!fill_one(c)) {
			queue_delayed_work(system_dfl_wq, &c->fill, FILL_AGAIN);
			return;
		}
	}
	queue_delayed_work(system_dfl_wq, &c->fill, 0);
}

/* start the fill work; one that waits for memory keeps its delay */
void nswap_cache_fill_kick(struct nswap_cache *c)
{
	queue_delayed_work(system_dfl_wq, &c->fill, 0);
}
