// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher, its copier: a batch of pages that peers hold, on the way to flash.
 *
 *   picked -> read through the device -> written to flash -> linked
 *
 * Pages are read through the device itself, so a peer that is silent, a page
 * that has moved and a message that was lost need no second implementation.
 *
 * Invariants:
 *  - A copy is linked only if the slot's entry is still what it was before the
 *    page was read, but for the reference bit: a rewrite, a free or a move in
 *    between calls it off. Until then the flash slot is this batch's own.
 *  - A batch is small: programs that page in wait behind it on the way from the
 *    peer and at flash.
 *  - One batch at a time, without allocating; nothing is under way between two.
 */
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/slab.h>

#include "backing/flash.h"
#include "backing/home.h"
#include "base/stats.h"
#include "base/types.h"
#include "client/free.h"
#include "core/device.h"
#include "core/device_policy.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "policy/registry.h"
#include "prefetch/prefetch.h"
#include "prefetch_copy.h"
#include "prefetch_scan.h"
#include "pure/slot_map.h"

/**
 * struct slot_copy - one page of a batch
 * @slot: where it belongs
 * @picked: the slot's entry before it was read
 * @unread: it could not be read
 */
struct slot_copy {
	u64 slot;
	struct nswap_slot picked;
	bool unread;
};

/* adjacent slots that are read together */
struct read_run {
	struct nswap_copier *c;
	unsigned int first;
	struct bio bio;
};

/* pages that are written together */
struct write_run {
	struct nswap_copier *c;
	struct nswap_home_io h;
	u32 flash;
	unsigned int first;
};

/**
 * struct nswap_copier - the copier of one device
 * @dev: device
 * @copy: the batch
 * @page: memory of each page of it
 * @nr: pages in it
 * @bvec: their memory for reads
 * @chain: likewise for writes
 * @reads: under way; a struct bio may end in an array
 * @writes: likewise
 * @pending: reads or writes under way, plus one while they are started
 * @ended: none is any more
 */
struct nswap_copier {
	struct nswap_device *dev;
	struct slot_copy copy[NSWAP_COPY_BATCH];
	struct page *page[NSWAP_COPY_BATCH];
	unsigned int nr;
	struct bio_vec bvec[NSWAP_COPY_BATCH];
	struct page_list chain[NSWAP_COPY_BATCH];
	struct read_run *reads[NSWAP_COPY_BATCH];
	struct write_run writes[NSWAP_COPY_BATCH];
	atomic_t pending;
	struct completion ended;
};

static void begin_wait(struct nswap_copier *c)
{
	atomic_set(&c->pending, 1);
	reinit_completion(&c->ended);
}

static void one_ended(struct nswap_copier *c)
{
	if (atomic_dec_and_test(&c->pending))
		complete(&c->ended);
}

static void end_wait(struct nswap_copier *c)
{
	one_ended(c);
	wait_for_completion(&c->ended);
}

static void read_ended(struct bio *bio)
{
	struct read_run *r = container_of(bio, struct read_run, bio);
	unsigned int i;

	if (bio->bi_status)
		for (i = 0; i < bio->bi_vcnt; i++)
			r->c->copy[r->first + i].unread = true;
	one_ended(r->c);
}

static void read_run(struct nswap_copier *c, unsigned int first,
		     unsigned int nr)
{
	struct read_run *r = c->reads[first];
	unsigned int i;

	r->c = c;
	r->first = first;
	bio_init(&r->bio, c->dev->disk->part0, &c->bvec[first], nr,
		 REQ_OP_READ | NSWAP_REQ_AHEAD);
	r->bio.bi_iter.bi_sector = c->copy[first].slot * NSWAP_SECTORS_PER_SLOT;
	r->bio.bi_end_io = read_ended;
	for (i = 0; i < nr; i++)
		__bio_add_page(&r->bio, c->page[first + i], PAGE_SIZE, 0);
	atomic_inc(&c->pending);
	submit_bio(&r->bio);
}

/* what could be read stays in the batch */
static void read_batch(struct nswap_copier *c)
{
	unsigned int i, end, n = 0;

	begin_wait(c);
	for (i = 0; i < c->nr; i = end) {
		end = i + 1;
		while (end < c->nr &&
		       c->copy[end].slot == c->copy[end - 1].slot + 1)
			end++;
		read_run(c, i, end - i);
	}
	end_wait(c);
	for (i = 0; i < c->nr; i = end) {
		end = i + c->reads[i]->bio.bi_vcnt;
		bio_uninit(&c->reads[i]->bio);
	}
	for (i = 0; i < c->nr; i++) {
		if (c->copy[i].unread)
			continue;
		swap(c->copy[n], c->copy[i]);
		swap(c->page[n], c->page[i]);
		n++;
	}
	nswap_stat_add(c->dev->node, prefetch_called_off, c->nr - n);
	c->nr = n;
}

static void write_ended(struct nswap_home_io *h)
{
	struct write_run *w = container_of(h, struct write_run, h);

	nswap_flash_ended(w->c->dev->flash, w->flash, h->failed);
	one_ended(w->c);
}

