/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nswap Cache: shrinker and OOM notifier.
 */
#ifndef NSWAP_CACHE_SHRINK_H
#define NSWAP_CACHE_SHRINK_H

#include "cache.h"

int nswap_cache_shrink_init(void);
void nswap_cache_shrink_exit(void);
void nswap_cache_watch(struct nswap_cache *c);
void nswap_cache_unwatch(struct nswap_cache *c);

#endif
