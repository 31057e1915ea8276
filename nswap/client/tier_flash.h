/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-outs to flash, and page-ins from it.
 */
#ifndef NSWAP_TIER_FLASH_H
#define NSWAP_TIER_FLASH_H

#include "core/request.h"

int nswap_tier_flash_store(struct nswap_io *io, unsigned long slots);
unsigned int nswap_tier_flash_load(struct nswap_io *io, unsigned int first);

#endif
