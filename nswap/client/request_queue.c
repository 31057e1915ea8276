// SPDX-License-Identifier: GPL-2.0
/*
 * Client role: a request from the block layer to its end.
 *
 *   submit -> dispatch -> message(s) -> answer(s) -> end
 *                ^  \-> waiting ----------+   |
 *                +--------- kick <------------+ (refused, timed out, grants)
 *
 * Invariants:
 *  - Everything a request needs was allocated with its device: nothing on this
 *    path allocates, and nothing in it waits for the network.
 *  - @pending counts the messages under way plus one for the dispatcher or the
 *    waiting list. The context that brings it to zero ends the request or, when
 *    slots have to be retried, puts it on the waiting list.
 *  - A request that has waited is counted in the client's @minding until it ends.
 *  - Only the dispatcher touches @todo and @unclaimed; answers set bits in
 *    @retry and @parked.
 *  - A waiting page-out is failed after four times store_timeout_ms, since it came or lost its
 *    only copy, or this node stood still: nothing that waits for memory waits here forever, but
 *    what waits for pages to be wrapped into (client/wrap.c), and where nodes stop all the time.
 */
#include <linux/slab.h>

#include "base/bits.h"
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "core/parity.h"
#include "observe/meter.h"
#include "peers/peer.h"
#include "peers/session.h"
#include "pagein_cell.h"
#include "pagein_open.h"
#include "pageout_cell.h"
#include "pageout_limit.h"
#include "request_queue.h"
#include "wrap.h"

#define SOON_MOST	4	/* pages of an answer that waits for others */

static void request_dispatch(struct nswap_io *io)
{
	io->seen = atomic_read_acquire(&io->dev->node->client->changes);
	io->todo |= xchg(&io->retry, 0);
	io->step(io);
}

/* a device with rows: its pages are in cells, or not; the first part of it begins */
static void request_to_cells(struct nswap_io *io)
{
	if (io->write) {
		if (nswap_parity_wanted(io->dev))
			nswap_pageout_to_cells(io);
		return;
	}
	io->rest = io->todo;
	nswap_pagein_next(io);
}

/*
 * Take a request from the block layer. @io: its device, slots, pages, direction and
 * step are set. Context: process, page-out path; does not sleep for the network.
 */
void nswap_request_submit(struct nswap_io *io)
{
	unsigned long all = GENMASK(io->nr - 1, 0) & ~io->served;
	struct nswap_device *dev = io->dev;

	if (dev->prefetcher && !io->ahead && !io->resumed)
		this_cpu_add(dev->flow->asked[io->write], io->nr);
	io->waited = false;
	io->one_by_one = false;
	if (!io->resumed)
		io->since = jiffies;
	nswap_meter_came(io);
	io->retry = 0;
	io->parked = io->failed = io->missed = 0;
	io->no_flash = io->no_peer = io->no_home = 0;
	io->follows = 0;
	io->pairs = 0;
	io->halves = io->half_asked = 0;
	io->rest = io->lost = 0;
	io->opened = io->served;
	io->from_home = 0;
	io->doubted = 0;
	io->todo = io->write ? 0 : all;
	io->unclaimed = io->write ? all : 0;
	if (!io->ops && nswap_parity_of(dev))
		request_to_cells(io);
	atomic_set(&io->pending, 1);
	request_dispatch(io);
}

static void request_wait(struct nswap_io *io, struct list_head *list)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_client *cl = node->client;
	int seen = io->seen;
	bool first = !io->waited;
	unsigned long flags;

	io->waited = true;
	if (first)
		nswap_client_mind(node);
	spin_lock_irqsave(&cl->wait_lock, flags);
	list_add_tail(&io->link, list);
	if (list == &cl->for_room)
		WRITE_ONCE(cl->no_room, cl->no_room + 1);
	spin_unlock_irqrestore(&cl->wait_lock, flags);
	if (first)
		nswap_client_tick_soon(node);
	/* pairs with nswap_client_kick(): one of the two sees the other */
	smp_mb();
	if (atomic_read(&cl->changes) != seen)
		queue_work(nswap_io_wq, &cl->kick);
}

