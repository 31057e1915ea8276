// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher, copier: copies a batch of pages that peers hold to flash.
 *
 *   picked -> read through the device -> written to flash -> linked
 *
 * Pages are read through the device itself, so silent peers, moved pages and lost
 * messages are handled by the page-in code.
 *
 * Invariants:
 *  - A copy is linked only if the slot's entry is the same as before the page was
 *    read, except for the reference bit: a rewrite, a free or a move in between
 *    cancels it. Until then the flash slot belongs to this batch.
 *  - A batch is small: page-ins queue behind it on the connection from the peer and
 *    at flash.
 *  - One batch at a time, without allocating; nothing is under way between batches.
 */
#include <linux/bio.h>
#include <linux/slab.h>

#include "client/batch.h"
#include "client/free.h"
#include "core/device_policy.h"
#include "core/slot_update.h"
#include "prefetch_copy.h"
#include "prefetch_scan.h"
#include "read_through.h"

/**
 * struct nswap_copier - the copier of one device
 * @b: the batch
 * @read: of its pages, see nswap_read_through()
 */
struct nswap_copier {
	struct nswap_batch b;
	struct bio *read;
};

/* -> REMOTE(flash) or FLASH, if the entry is still the one that was picked */
static bool prefetch_slot_copied(struct nswap_slot *s, const struct nswap_slot *picked,
				 u32 flash, bool move)
{
	if (!nswap_slot_same(s, picked))
		return false;
	s->flash = flash;
	s->referenced = false;
	if (move) {
		s->state = NSWAP_SLOT_FLASH;
		s->peer = 0;
	}
	return true;
}

/* record the copy on flash; false if the slot has changed since it was picked */
static bool copier_link(struct nswap_device *dev, const struct nswap_picked *p,
			u32 flash)
{
	bool move = nswap_device_policy(dev, NSWAP_PREFETCH_AFTER) ==
		    &nswap_prefetch_move;
	struct nswap_slot was;

	if (!nswap_slot_update(dev, p->slot, &was, prefetch_slot_copied,
			       &p->entry, flash, move))
		return false;
	if (move)
		nswap_free_orphan(dev, p->slot, was.gen, was.peer);
	return true;
}

/*
 * Copy a batch to flash; process, sleeps for page-ins and flash; one batch at a time.
 * Returns how many were linked; @more is cleared when flash did not take all.
 */
unsigned int nswap_copier_run(struct nswap_copier *c,
			      const struct nswap_picked *picked,
			      unsigned int nr, u8 arm, bool *more)
{
	struct nswap_device *dev = c->b.io.dev;
	unsigned long pages, left;
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		c->b.io.slot[i] = picked[i].slot;
	pages = nswap_read_through(&c->b, c->read, GENMASK(nr - 1, 0));
	if (pages) {
		left = nswap_batch_write_flash(&c->b, pages);
		*more = !left;
		pages &= ~left;
	}
	for_each_set_bit(i, &pages, NSWAP_COPY_BATCH) {
		nswap_flash_tag(dev->flash, c->b.flash[i], arm);
		if (copier_link(dev, &picked[i], c->b.flash[i]))
			n++;
		else
			nswap_flash_put(dev->flash, c->b.flash[i]);
	}
	nswap_stat_add(dev->node, pages_prefetched, n);
	nswap_stat_add(dev->node, prefetch_called_off, nr - n);
	return n;
}

/* allocates all memory that batches need; NULL without memory */
struct nswap_copier *nswap_copier_make(struct nswap_device *dev)
{
	struct nswap_copier *c = kzalloc_obj(*c);

	if (!c)
		return NULL;
	c->read = kzalloc_objs(*c->read, NSWAP_COPY_BATCH);
	if (c->read && nswap_batch_init(&c->b, dev, NSWAP_COPY_BATCH))
		return c;
	nswap_copier_free(c);
	return NULL;
}

/* @c runs no batch, or is NULL */
void nswap_copier_free(struct nswap_copier *c)
{
	if (!c)
		return;
	nswap_batch_exit(&c->b);
	kfree(c->read);
	kfree(c);
}
