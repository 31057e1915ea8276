// SPDX-License-Identifier: GPL-2.0
/*
 * Page tags: one byte a slot says which policy moved its page from home to a
 * peer, so that page-ins can be counted for that policy.
 *
 * Invariants:
 *  - A page is tagged before its new place is recorded, with 0 unless the
 *    prefetcher chose it. The tag is cleared when its slot is written again, or
 *    its move finds that it was. Tags are for counting only: they belong to the
 *    slot, and are written by the task that moves it, WRITING or not.
 *  - The bytes are a side table of a device with a home.
 */
#include "node.h"
#include "page_tag.h"

static u8 *page_tag_of(struct nswap_device *dev, u64 slot)
{
	return dev->page_tags ? nswap_side_entry(dev->page_tags, slot) : NULL;
}

/* Record which policy moved a page to its peer; any; does not sleep, page-out path. */
void nswap_page_tag(struct nswap_device *dev, u64 slot, u8 tag)
{
	u8 *at = page_tag_of(dev, slot);

	if (at && READ_ONCE(*at) != tag)
		WRITE_ONCE(*at, tag);
}

/*
 * A page was read from a peer: count a hit for its tag. Context: any; does not sleep,
 * on the page-in path.
 */
void nswap_page_tag_hit(struct nswap_device *dev, u64 slot)
{
	u8 *at = page_tag_of(dev, slot);
	u8 tag = at ? READ_ONCE(*at) : 0;

	if (!tag)
		return;
	atomic_inc(&dev->tag_hits[tag]);
	nswap_stat_inc(dev->node, prefetch_ram_hits);
}

/* read and reset the hit counts */
void nswap_page_tag_hits(struct nswap_device *dev, u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		hits[i] = atomic_xchg(&dev->tag_hits[i], 0);
}
