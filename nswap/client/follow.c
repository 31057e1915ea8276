// SPDX-License-Identifier: GPL-2.0
/*
 * Home follows: protection "home". A page-out ends when a peer holds its page; a copy
 * in this node's RAM goes home afterwards, behind it.
 *
 *   reserve (claim) -> copy (acknowledged) -> queue -> written home -> free again
 *          \-> release: the page went to flash or home, or nowhere
 *
 * Invariants:
 *  - Each slot that a page-out claims on a protected device has a page reserved here
 *    before, so at most NSWAP_FOLLOW_PAGES pages of a device are at a peer and not
 *    home yet, and each of these is in this node's RAM: no peer's death loses one.
 *    A page-out that finds none left waits; but not for longer than a home that
 *    answers takes: then its pages are exposed, as if there were no protection.
 *  - A slot is due (home_copy.h) from before its entry names the peer until its copy
 *    is written or dropped. So there is one copy of a slot at a time, and no page-out
 *    of the slot in between.
 *  - Pages, the batch and the work queue, with its rescuer, are made when protection
 *    is turned on: nothing here allocates on the page-out path. The work waits for
 *    home's reads and writes alone, which wait for nothing above them.
 *  - A copy whose slot has been freed, or is no longer at a peer, is not written.
 *
 * Lock order: none is taken inside @lock.
 */
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "base/types.h"
#include "base/views.h"
#include "batch.h"
#include "core/client_state.h"
#include "core/device.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "follow.h"
#include "peers/loss.h"

/**
 * struct nswap_follow_page - a copy of a page that is to go home
 * @link: in @unused or @queue
 * @page: its memory
 * @slot: its slot
 * @gen: its generation
 */
struct nswap_follow_page {
	struct list_head link;
	struct page *page;
	u64 slot;
	u32 gen;
};

/**
 * struct nswap_follow - what a device has for following
 * @lock: protects @unused, @queue, @room and @lag; interrupts off
 * @unused: pages that hold no copy, promised or not
 * @queue: copies that have to go home, in order
 * @room: of @unused, those that are not promised to a page-out
 * @lag: copies that are not home yet
 * @stop: copies are dropped
 * @wq: runs @work
 * @work: writes @queue home
 * @b: the batch it writes
 * @batch: its copies
 * @all: all of them
 */
struct nswap_follow {
	spinlock_t lock;
	struct list_head unused;
	struct list_head queue;
	unsigned int room;
	unsigned int lag;
	bool stop;
	struct workqueue_struct *wq;
	struct work_struct work;
	struct nswap_batch b;
	struct nswap_follow_page *batch[NSWAP_REQ_SLOTS];
	struct nswap_follow_page all[NSWAP_FOLLOW_PAGES];
};

/* the next copies, in @batch; returns how many */
static unsigned int follow_take(struct nswap_follow *f)
{
	unsigned int n = 0;

	spin_lock_irq(&f->lock);
	while (n < NSWAP_REQ_SLOTS && !list_empty(&f->queue)) {
		f->batch[n] = list_first_entry(&f->queue,
					       struct nswap_follow_page, link);
		list_del(&f->batch[n++]->link);
	}
	spin_unlock_irq(&f->lock);
	return n;
}

/**
 * nswap_follow_end() - the writer of a copy is done with it
 * @dev: device
 * @slot: slot, due since nswap_home_copy_begin()
 * @gen: generation of the copy
 * @written: home has it
 *
 * The caller kicks the requests that wait, after the last slot.
 *
 * Context: process, does not sleep.
 */
void nswap_follow_end(struct nswap_device *dev, u64 slot, u32 gen, bool written)
{
	nswap_home_copy_end(dev, slot, gen, written);
	nswap_loss_passed(dev->node, nswap_slot_look(dev, slot).peer);
}

static void follow_give_back(struct nswap_follow *f, unsigned int n)
{
	unsigned int i;

	spin_lock_irq(&f->lock);
	for (i = 0; i < n; i++)
		list_add(&f->batch[i]->link, &f->unused);
	f->room += n;
	f->lag -= n;
	spin_unlock_irq(&f->lock);
}

static void follow_write(struct nswap_device *dev, unsigned int n)
{
	struct nswap_follow *f = dev->follow;
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		f->b.io.slot[i] = f->batch[i]->slot;
		f->b.io.page[i] = f->batch[i]->page;
		if (!READ_ONCE(f->stop) &&
		    nswap_home_copy_valid(dev, f->batch[i]->slot,
					  f->batch[i]->gen))
			pages |= BIT(i);
	}
	if (pages)
		pages &= ~nswap_batch_home(&f->b, pages, true);
	for (i = 0; i < n; i++)
		nswap_follow_end(dev, f->batch[i]->slot, f->batch[i]->gen,
				 pages & BIT(i));
	nswap_stat_add(dev->node, pages_followed, hweight_long(pages));
}

