// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache of a device: pages that programs have written, in front of all else.
 *
 * Its memory is made with the device. A page-in of what is here is answered at once. A
 * page-out leaves its page here, in place of the one that was used longest ago, and ends
 * when the page is at its place below; with early acknowledgement (@early) it ends when the
 * page is here, and the page is sent later (write_cache_send.c). When all that is here is
 * dirty, kept or under way, page-outs go as without a cache.
 *
 * Invariants:
 *  - It stands above the slot map, at the device's surface: what is here is what programs
 *    wrote last, and a dirty page is newer than anything below. Below nothing knows of it:
 *    copies, groups, moves, prefetch, keys and comparison see the slot as it was sent last,
 *    and what this module reads through the device (NSWAP_REQ_BELOW) passes it by, unless
 *    it was parked meanwhile: then it may get a newer page, as if that had been sent.
 *  - A dirty page stays until its page-out below has ended well; if that fails it stays dirty,
 *    and is sent again. If it ended with fewer copies than the device's protection promises,
 *    the page stays until it has them (write_cache_kept.c).
 *  - Two page-outs of a slot end below in the order in which they came: one that finds the
 *    slot's page being sent waits for that (cached_behind()), which waits for no tag
 *    and no other request, before it claims anything.
 *  - What is freed is dropped here before it is freed below. What is being sent meanwhile,
 *    perhaps not claimed yet, is freed again when it has been sent, before any other
 *    page-out of the slot may go on.
 *  - Nothing allocates, and nothing waits for the cache: it only makes requests shorter.
 *  - @lock is held for one page at a time; slots are freed with interrupts off.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "base/views.h"
#include "core/node.h"
#include "core/parity.h"
#include "pageout.h"
#include "request_queue.h"
#include "write_cache.h"

#define BATCHES	16	/* 512 pages on their way out at most */

/*
 * @bytes: whole pages. Process, sleeps. Returns 0, or -ENOMEM; nswap_write_cache_exit()
 * either way.
 */
int nswap_write_cache_init(struct nswap_device *dev, u64 bytes, bool early)
{
	struct nswap_write_cache *w = kzalloc_obj(*w);
	unsigned int i;

	if (!w)
		return -ENOMEM;
	dev->write_cache = w;
	w->dev = dev;
	w->early = early;
	spin_lock_init(&w->lock);
	INIT_LIST_HEAD(&w->idle);
	INIT_LIST_HEAD(&w->flushing);
	INIT_LIST_HEAD(&w->flush_next);
	INIT_DELAYED_WORK(&w->send, nswap_cached_send_work);
	INIT_DELAYED_WORK(&w->kept, nswap_cached_kept_work);
	init_waitqueue_head(&w->wait);
	w->retry = jiffies;
	if (!nswap_wc_init(&w->table, bytes >> PAGE_SHIFT))
		return -ENOMEM;
	if (!early)
		return 0;
	for (i = 0; i < BATCHES; i++) {
		/* one by one: see struct nswap_io */
		struct nswap_wc_batch *b = kzalloc_obj(*b);

		if (!b)
			return -ENOMEM;
		b->cache = w;
		list_add_tail(&b->link, &w->idle);
	}
	w->nr_idle = BATCHES;
	return 0;
}

/* process, when no request is left and nswap_write_cache_stop() was called, if it was used */
void nswap_write_cache_exit(struct nswap_device *dev)
{
	struct nswap_write_cache *w = dev->write_cache;
	struct nswap_wc_batch *b, *next;

	if (!w)
		return;
	list_for_each_entry_safe(b, next, &w->idle, link)
		kfree(b);
	nswap_wc_exit(&w->table);
	dev->write_cache = NULL;
	kfree(w);
}

/* drop dirty pages, a few at a time: there may be millions. False: none is left */
static bool cached_forget(struct nswap_write_cache *w)
{
	struct nswap_wc_entry *e;
	unsigned int n;

	spin_lock_irq(&w->lock);
	w->ended = true;
	for (n = 0; n < NSWAP_SLOT_CHUNK; n++) {
		e = list_first_entry_or_null(&w->table.list[NSWAP_WC_DIRTY],
					     struct nswap_wc_entry, link);
		if (!e)
			break;
		nswap_cached_left(w, e);
		nswap_wc_move(&w->table, e, NSWAP_WC_FREE);
	}
	spin_unlock_irq(&w->lock);
	cond_resched();
	return n == NSWAP_SLOT_CHUNK;
}

