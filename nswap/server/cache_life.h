/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nswap Cache: start and stop with its node.
 */
#ifndef NSWAP_CACHE_LIFE_H
#define NSWAP_CACHE_LIFE_H

#include "cache.h"

int nswap_cache_start(struct nswap_node *node, u64 pages);
void nswap_cache_stop(struct nswap_node *node);

#endif
