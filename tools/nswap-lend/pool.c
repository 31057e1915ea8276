// SPDX-License-Identifier: GPL-2.0
/*
 * Pool: in place of the module's units that take pages from the machine, give them back,
 * and wait until no socket refers to them.
 *
 *   here -> the cache's (set aside, granted, filled, held) -> here, when less is lent
 *
 * Invariants:
 *  - All pages, and what there is about each, are allocated at the start and never again;
 *    they are touched then, so a machine that has not as much says so at once.
 *  - A page is cleared when nothing refers to it any more, before any other page is put
 *    there: what an owner freed is gone from this program's memory, and from a core dump.
 *  - What is sent is copied into the socket, so no socket refers to a page.
 */
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/node.h"
#include "pool.h"
#include "server/cache.h"

/* bytes to be locked beside the pool: half for what the program is, half for connections */
#define LOCK_MORE	(64 << 20)

static struct {
	spinlock_t lock;
	struct list_head idle;	/* entries that are not the cache's, under @lock */
	struct nswap_entry *entry;
	struct page *page;
	u64 pages;
	char why[256];
} pool = { .lock = { PTHREAD_MUTEX_INITIALIZER } };

/* has the machine as much to spare? in a memory group it may be less than that */
static const char *pool_no_ram(size_t bytes)
{
	unsigned long long kib, available = 0;
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			available = kib;
	if (file)
		fclose(file);
	if (!available || bytes >> 10 <= available)
		return NULL;
	snprintf(pool.why, sizeof(pool.why),
		 "this machine has less than %zu MiB to lend, %llu MiB are available",
		 bytes >> 20, available >> 10);
	return pool.why;
}

static void *pool_map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, bytes, MADV_DONTDUMP);
	return at;
}

/*
 * All of the program: a page-in takes its code, keys and buffers too. What is mapped later, as
 * stacks, is locked as it is touched; its room is looked for now, since a thread that cannot
 * be made then says nothing. One arena: each other one maps 64 MiB, which count as locked.
 * NULL, or why not.
 */
static const char *pool_lock(size_t bytes)
{
	size_t need = (bytes + LOCK_MORE) >> 10;
	struct rlimit limit = {};
	void *room = NULL;

	mallopt(M_ARENA_MAX, 1);
	if (!mlockall(MCL_CURRENT) && !mlockall(MCL_FUTURE | MCL_ONFAULT))
		room = pool_map(LOCK_MORE / 2);
	if (room) {
		munmap(room, LOCK_MORE / 2);
		return NULL;
	}
	getrlimit(RLIMIT_MEMLOCK, &limit);
	snprintf(pool.why, sizeof(pool.why),
		 "cannot lock its memory, RLIMIT_MEMLOCK is %llu KiB: raise it to %zu KiB (ulimit -l %zu, or LimitMEMLOCK=%zuK in a unit), or leave --lock out",
		 (unsigned long long)limit.rlim_cur >> 10, need, need, need);
	return pool.why;
}

const char *lend_pool_start(u64 pages, bool lock)
{
	size_t bytes = pages * PAGE_SIZE, about = pages * sizeof(struct nswap_entry);
	const char *why;
	u64 i;

	INIT_LIST_HEAD(&pool.idle);
	why = pool_no_ram(bytes + about);
	if (why)
		return why;
	pool.pages = pages;
	pool.page = pool_map(bytes);
	pool.entry = pool_map(about);
	if (!pool.page || !pool.entry)
		return "there is no memory for what is to be lent";
	why = lock ? pool_lock(bytes + about) : NULL;
	if (why)
		return why;
	memset(pool.page, 0, bytes);
	for (i = 0; i < pages; i++) {
		pool.entry[i].page = &pool.page[i];
		list_add_tail(&pool.entry[i].link, &pool.idle);
	}
	return NULL;
}

void lend_pool_stop(void)
{
	if (!pool.pages)
		return;
	munmap(pool.page, pool.pages * PAGE_SIZE);
	munmap(pool.entry, pool.pages * sizeof(*pool.entry));
}

/* set pages aside, as many as are wanted; no lock held */
void nswap_cache_fill_kick(struct nswap_cache *c)
{
	struct nswap_entry *e;

	spin_lock(&c->lock);
	spin_lock(&pool.lock);
	while (nswap_cache_lacks(c) &&
	       (e = list_first_entry_or_null(&pool.idle, struct nswap_entry, link))) {
		list_move(&e->link, &c->pool);
		c->set_aside++;
		c->allocated++;
	}
	spin_unlock(&pool.lock);
	spin_unlock(&c->lock);
}

static void pool_clear(struct nswap_entry *e)
{
	if (e->clear)
		memset(e->page, 0, PAGE_SIZE);
	e->clear = false;
}

/*
 * Give entries back to the pool; no lock held. Less is lent only before the end, which gives
 * the machine all of it at once: page by page it takes seconds for each GiB.
 */
void nswap_cache_free(struct list_head *entries)
{
	struct nswap_entry *e;

	list_for_each_entry(e, entries, link)
		pool_clear(e);
	spin_lock(&pool.lock);
	list_splice_init(entries, &pool.idle);
	spin_unlock(&pool.lock);
}

/* may what is in an entry's page not be replaced by another page at once? */
bool nswap_cache_referred(const struct nswap_entry *e)
{
	return e->clear;
}

/* an entry has lost its last user; false: no socket refers to its page */
bool nswap_cache_sent(struct nswap_cache *c, struct nswap_entry *e)
{
	(void)c;
	pool_clear(e);
	return false;
}

bool nswap_cache_may_refer(struct nswap_cache *c, const struct nswap_owner *o)
{
	(void)c;
	(void)o;
	return false;
}

/* works that are never queued */
void nswap_cache_fill_work(struct work_struct *work)
{
	(void)work;
}

void nswap_cache_sent_work(struct work_struct *work)
{
	(void)work;
}

void nswap_cache_sent_stop(struct nswap_cache *c)
{
	(void)c;
}
