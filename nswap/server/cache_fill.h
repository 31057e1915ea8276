/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nswap Cache: allocating and freeing its pages.
 */
#ifndef NSWAP_CACHE_FILL_H
#define NSWAP_CACHE_FILL_H

#include "cache.h"

int nswap_cache_init(void);
void nswap_cache_exit(void);
void nswap_cache_free(struct list_head *entries);
u64 nswap_cache_given_back(void);
void nswap_cache_fill_work(struct work_struct *work);
void nswap_cache_fill_kick(struct nswap_cache *c);

#endif