/*
 * The device goes, with all that is in it: what is dirty is dropped, what is on its way is
 * waited for. Process, sleeps.
 */
void nswap_write_cache_stop(struct nswap_device *dev)
{
	struct nswap_write_cache *w = dev->write_cache;

	if (!w)
		return;
	while (cached_forget(w))
		;
	if (w->early)
		wait_event(w->wait, READ_ONCE(w->nr_idle) == BATCHES);
	/* what has woken this task has let go of the lock then */
	spin_lock_irq(&w->lock);
	spin_unlock_irq(&w->lock);
	cancel_delayed_work_sync(&w->kept);
	nswap_cached_flush_end(w);
	cancel_delayed_work_sync(&w->send);
	nswap_cached_flush_end(w);
}

/* a snapshot; process */
void nswap_write_cache_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	struct nswap_write_cache *w = dev->write_cache;

	if (!w)
		return;
	spin_lock_irq(&w->lock);
	v->cache_pages = w->table.nr;
	v->cache_early = w->early;
	v->cache_used = w->table.nr - w->table.count[NSWAP_WC_FREE];
	v->cache_dirty = nswap_cached_dirty(w);
	v->cache_hits = w->hits;
	v->cache_misses = w->misses;
	v->cache_rewrites = w->rewrites;
	v->cache_frees = w->frees;
	v->cache_full = w->full;
	v->cache_failed = w->failed;
	v->cache_kept = w->table.count[NSWAP_WC_KEPT];
	spin_unlock_irq(&w->lock);
}

/*
 * Where a page that is written goes; the lock is held. @to: DIRTY or FILLING. NULL: it
 * passes, since it is written by another page-out now, or there is no room.
 */
static struct nswap_wc_entry *cached_entry(struct nswap_write_cache *w, u32 slot, u8 to)
{
	struct nswap_wc_table *t = &w->table;
	struct nswap_wc_entry *e = nswap_wc_filling(t, slot);

	if (e) {
		e->stale = true;
		return NULL;
	}
	e = nswap_wc_find(t, slot);
	if (e && e->state == NSWAP_WC_SENDING) {
		e->stale = true;
		e = NULL;
	}
	if (!e && nswap_wc_passes(t, slot))
		return NULL;
	if (!e) {
		e = nswap_wc_take(t, slot, to);
		w->full += !e;
	} else if (e->state == NSWAP_WC_DIRTY) {
		w->rewrites++;
		if (to == NSWAP_WC_DIRTY)
			return e;
		e->owed = true;
		w->owed++;
		nswap_wc_move(t, e, to);
	} else {
		nswap_wc_move(t, e, to);
	}
	if (e && to == NSWAP_WC_DIRTY) {
		e->since = jiffies;
		e->round = w->round;
	}
	return e;
}

/* one page; true if it is here, and nothing else has to be done now; the lock is held */
static bool cached_put(struct nswap_write_cache *w, struct nswap_io *io, unsigned int i,
		       u8 to)
{
	struct nswap_wc_entry *e = cached_entry(w, io->slot[i], to);

	if (!e) {
		nswap_wc_pass(&w->table, io->slot[i]);
		io->passing |= BIT(i);
		return false;
	}
	copy_highpage(e->page, io->page[i]);
	if (to == NSWAP_WC_DIRTY)
		return true;
	io->filling |= BIT(i);
	return false;
}

/* is a page of a slot that is to be written yet being sent? */
static bool cached_sending(struct nswap_write_cache *w, const struct nswap_io *io)
{
	unsigned long slots = io->filling | io->passing, flags;
	bool sending = false;
	unsigned int i;

	spin_lock_irqsave(&w->lock, flags);
	for_each_set_bit(i, &slots, NSWAP_REQ_SLOTS)
		sending = sending || nswap_wc_sending(&w->table, io->outer[i]);
	spin_unlock_irqrestore(&w->lock, flags);
	return sending;
}

/* the step of a page-out that waits for what is being sent of its slots */
static void cached_behind(struct nswap_io *io)
{
	if (cached_sending(nswap_visible_device(io->dev)->write_cache, io)) {
		nswap_request_wait(io);
		return;
	}
	/* it has as much time as if it had come now */
	io->since = jiffies;
	io->step = nswap_pageout;
	nswap_pageout(io);
}

