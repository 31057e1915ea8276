// SPDX-License-Identifier: GPL-2.0
/*
 * Replacement policies of the local cache: the paper's, and those of programs.
 *
 * A policy sees the cache's list and says which region goes next; the cache does the rest.
 */
#include <errno.h>

#include "cache.h"

#define POLICIES 16

static void policy_unlink(struct nswap_cache_dir *dir, struct nswap_cached *r)
{
	*(r->prev ? &r->prev->next : &dir->first) = r->next;
	*(r->next ? &r->next->prev : &dir->last) = r->prev;
}

void cache_dir_remove(struct nswap_cache_dir *dir, struct nswap_cached *r)
{
	policy_unlink(dir, r);
	dir->used -= r->len;
}

static void policy_append(struct nswap_cache_dir *dir, struct nswap_cached *r)
{
	r->next = NULL;
	r->prev = dir->last;
	*(dir->last ? &dir->last->next : &dir->first) = r;
	dir->last = r;
}

void cache_dir_add(struct nswap_cache_dir *dir, struct nswap_cached *r)
{
	policy_append(dir, r);
	dir->used += r->len;
}

NSWAP_API void nswap_cache_last(struct nswap_cache_dir *dir, struct nswap_cached *region)
{
	policy_unlink(dir, region);
	policy_append(dir, region);
}

/* Least and most recently used: the list is in order of use. */
static struct nswap_cached *lru_reclaim(struct nswap_cache_dir *dir)
{
	return dir->first;
}

static struct nswap_cached *mru_reclaim(struct nswap_cache_dir *dir)
{
	return dir->last;
}

/* Scans that begin again and again: what came first stays. */
static struct nswap_cached *first_in_reclaim(struct nswap_cache_dir *dir)
{
	(void)dir;
	return NULL;
}

static const struct nswap_policy lru = {
	.name = "lru",
	.on_read = nswap_cache_last,
	.on_write = nswap_cache_last,
	.reclaim = lru_reclaim,
};

static const struct nswap_policy mru = {
	.name = "mru",
	.on_read = nswap_cache_last,
	.on_write = nswap_cache_last,
	.reclaim = mru_reclaim,
};

static const struct nswap_policy first_in = {
	.name = "first-in",
	.reclaim = first_in_reclaim,
};

static const struct nswap_policy *policies[POLICIES] = {
	[NSWAP_LRU] = &lru,
	[NSWAP_MRU] = &mru,
	[NSWAP_FIRST_IN] = &first_in,
};

/* A policy by number, or NULL. */
const struct nswap_policy *policy_get(int number)
{
	return number >= 0 && number < POLICIES ? policies[number] : NULL;
}

NSWAP_API int nswap_policy_add(const struct nswap_policy *policy)
{
	int number;

	if (!policy || !policy->name || !policy->reclaim) {
		errno = EINVAL;
		return -1;
	}
	for (number = 0; number < POLICIES; number++) {
		const struct nswap_policy *none = NULL;

		if (policies[number] == policy ||
		    __atomic_compare_exchange_n(&policies[number], &none, policy, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return number;
	}
	errno = ENOSPC;
	return -1;
}
