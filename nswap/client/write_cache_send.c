// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache of a device: dirty pages are sent, and flushes wait for them.
 *
 * They are sent once they are a quarter of what is not KEPT, have been there for cache_delay_ms, or
 * a flush waits: the one that became dirty first, with those beside it, in one page-out as if
 * the block layer had given it (@over of struct nswap_io). The page-outs are made with the
 * device, and take no tags: while flushes, or page-outs that wait for a slot's page that is
 * being sent, have all of them, sending goes on.
 *
 * Invariants:
 *  - What is SENDING does not change until its page-out has ended.
 *  - What nothing takes stays DIRTY, and is sent again alone: after 100 ms at first, then
 *    twice as long each time, up to 10 s, until something is taken. A flush that has waited
 *    for four times store_timeout_ms then fails, longer if this node stood still, and the
 *    pages stay.
 *  - A flush ends when each page that was dirty when it began has been taken, in the version
 *    of then or a newer one, or was freed. One that comes while another waits begins after it.
 *  - Sending runs on the module's queue with a rescuer, and waits for nothing.
 */
#include "base/log.h"
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/node.h"
#include "core/parity.h"
#include "pageout.h"
#include "peers/session.h"
#include "request_queue.h"
#include "row.h"
#include "write_cache.h"

#define SEND_SHARE	4	/* sent when dirty pages are this part of what is not KEPT */
#define BACKOFF_LEAST	100	/* ms */
#define BACKOFF_MOST	10000
#define GIVE_UP_AFTER	4	/* store_timeout_ms that a flush waits while sending fails */

/* pages that flushes wait for; the lock is held */
u32 nswap_cached_dirty(const struct nswap_write_cache *w)
{
	return w->table.count[NSWAP_WC_DIRTY] + w->table.count[NSWAP_WC_SENDING] + w->owed;
}

/* those of @flushing wait for all that is dirty now; the lock is held */
static void cached_flush_begin(struct nswap_write_cache *w)
{
	w->round++;
	w->left = nswap_cached_dirty(w);
	w->flush_since = jiffies;
}

/* an entry is about to be no longer dirty; the lock is held, any context */
void nswap_cached_left(struct nswap_write_cache *w, const struct nswap_wc_entry *e)
{
	if (e->round == w->round || --w->left || w->ended)
		return;
	if (!list_empty(&w->flushing))
		mod_delayed_work(nswap_io_wq, &w->send, 0);
}

/* jiffies until pages are to be sent, 0 for now; negative: not until something happens */
static long cached_due(const struct nswap_write_cache *w)
{
	const struct nswap_wc_table *t = &w->table;
	const struct nswap_wc_entry *e;
	long age, retry;

	if (!t->count[NSWAP_WC_DIRTY] || w->ended)
		return -1;
	e = list_first_entry(&t->list[NSWAP_WC_DIRTY], struct nswap_wc_entry, link);
	age = e->since + msecs_to_jiffies(nswap_knob(w->dev->node, cache_delay_ms)) - jiffies;
	if (t->count[NSWAP_WC_DIRTY] > (t->nr - t->count[NSWAP_WC_KEPT]) / SEND_SHARE ||
	    !list_empty(&w->flushing))
		age = 0;
	retry = w->backoff_ms ? (long)(w->retry - jiffies) : 0;
	return max3(age, retry, 0l);
}

/* pages are dirty: have them sent when it is time; any context */
void nswap_cached_send_soon(struct nswap_write_cache *w)
{
	unsigned long flags;
	long due;

	spin_lock_irqsave(&w->lock, flags);
	due = cached_due(w);
	/* with none idle the next one that ends goes on */
	if (!due && w->nr_idle)
		mod_delayed_work(nswap_io_wq, &w->send, 0);
	else if (due > 0)
		queue_delayed_work(nswap_io_wq, &w->send, due);
	spin_unlock_irqrestore(&w->lock, flags);
}

/*
 * One page has been sent, or not. What was freed meanwhile is freed now that it is there, or
 * is LOST: until the entry goes, no other page-out of the slot goes on. What was rewritten
 * and did not arrive, or is gone again, is the new version's flush to wait for.
 */
static void cached_sent_page(struct nswap_write_cache *w, struct nswap_wc_entry *e,
			     bool failed)
{
	u8 to = failed ? NSWAP_WC_DIRTY : nswap_cached_next_state(w->dev, e->slot);
	struct nswap_wc_entry *now;
	unsigned long flags;

	spin_lock_irqsave(&w->lock, flags);
	if (e->freed) {
		spin_unlock_irqrestore(&w->lock, flags);
		nswap_parity_free(w->dev, e->slot);
		spin_lock_irqsave(&w->lock, flags);
	} else if (to == NSWAP_WC_DIRTY && e->stale) {
		now = nswap_wc_find(&w->table, e->slot);
		if (now && now->state == NSWAP_WC_DIRTY && now->round == w->round) {
			w->left += e->round != w->round;
			now->round = e->round;
		}
	}
	w->failed += failed;
	if (to == NSWAP_WC_DIRTY && !e->stale) {
		(failed ? nswap_wc_again : nswap_wc_first)(&w->table, e);
	} else {
		nswap_cached_left(w, e);
		nswap_wc_move(&w->table, e, e->stale ? NSWAP_WC_FREE : to);
	}
	spin_unlock_irqrestore(&w->lock, flags);
}

