/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Carrier: moves pages between tiers, but from home to peers.
 */
#ifndef NSWAP_PREFETCH_MOVE_H
#define NSWAP_PREFETCH_MOVE_H

#include "prefetch/prefetch.h"

struct nswap_carrier;
struct nswap_device;

struct nswap_carrier *nswap_carrier_make(struct nswap_device *dev, bool asked);
void nswap_carrier_free(struct nswap_carrier *c);
unsigned int nswap_carrier_run(struct nswap_carrier *c, enum nswap_prefetch_way way,
			       u64 first, unsigned long slots, u8 arm);

#endif
