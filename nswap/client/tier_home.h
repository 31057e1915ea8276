/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-outs to home, and page-ins from it.
 */
#ifndef NSWAP_TIER_HOME_H
#define NSWAP_TIER_HOME_H

#include "core/request.h"

int nswap_tier_home_store(struct nswap_io *io, unsigned long slots);
unsigned int nswap_tier_home_load(struct nswap_io *io, unsigned int first);

#endif
