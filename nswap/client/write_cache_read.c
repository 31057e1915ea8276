// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache of a device: pages are read.
 *
 * Invariant: what is here is read in place of what is below, each time that a page of a
 * program's is read there: when its request comes, and again when its bio has left that.
 */
#include <linux/highmem.h>

#include "core/device.h"
#include "core/write_cache.h"
#include "write_cache_read.h"

/* the page of a slot, if it is here; the lock is not held */
static bool cached_get(struct nswap_write_cache *w, u32 slot, struct page *page)
{
	struct nswap_wc_entry *e;
	unsigned long flags;

	spin_lock_irqsave(&w->lock, flags);
	e = nswap_wc_readable(&w->table, slot);
	if (e) {
		copy_highpage(page, e->page);
		nswap_wc_touch(&w->table, e);
	}
	w->hits += !!e;
	w->misses += !e;
	spin_unlock_irqrestore(&w->lock, flags);
	return e;
}

/**
 * nswap_cached_read() - pages are read: give what is here
 * @io: page-in that the block layer has just given, of a device with a write cache
 *
 * Context: queue_rq(), page-in path: does not sleep or allocate.
 * Return: true if all of it was here; else its @served says which slots.
 */
bool nswap_cached_read(struct nswap_io *io)
{
	unsigned int i;

	for (i = !io->slot[0]; i < io->nr; i++)
		if (cached_get(io->dev->write_cache, io->slot[i], io->page[i]))
			io->served |= BIT(i);
	return io->served == GENMASK(io->nr - 1, 0);
}

/*
 * The same for one page of a bio that has left its request to be read page by page, those
 * that were here too: what is below may be older. @flags: the bio's. Process, page-in path.
 */
bool nswap_cached_again(struct nswap_device *dev, u64 slot, blk_opf_t flags,
			struct page *page)
{
	return dev->write_cache && (flags & NSWAP_REQ_BELOW) != NSWAP_REQ_BELOW &&
	       cached_get(dev->write_cache, slot, page);
}