static void follow_work(struct work_struct *work)
{
	struct nswap_follow *f = container_of(work, struct nswap_follow, work);
	struct nswap_device *dev = f->b.io.dev;
	unsigned int n;

	while ((n = follow_take(f))) {
		follow_write(dev, n);
		follow_give_back(f, n);
		nswap_client_kick(dev->node);
	}
}

/* Promise a page-out one page; any, does not sleep. Returns false if none is left. */
bool nswap_follow_reserve(struct nswap_device *dev)
{
	struct nswap_follow *f = dev->follow;
	unsigned long flags;
	bool yes;

	spin_lock_irqsave(&f->lock, flags);
	yes = f->room;
	if (yes)
		f->room--;
	spin_unlock_irqrestore(&f->lock, flags);
	return yes;
}

/* the promised page is not needed; any context, hard interrupts too */
void nswap_follow_release(struct nswap_device *dev)
{
	struct nswap_follow *f = dev->follow;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	f->room++;
	spin_unlock_irqrestore(&f->lock, flags);
}

/**
 * nswap_follow_copy() - keep a page that a peer holds from now on
 * @dev: device with a page promised by nswap_follow_reserve(), which is used up
 * @slot: WRITING, the caller's
 * @gen: its generation
 * @page: its page
 *
 * Context: process, does not sleep or allocate; on the page-out path.
 * Return: the copy, for nswap_follow_queue() once the entry names the peer; NULL if
 * an older copy is just ending: the page is exposed.
 */
struct nswap_follow_page *nswap_follow_copy(struct nswap_device *dev, u64 slot,
					    u32 gen, struct page *page)
{
	struct nswap_follow *f = dev->follow;
	struct nswap_follow_page *p;
	unsigned long flags;

	if (!nswap_home_copy_begin(dev, slot)) {
		nswap_follow_release(dev);
		return NULL;
	}
	spin_lock_irqsave(&f->lock, flags);
	p = list_first_entry(&f->unused, struct nswap_follow_page, link);
	list_del(&p->link);
	f->lag++;
	spin_unlock_irqrestore(&f->lock, flags);
	p->slot = slot;
	p->gen = gen;
	copy_highpage(p->page, page);
	return p;
}

/* The slot's entry names its peer: the copy may go home. Process, page-out path. */
void nswap_follow_queue(struct nswap_device *dev, struct nswap_follow_page *p)
{
	struct nswap_follow *f = dev->follow;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	list_add_tail(&p->link, &f->queue);
	spin_unlock_irqrestore(&f->lock, flags);
	queue_work(f->wq, &f->work);
}

/* how many pages home lags behind */
unsigned int nswap_follow_lag(struct nswap_device *dev)
{
	/* pairs with nswap_follow_init() */
	struct nswap_follow *f = smp_load_acquire(&dev->follow);

	return f ? READ_ONCE(f->lag) : 0;
}

static void follow_free(struct nswap_follow *f)
{
	unsigned int i;

	if (f->wq)
		destroy_workqueue(f->wq);
	for (i = 0; i < NSWAP_FOLLOW_PAGES; i++)
		if (f->all[i].page)
			__free_page(f->all[i].page);
	kvfree(f);
}

static bool follow_alloc(struct nswap_follow *f)
{
	struct nswap_follow_page *p;

	for (p = f->all; p < f->all + NSWAP_FOLLOW_PAGES; p++) {
		p->page = alloc_page(GFP_KERNEL);
		if (!p->page)
			return false;
		list_add(&p->link, &f->unused);
	}
	f->room = NSWAP_FOLLOW_PAGES;
	f->wq = alloc_workqueue("nswap_follow", WQ_MEM_RECLAIM | WQ_UNBOUND, 1);
	return f->wq;
}

/**
 * nswap_follow_init() - make what a device needs to be followed by its home
 * @dev: device with a home; nothing happens if it has it already
 *
 * Context: process, sleeps; under the node's control lock or with a new device.
 * Allocates 4 MiB, freed with the device.
 * Return: 0 or -ENOMEM.
 */
int nswap_follow_init(struct nswap_device *dev)
{
	struct nswap_follow *f;

	if (dev->follow)
		return 0;
	f = kvzalloc_objs(*f, 1);
	if (!f)
		return -ENOMEM;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->unused);
	INIT_LIST_HEAD(&f->queue);
	INIT_WORK(&f->work, follow_work);
	f->b.then = "its page has no copy there";
	if (!nswap_batch_init(&f->b, dev, 0) || !follow_alloc(f)) {
		follow_free(f);
		return -ENOMEM;
	}
	/* pairs with readers that find protection turned on, and the view */
	smp_store_release(&dev->follow, f);
	return 0;
}

/* drop what is not home yet; process, sleeps for home; no request is left */
void nswap_follow_stop(struct nswap_device *dev)
{
	if (!dev->follow)
		return;
	WRITE_ONCE(dev->follow->stop, true);
	flush_work(&dev->follow->work);
}

/* undo nswap_follow_init(), if it ran, after nswap_follow_stop() */
void nswap_follow_exit(struct nswap_device *dev)
{
	if (dev->follow)
		follow_free(dev->follow);
	dev->follow = NULL;
}