/* how many of the pages from @first on are under way; 0: flash has no room */
static unsigned int write_run(struct nswap_copier *c, unsigned int first)
{
	struct nswap_flash *flash = c->dev->flash;
	struct write_run *w = &c->writes[first];
	unsigned int nr;

	nr = nswap_flash_take(flash, c->nr - first, &w->flash);
	if (!nr)
		return 0;
	w->c = c;
	w->first = first;
	nswap_home_set_pages(&w->h, &c->chain[first], &c->page[first], nr);
	w->h.write = true;
	w->h.end = write_ended;
	atomic_inc(&c->pending);
	nswap_flash_hold(flash, w->flash);
	nswap_flash_submit(flash, w->flash, &w->h);
	return nr;
}

/* -> REMOTE(flash) or FLASH, if it still is the entry that was picked */
static bool prefetch_slot_copied(struct nswap_slot *s, const struct nswap_slot *picked,
				 u32 flash, bool move)
{
	if (!nswap_slot_same(s, picked))
		return false;
	s->flash = flash;
	if (move) {
		s->state = NSWAP_SLOT_FLASH;
		s->peer = 0;
	}
	return true;
}

/* flash has the page: say so, if it still is what the slot holds */
static bool link_copy(struct nswap_copier *c, const struct slot_copy *copy,
		      u32 flash)
{
	struct nswap_device *dev = c->dev;
	bool move = nswap_device_policy(dev, NSWAP_PREFETCH_AFTER) ==
		    &nswap_prefetch_move;
	struct nswap_slot was;

	if (!nswap_slot_update(dev, copy->slot, &was, prefetch_slot_copied,
			       &copy->picked, flash, move))
		return false;
	if (move)
		nswap_free_orphan(dev, copy->slot, was.gen, was.peer);
	return true;
}

/* pages linked */
static unsigned int link_run(struct nswap_copier *c,
			     const struct write_run *w, u8 arm)
{
	struct nswap_flash *flash = c->dev->flash;
	unsigned int i, n = 0;

	for (i = 0; i < w->h.nr; i++) {
		nswap_flash_tag(flash, w->flash + i, arm);
		if (!w->h.failed &&
		    link_copy(c, &c->copy[w->first + i], w->flash + i))
			n++;
		else
			nswap_flash_put(flash, w->flash + i);
	}
	return n;
}

/* writes the batch to flash; pages that are there now; @more: go on? */
static unsigned int write_batch(struct nswap_copier *c, u8 arm, bool *more)
{
	unsigned int i, nr, end, n = 0;

	begin_wait(c);
	for (end = 0; end < c->nr; end += nr) {
		nr = write_run(c, end);
		if (!nr)
			break;
	}
	end_wait(c);
	*more = end == c->nr;
	for (i = 0; i < end; i += c->writes[i].h.nr) {
		n += link_run(c, &c->writes[i], arm);
		if (c->writes[i].h.failed)
			*more = false;
	}
	nswap_stat_add(c->dev->node, pages_prefetched, n);
	nswap_stat_add(c->dev->node, prefetch_called_off, c->nr - n);
	return n;
}

/**
 * nswap_copier_run() - bring pages to flash
 * @c: copier
 * @picked: pages, each once
 * @nr: how many, NSWAP_COPY_BATCH at most
 * @arm: by whose word, see nswap_flash_tag()
 * @more: result, whether to go on: not if flash has no room or has failed; left
 *	as it is if no page could be read
 *
 * Context: process, sleeps for reads of peers and for flash; one at a time.
 * Return: pages that are there now.
 */
unsigned int nswap_copier_run(struct nswap_copier *c,
			      const struct nswap_picked *picked,
			      unsigned int nr, u8 arm, bool *more)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		c->copy[i] = (struct slot_copy){
			.slot = picked[i].slot, .picked = picked[i].entry,
		};
	c->nr = nr;
	read_batch(c);
	return c->nr ? write_batch(c, arm, more) : 0;
}

/**
 * nswap_copier_make() - make a device's copier
 * @dev: device with flash
 *
 * Context: process, sleeps; all the memory that its batches need.
 * Return: copier, or NULL without memory.
 */
struct nswap_copier *nswap_copier_make(struct nswap_device *dev)
{
	struct nswap_copier *c = kzalloc_obj(*c);
	unsigned int i;

	if (!c)
		return NULL;
	c->dev = dev;
	init_completion(&c->ended);
	for (i = 0; i < NSWAP_COPY_BATCH; i++) {
		c->page[i] = alloc_page(GFP_KERNEL);
		c->reads[i] = kzalloc_obj(*c->reads[i]);
		if (!c->page[i] || !c->reads[i]) {
			nswap_copier_free(c);
			return NULL;
		}
	}
	return c;
}

/**
 * nswap_copier_free() - undo nswap_copier_make()
 * @c: copier that runs no batch, or NULL
 *
 * Context: process.
 */
void nswap_copier_free(struct nswap_copier *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < NSWAP_COPY_BATCH; i++) {
		if (c->page[i])
			__free_page(c->page[i]);
		kfree(c->reads[i]);
	}
	kfree(c);
}