/**
 * nswap_request_wait() - put a request on the waiting list until the next kick
 * @io: a request the caller dispatches; its share of @pending goes to the list
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_request_wait(struct nswap_io *io)
{
	request_wait(io, &io->dev->node->client->waiting);
}

/* the same until there is room at a peer, or the next tick */
void nswap_request_wait_room(struct nswap_io *io)
{
	request_wait(io, &io->dev->node->client->for_room);
}

static void kick_list(struct nswap_client *cl, struct list_head *list)
{
	struct nswap_io *io, *next;
	LIST_HEAD(ready);

	spin_lock_irq(&cl->wait_lock);
	list_splice_init(list, &ready);
	spin_unlock_irq(&cl->wait_lock);
	list_for_each_entry_safe(io, next, &ready, link) {
		list_del_init(&io->link);
		io->more = io->write;
		request_dispatch(io);
	}
}

/* the oldest page-out that waits for room, off the list; NULL if none does */
static struct nswap_io *kick_next(struct nswap_client *cl)
{
	struct nswap_io *io;

	spin_lock_irq(&cl->wait_lock);
	io = list_first_entry_or_null(&cl->for_room, struct nswap_io, link);
	if (io)
		list_del_init(&io->link);
	spin_unlock_irq(&cl->wait_lock);
	return io;
}

/* as many as there is room for: it ends when this or another task finds none */
static void kick_room(struct nswap_client *cl)
{
	unsigned int seen = READ_ONCE(cl->no_room);
	struct nswap_io *io;

	while (READ_ONCE(cl->no_room) == seen && (io = kick_next(cl))) {
		io->more = io->write;
		request_dispatch(io);
	}
}

/**
 * nswap_request_kick_work() - retry the waiting requests
 * @work: the client's
 *
 * Of those that wait for room, an answer that brought some retries as many as that is
 * enough for, and a tick all: their patience may be over. What they give to a connection,
 * as second copies of pages that left together, leaves together.
 *
 * Context: the module's work queue; does not allocate or wait.
 */
void nswap_request_kick_work(struct work_struct *work)
{
	struct nswap_client *cl = container_of(work, struct nswap_client, kick);

	kick_list(cl, &cl->waiting);
	if (test_and_clear_bit(0, &cl->kick_all))
		kick_list(cl, &cl->for_room);
	else
		kick_room(cl);
	nswap_session_push(cl->node);
}

/* the bios of these slots will end with an error */
void nswap_request_fail(struct nswap_io *io, unsigned int first, unsigned int nr)
{
	while (nr--)
		set_bit(first++, &io->failed);
}

/* end its bios, each with its own status */
static void request_over(struct nswap_io *io)
{
	struct request *rq = blk_mq_rq_from_pdu(io);
	struct nswap_node *node = io->dev->node;
	bool write = io->write;
	unsigned int i, end;

	if (io->written)
		io->written(io);
	for (i = 0; io->failed && i < io->nr; i = end) {
		bool failed = io->failed & BIT(i);

		end = failed ? find_next_zero_bit(&io->failed, io->nr, i) :
			       find_next_bit(&io->failed, io->nr, i);
		blk_update_request(rq, failed ? BLK_STS_IOERR : BLK_STS_OK, (end - i) * PAGE_SIZE);
	}
	if (write)
		nswap_pageout_limit_give(io);
	if (io->failed)
		__blk_mq_end_request(rq, BLK_STS_OK);
	else
		blk_mq_end_request(rq, BLK_STS_OK);
	if (write)
		nswap_client_kick(node);
	else if (!bio_list_empty(&node->client->ready))
		nswap_client_unpark(node);
}

/**
 * nswap_request_end() - end the block request, each merged bio with its own status
 * @io: request, no part of it is under way; not to be touched afterwards
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_request_end(struct nswap_io *io)
{
	void (*over)(struct nswap_io *io) = nswap_io_own(io) ? io->ops->over : io->over;
	struct nswap_node *node = io->dev->node;
	bool write = io->write;

	if (io->waited)
		atomic_dec(&node->client->minding);
	if (!nswap_io_own(io) && io->bounced)
		nswap_wrap_sent(nswap_visible_device(io->dev), io);
	if (over) {
		over(io);
		if (write)
			nswap_client_kick(node);
		return;
	}
	/* none is left: never would one that is not open reach a program */
	io->failed |= nswap_pagein_closed(io);
	request_over(io);
}

