/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefetcher, copier: copies pages that peers hold to flash.
 */
#ifndef NSWAP_PREFETCH_COPY_H
#define NSWAP_PREFETCH_COPY_H

#include "base/types.h"

#define NSWAP_COPY_BATCH	2	/* small: page-ins queue behind a batch */

struct nswap_copier;
struct nswap_picked;

struct nswap_copier *nswap_copier_make(struct nswap_device *dev);
void nswap_copier_free(struct nswap_copier *c);
unsigned int nswap_copier_run(struct nswap_copier *c,
			      const struct nswap_picked *picked,
			      unsigned int nr, u8 arm, bool *more);

#endif