/* the lock is held */
static void cached_back_off(struct nswap_write_cache *w, bool failed)
{
	if (!failed) {
		w->backoff_ms = 0;
		return;
	}
	/* batches that were under way together count once */
	if (w->backoff_ms && time_before(jiffies, w->retry))
		return;
	w->backoff_ms = clamp(2 * w->backoff_ms, BACKOFF_LEAST, BACKOFF_MOST);
	w->retry = jiffies + msecs_to_jiffies(w->backoff_ms);
}

/* @over of a batch: any context, perhaps a hard interrupt */
static void cached_sent(struct nswap_io *io)
{
	struct nswap_wc_batch *b = container_of(io, struct nswap_wc_batch, io);
	struct nswap_write_cache *w = b->cache;
	unsigned long failed = io->failed, flags;
	unsigned int nr = io->nr;

	/* downwards: what failed is sent again upwards */
	while (nr--)
		cached_sent_page(w, b->entry[nr], failed & BIT(nr));
	if (failed)
		nswap_warn(w->dev->node, "%s: %lu pages of its cache were not taken; they stay there, and are sent again: nswapctl device list",
			   w->dev->disk->disk_name, hweight_long(failed));
	spin_lock_irqsave(&w->lock, flags);
	cached_back_off(w, failed);
	list_add_tail(&b->link, &w->idle);
	w->nr_idle++;
	nswap_cached_kept_soon(w);
	if (w->ended)
		wake_up_all(&w->wait);
	else
		mod_delayed_work(nswap_io_wq, &w->send, 0);
	spin_unlock_irqrestore(&w->lock, flags);
}

/*
 * The next batch, its entries SENDING; NULL if none is idle, or nothing is due. What is due
 * later is looked at then; what waits for a batch, or for an older page of its slot, when
 * one has ended: cached_sent().
 */
static struct nswap_wc_batch *cached_next(struct nswap_write_cache *w)
{
	struct nswap_wc_batch *b = NULL;
	unsigned int i;
	long due;

	spin_lock_irq(&w->lock);
	due = cached_due(w);
	if (due > 0)
		queue_delayed_work(nswap_io_wq, &w->send, due);
	if (due || !w->nr_idle)
		goto out;
	b = list_first_entry(&w->idle, struct nswap_wc_batch, link);
	b->io.nr = nswap_wc_run(&w->table, b->entry, NSWAP_REQ_SLOTS);
	if (!b->io.nr) {
		b = NULL;
		goto out;
	}
	list_del(&b->link);
	w->nr_idle--;
	for (i = 0; i < b->io.nr; i++) {
		b->io.slot[i] = b->entry[i]->slot;
		b->io.outer[i] = b->entry[i]->slot;
		b->io.page[i] = b->entry[i]->page;
	}
out:
	spin_unlock_irq(&w->lock);
	return b;
}

static void cached_send(struct nswap_write_cache *w, struct nswap_wc_batch *b)
{
	struct nswap_io *io = &b->io;

	io->dev = w->dev;
	io->write = true;
	io->step = nswap_pageout;
	io->ops = NULL;
	io->over = cached_sent;
	io->bounced = 0;
	io->more = true;
	nswap_request_submit(io);
}

/* the flushes that wait: those whose pages are there, or that have waited too long */
void nswap_cached_flush_end(struct nswap_write_cache *w)
{
	u32 patience = GIVE_UP_AFTER * nswap_knob(w->dev->node, store_timeout_ms);
	blk_status_t status = BLK_STS_OK;
	struct nswap_io *io, *next;
	LIST_HEAD(over);

	spin_lock_irq(&w->lock);
	if (w->left && (w->ended || (w->backoff_ms &&
				     nswap_client_expired(w->dev->node, w->flush_since, patience))))
		status = BLK_STS_IOERR;
	if (!w->left || status)
		list_splice_init(&w->flushing, &over);
	if (list_empty(&w->flushing) && !list_empty(&w->flush_next)) {
		list_splice_init(&w->flush_next, &w->flushing);
		cached_flush_begin(w);
		/* what it is to wait for may be there already */
		mod_delayed_work(nswap_io_wq, &w->send, 0);
	}
	spin_unlock_irq(&w->lock);
	list_for_each_entry_safe(io, next, &over, link)
		blk_mq_end_request(blk_mq_rq_from_pdu(io), status);
}

/* Sends what is due. Context: the module's work queue; does not allocate or wait. */
void nswap_cached_send_work(struct work_struct *work)
{
	struct nswap_write_cache *w = container_of(to_delayed_work(work),
						   struct nswap_write_cache, send);
	struct nswap_wc_batch *b;

	nswap_cached_flush_end(w);
	while ((b = cached_next(w)))
		cached_send(w, b);
	nswap_session_push(w->dev->node);
}

/**
 * nswap_cached_flush() - a flush has come
 * @io: its request, of a device with a write cache
 *
 * Context: queue_rq(); does not sleep or allocate.
 * Return: true if nothing is dirty; else its request is ended later.
 */
bool nswap_cached_flush(struct nswap_io *io)
{
	struct nswap_write_cache *w = io->dev->write_cache;
	bool clean;

	spin_lock_irq(&w->lock);
	clean = !nswap_cached_dirty(w);
	if (!clean && list_empty(&w->flushing)) {
		list_add_tail(&io->link, &w->flushing);
		cached_flush_begin(w);
	} else if (!clean) {
		list_add_tail(&io->link, &w->flush_next);
	}
	spin_unlock_irq(&w->lock);
	if (!clean)
		mod_delayed_work(nswap_io_wq, &w->send, 0);
	return clean;
}
