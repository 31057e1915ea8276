/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write cache: pages are read.
 */
#ifndef NSWAP_CLIENT_WRITE_CACHE_READ_H
#define NSWAP_CLIENT_WRITE_CACHE_READ_H

#include <linux/blk_types.h>

#include "core/request.h"

bool nswap_cached_read(struct nswap_io *io);
bool nswap_cached_again(struct nswap_device *dev, u64 slot, blk_opf_t flags,
			struct page *page);

#endif
