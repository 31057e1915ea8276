/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefetcher: copies or moves pages ahead of their use from one tier of their device
 * to another.
 */
#ifndef NSWAP_PREFETCHER_H
#define NSWAP_PREFETCHER_H

#include "base/types.h"

struct nswap_node;

int nswap_prefetcher_alloc(struct nswap_device *dev);
void nswap_prefetcher_free(struct nswap_device *dev);
void nswap_prefetcher_start(struct nswap_device *dev);
void nswap_prefetcher_stop(struct nswap_device *dev);
void nswap_prefetcher_tick(struct nswap_device *dev);
bool nswap_prefetcher_of_disk(const struct nswap_device *dev);
void nswap_prefetchers_kick(struct nswap_node *node);

#endif