/* @written of a page-out with pages that pass, or have an entry; perhaps a hard interrupt */
static void cached_written(struct nswap_io *io)
{
	struct nswap_write_cache *w = nswap_visible_device(io->dev)->write_cache;
	struct nswap_wc_entry *e;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&w->lock, flags);
	for_each_set_bit(i, &io->passing, NSWAP_REQ_SLOTS) {
		nswap_wc_passed(&w->table, io->outer[i]);
		e = nswap_wc_filling(&w->table, io->outer[i]);
		/* an older page-out, of more pages perhaps, goes on: what is below is newer */
		if (e && !(io->failed & BIT(i)))
			e->freed = true;
	}
	for_each_set_bit(i, &io->filling, NSWAP_REQ_SLOTS) {
		e = nswap_wc_filling(&w->table, io->outer[i]);
		if (WARN_ON_ONCE(!e))
			continue;
		if (e->owed) {
			e->owed = false;
			w->owed--;
			nswap_cached_left(w, e);
		}
		nswap_wc_move(&w->table, e, e->stale || io->failed & BIT(i) ?
			      NSWAP_WC_FREE : NSWAP_WC_CLEAN);
	}
	spin_unlock_irqrestore(&w->lock, flags);
}

/**
 * nswap_cached_write() - pages are written: take them in
 * @io: page-out that the block layer has just given, of a device with a write cache
 * @early: it may end when its pages are here
 *
 * Context: queue_rq(), page-out path: does not sleep or allocate.
 * Return: true if nothing else is to be done for it; else its @served says for which slots.
 */
bool nswap_cached_write(struct nswap_io *io, bool early)
{
	struct nswap_write_cache *w = io->dev->write_cache;
	unsigned long flags;
	unsigned int i;

	for (i = !io->slot[0]; i < io->nr; i++) {
		spin_lock_irqsave(&w->lock, flags);
		if (cached_put(w, io, i, early && w->early && !w->ended ?
					 NSWAP_WC_DIRTY : NSWAP_WC_FILLING))
			io->served |= BIT(i);
		spin_unlock_irqrestore(&w->lock, flags);
	}
	if (io->served)
		nswap_cached_send_soon(w);
	if (io->filling | io->passing)
		io->written = cached_written;
	if (w->early && io->written && cached_sending(w, io))
		io->step = cached_behind;
	return io->served == GENMASK(io->nr - 1, 0);
}

/* the lock is held */
static void cached_drop(struct nswap_write_cache *w, u32 slot)
{
	struct nswap_wc_table *t = &w->table;
	struct nswap_wc_entry *e = nswap_wc_find(t, slot);

	if (e && e->state == NSWAP_WC_DIRTY) {
		w->frees++;
		nswap_cached_left(w, e);
	}
	if (e && (e->state == NSWAP_WC_DIRTY || nswap_wc_rests(e)))
		nswap_wc_move(t, e, NSWAP_WC_FREE);
	e = nswap_wc_filling(t, slot);
	if (e)
		e->stale = e->freed = true;
	e = nswap_wc_sending(t, slot);
	if (e)
		e->stale = e->freed = true;
}

/*
 * A slot is freed: called before it is freed below. Any context, perhaps under a spinlock
 * with interrupts off.
 */
void nswap_cached_free(struct nswap_device *dev, u64 slot)
{
	struct nswap_write_cache *w = dev->write_cache;
	unsigned long flags;

	spin_lock_irqsave(&w->lock, flags);
	cached_drop(w, slot);
	spin_unlock_irqrestore(&w->lock, flags);
}

/* likewise, slots @first to before @end; process */
void nswap_cached_discard(struct nswap_device *dev, u64 first, u64 end)
{
	struct nswap_wc_table *t = &dev->write_cache->table;
	u64 i;

	for (i = first; end - first <= t->nr && i < end; i++) {
		nswap_cached_free(dev, i);
		if (!(i % NSWAP_SLOT_CHUNK))
			cond_resched();
	}
	if (end - first <= t->nr)
		return;
	/* an entry that becomes the slot's after it was looked at is newer than the discard */
	for (i = 0; i < t->nr; i++) {
		u32 slot = READ_ONCE(t->entry[i].slot);

		if (slot >= first && slot < end)
			nswap_cached_free(dev, slot);
		if (!(i % NSWAP_SLOT_CHUNK))
			cond_resched();
	}
}
