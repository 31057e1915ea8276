// SPDX-License-Identifier: GPL-2.0
/*
 * Page tags: one byte a slot says which policy moved its page to a peer or home, so
 * that page-ins can be counted for that policy; or that a user placed it at home, so that
 * it does not move out from there by itself.
 *
 * Invariants:
 *  - A page is tagged before its new place is recorded, with 0 unless the
 *    prefetcher chose it. The tag is cleared when its slot is written again, or
 *    its move finds that it was. Tags belong to the slot, and are written by the task
 *    that moves it, WRITING or not. None decides where a page is: at worst one that
 *    was rewritten just then stays at home, one that was moving out just then does not,
 *    or a read is counted for another policy.
 *  - The bytes are a side table of a device with a home; others get one when their
 *    prefetcher first brings pages to peers.
 */
#include "node.h"
#include "page_tag.h"

static u8 *page_tag_of(struct nswap_device *dev, u64 slot)
{
	/* pairs with nswap_page_tag_init() */
	struct nswap_side_table *tags = READ_ONCE(dev->page_tags);

	return tags ? nswap_side_entry(tags, slot) : NULL;
}

/*
 * Make the table of a device without a home, if it has none; process, sleeps; the node's
 * control lock is held. Returns 0, or -ENOMEM: nothing is counted.
 */
int nswap_page_tag_init(struct nswap_device *dev)
{
	struct nswap_side_table *tags;

	if (dev->page_tags)
		return 0;
	tags = nswap_side_add(&dev->side, "prefetched", BITS_PER_BYTE);
	if (!tags)
		return -ENOMEM;
	/* readers find zeros */
	smp_store_release(&dev->page_tags, tags);
	return 0;
}

/* Record which policy moved a page; any; does not sleep, page-out path. */
void nswap_page_tag(struct nswap_device *dev, u64 slot, u8 tag)
{
	u8 *at = page_tag_of(dev, slot);

	if (at && READ_ONCE(*at) != tag)
		WRITE_ONCE(*at, tag);
}

/* was the page placed at home by a user? any; does not sleep */
bool nswap_page_placed(struct nswap_device *dev, u64 slot)
{
	u8 *at = page_tag_of(dev, slot);

	return at && READ_ONCE(*at) == NSWAP_TAG_PLACED;
}

/*
 * A page was read: count a hit for its tag. Context: any; does not sleep, on the page-in
 * path. Returns false if it has none.
 */
bool nswap_page_tag_hit(struct nswap_device *dev, u64 slot)
{
	u8 *at = page_tag_of(dev, slot);
	u8 tag = at ? READ_ONCE(*at) : 0;

	if (tag == NSWAP_TAG_PLACED)
		return false;
	if (tag)
		atomic_inc(&dev->tag_hits[tag]);
	return tag;
}

/* read and reset the hit counts */
void nswap_page_tag_hits(struct nswap_device *dev, u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		hits[i] = atomic_xchg(&dev->tag_hits[i], 0);
}
