/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weights of owners, as users set them.
 */
#ifndef NSWAP_WEIGHTS_H
#define NSWAP_WEIGHTS_H

#include "base/views.h"
#include "cache.h"
#include "pure/weight.h"

u32 nswap_weights_of(const struct nswap_cache *c, u64 id);
void nswap_weights_free(struct nswap_cache *c);

#endif