/* how many requests of its direction the device can take besides those it has */
unsigned int nswap_request_free_tags(struct nswap_io *io)
{
	struct request *rq = blk_mq_rq_from_pdu(io);
	struct sbitmap *tags;

	if (nswap_io_own(io))
		return NSWAP_TAGS;
	tags = &rq->mq_hctx->tags->bitmap_tags.sb;
	return tags->depth - min(sbitmap_weight(tags), tags->depth);
}

/*
 * Is this request being dispatched by its own submitter?
 *
 * A task that waits for a tag first runs the queue, with other tasks' requests, and
 * then sleeps unless a tag has become free. A tag that is free now may be taken by
 * then. That delays a page-in, but no page-in waits for another. With an I/O scheduler,
 * tasks that wait get here.
 */
static bool request_own(struct nswap_io *io)
{
	struct request *rq = blk_mq_rq_from_pdu(io);

	if (nswap_io_own(io))
		return !io->write;
	return !io->write && !rq->q->elevator && nswap_request_free_tags(io);
}

/**
 * nswap_op_block() - prepare a read or write of home or flash, as part of a request
 *	or batch
 * @io: request the caller dispatches, or batch
 * @first: first slot, counted from the request's
 * @nr: slots
 * @flash: first flash slot, held by the caller; NSWAP_FLASH_NONE: home
 * @end: called when it has ended: in any context if the caller sets @anywhere
 *
 * Context: process, page-out path; does not sleep.
 * Return: the op, for nswap_op_start(): in the request's direction and, at home, at
 * the slots' own places, unless the caller changes that.
 */
struct nswap_op *nswap_op_block(struct nswap_io *io, unsigned int first,
				unsigned int nr, u32 flash,
				void (*end)(struct nswap_home_io *h))
{
	struct nswap_op *op = &io->op[first];

	op->io = io;
	op->peer = NULL;
	op->flash = flash;
	op->first = first;
	op->nr = nr;
	nswap_home_set_pages(&op->h, &io->chain[first], &io->page[first], nr);
	op->h.slot = io->slot[first];
	op->h.write = io->write;
	op->h.anywhere = false;
	op->h.end = end;
	return op;
}

/*
 * Start a read or write of home or flash. @op: from nswap_op_block(); not to be
 * touched afterwards. Context: process, not in rcu_read_lock(); does not wait, on the
 * page-out path.
 */
void nswap_op_start(struct nswap_op *op)
{
	struct nswap_device *dev = op->io->dev;

	atomic_inc(&op->io->pending);
	if (op->flash)
		nswap_flash_submit(dev->flash, op->flash, &op->h);
	else
		nswap_home_submit(dev->home, &op->h);
}

/*
 * Start a read or write of a block request's slots; @io: request the caller
 * dispatches; @flash: first flash slot, held by the caller; NSWAP_FLASH_NONE: home.
 * Process context, not in rcu_read_lock(); does not wait, on the page-out path.
 */
void nswap_request_block(struct nswap_io *io, unsigned int first,
			 unsigned int nr, u32 flash,
			 void (*end)(struct nswap_home_io *h))
{
	struct nswap_op *op = nswap_op_block(io, first, nr, flash, end);

	if (flash)
		io->from_home &= ~nswap_op_slots(op);
	else
		io->from_home |= nswap_op_slots(op);
	op->h.own = request_own(io);
	op->h.anywhere = true;
	nswap_meter_begin(op);
	nswap_op_start(op);
}

/**
 * nswap_request_store() - write slots that have to be placed to flash or home
 * @io: page-out the caller dispatches; what is taken leaves its @todo
 * @slots: which of them
 * @to_flash: to flash, while it has room; else home
 * @end: called when a write has ended; perhaps in a hard interrupt, if it succeeded
 *
 * Context: process, page-out path: does not allocate, does not wait.
 */
