/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nswap Cache: how many pages. The first group needs the cache's lock held.
 */
#ifndef NSWAP_CACHE_SIZE_H
#define NSWAP_CACHE_SIZE_H

#include "cache.h"

bool nswap_cache_holding(const struct nswap_cache *c);
bool nswap_cache_shrinks(const struct nswap_cache *c);
u64 nswap_cache_above(const struct nswap_cache *c);
u64 nswap_cache_room(const struct nswap_cache *c);
bool nswap_cache_lacks(const struct nswap_cache *c);
void nswap_cache_revoke(struct nswap_cache *c, u64 n);
bool nswap_cache_trim(struct nswap_cache *c, struct list_head *out);
void nswap_cache_changed(struct nswap_cache *c, u64 old, u64 new,
			 enum nswap_resize_why why);
void nswap_cache_lend(struct nswap_cache *c, u64 pages);
void nswap_cache_adapt(struct nswap_cache *c, bool adaptive);
void nswap_cache_resize(struct nswap_cache *c, u64 pages);
void nswap_cache_close(struct nswap_cache *c);

#endif
