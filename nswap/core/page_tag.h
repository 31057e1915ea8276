/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page tags: which policy moved a page to a peer, or home, or that a user placed it there.
 */
#ifndef NSWAP_PAGE_TAG_H
#define NSWAP_PAGE_TAG_H

#include "device.h"

#define NSWAP_TAG_PLACED	U8_MAX	/* no policy: a user wants it at home */

static_assert(NSWAP_TAG_PLACED >= NSWAP_PREFETCH_ARMS);

int nswap_page_tag_init(struct nswap_device *dev);
void nswap_page_tag(struct nswap_device *dev, u64 slot, u8 tag);
bool nswap_page_placed(struct nswap_device *dev, u64 slot);
bool nswap_page_tag_hit(struct nswap_device *dev, u64 slot);
void nswap_page_tag_hits(struct nswap_device *dev,
			 u64 hits[NSWAP_PREFETCH_ARMS]);

#endif