void nswap_request_store(struct nswap_io *io, unsigned long slots, bool to_flash,
			 void (*end)(struct nswap_home_io *h))
{
	u32 flash = NSWAP_FLASH_NONE;
	unsigned int first, nr;

	while (slots) {
		nswap_meter_turn(io);
		first = __ffs(slots);
		nr = READ_ONCE(io->one_by_one) ? 1 : nswap_io_run(io, slots, first);
		if (to_flash) {
			nr = nswap_flash_take(io->dev->flash, nr, &flash);
			if (!nr)
				return;
			nswap_flash_hold(io->dev->flash, flash);
		}
		slots &= ~GENMASK(first + nr - 1, first);
		io->todo &= ~GENMASK(first + nr - 1, first);
		nswap_request_block(io, first, nr, flash, end);
	}
}

/* no part of it is under way: it ends, or goes on */
static void request_settled(struct nswap_io *io)
{
	struct nswap_node *node = io->dev->node;

	if (READ_ONCE(io->retry) || READ_ONCE(io->parked) || io->rest ||
	    READ_ONCE(io->lost)) {
		atomic_set(&io->pending, 1);
		nswap_request_wait(io);
		nswap_client_kick(node);
		return;
	}
	nswap_request_end(io);
}

static void request_open_work(struct work_struct *work)
{
	struct nswap_io *io = container_of(work, struct nswap_io, open);

	nswap_pagein_open_rest(io, nswap_pagein_closed(io));
	request_settled(io);
}

/**
 * nswap_request_put() - drop one share of @pending
 * @io: request; not to be touched afterwards
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_request_put(struct nswap_io *io)
{
	unsigned long closed;

	if (!atomic_dec_and_test(&io->pending))
		return;
	closed = nswap_pagein_closed(io);
	if (closed && (!in_task() || irqs_disabled())) {
		INIT_WORK(&io->open, request_open_work);
		queue_work(nswap_io_wq, &io->open);
		return;
	}
	if (closed)
		nswap_pagein_open_rest(io, closed);
	request_settled(io);
}

/* @again are to be done again: each is added to @to */
static void op_over(struct nswap_op *op, unsigned long again, unsigned long *to)
{
	struct nswap_peer *peer = op->peer;
	struct nswap_io *io = op->io;
	unsigned int i;

	nswap_meter_end(op, again);
	for_each_set_bit(i, &again, NSWAP_REQ_SLOTS)
		set_bit(i, to);
	if (peer)
		nswap_peer_put(peer);
	nswap_request_put(io);
}

/**
 * nswap_op_end() - a message, or a read or write of home or flash, has ended
 * @op: it; not to be touched afterwards
 * @again: slots of the request to retry. They are published last: from then on the
 *	dispatcher may use the message again.
 *
 * Context: any without @peer, else process; does not sleep, on the page-out path.
 */
void nswap_op_end(struct nswap_op *op, unsigned long again)
{
	op_over(op, again, &op->io->retry);
}

/* an answered page-in of a sealed device ends */
static void op_end_now(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);

	nswap_op_end(op, op->again);
}

/*
 * As nswap_op_end(), by the receiver of the answer. Pages that it has opened, which takes
 * several times what all else does, end together with others that have come; but not many,
 * which take long themselves, nor a part of a request, with which others may be opened.
 */
void nswap_op_answered(struct nswap_op *op, unsigned long again)
{
	if (!READ_ONCE(op->io->opened) || op->nr < op->io->nr || op->nr > SOON_MOST) {
		nswap_op_end(op, again);
		return;
	}
	op->again = again;
	op->m.over = op_end_now;
	nswap_conn_end_soon(op->m.conn, &op->m);
}

/* a message has ended: its slots are to wait for the peer; process, page-in path */
void nswap_op_park(struct nswap_op *op)
{
	op_over(op, nswap_op_slots(op), &op->io->parked);
}

/* likewise, and the slots, which are cells, are to be rebuilt or waited for */
void nswap_op_lose(struct nswap_op *op)
{
	op_over(op, nswap_op_slots(op), &op->io->lost);
}
