// SPDX-License-Identifier: GPL-2.0
/*
 * The checks of a row: its strips of checks are written to peers as page-outs are, from the
 * row's buffer, when all pages of the row are acknowledged.
 *
 *   STORING -> page-out of the lanes whose check no peer has yet -> all acknowledged: CLOSED
 *                                   \-> some failed: tried again after a while
 *
 * Invariants:
 *  - The buffer is kept until each check is acknowledged: a page that is lost before that
 *    is rebuilt from here (rebuild.c). The one exception is a row that no slot needs.
 *  - The request is a part of the buffer and there is one at a time: the work starts it,
 *    and is queued again when it has ended. The next one may have begun before that is
 *    over, so @busy counts.
 *  - On the page-out path, since page-outs wait for buffers: nothing here allocates after
 *    nswap_row_store_init(), nor waits.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/inject.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "pageout.h"
#include "pageout_cell.h"
#include "request_queue.h"
#include "row.h"
#include "row_store.h"

#define AGAIN	(HZ / 4)

static bool row_store_claim(struct nswap_io *io, unsigned int i)
{
	if (!nswap_cell_claim(io, i, io->slot[i]))
		return false;
	io->todo |= BIT(i);
	return true;
}

static void row_store_none(struct nswap_io *io, unsigned int i)
{
}

static void row_store_failed(struct nswap_io *io, unsigned int i)
{
	nswap_request_fail(io, i, 1);
}

static void row_store_over(struct nswap_io *io)
{
	struct nswap_row_buffer *b = container_of(io, struct nswap_row_buffer, io);

	/* there may be no peer for them: then the row is written again elsewhere */
	if (io->failed)
		WRITE_ONCE(b->parity->row[b->row].wanted, true);
	queue_delayed_work(nswap_io_wq, &b->store, io->failed ? AGAIN : 0);
	/* pairs with nswap_row_store_stop(): it is queued, and @b not touched any more */
	smp_mb__before_atomic();
	atomic_dec(&b->busy);
}

static const struct nswap_io_ops row_store_ops = {
	.claim = row_store_claim,
	.stored = row_store_none,
	.ended = row_store_none,
	.failed = row_store_failed,
	.over = row_store_over,
};

/* has any page of the lane been added to its check? */
static bool row_lane_used(const struct nswap_row *r, unsigned int lane)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->member[i] & BIT(lane))
			return true;
	return false;
}

/* the first or second checks that no peer has yet: returns how many */
static unsigned int row_store_collect(struct nswap_row_buffer *b, unsigned int check)
{
	struct nswap_parity *p = b->parity;
	struct nswap_row *r = &p->row[b->row];
	struct nswap_io *io = &b->io;
	unsigned int lane;

	io->nr = 0;
	for (lane = 0; lane < NSWAP_ROW_LANES; lane++) {
		u32 cell = nswap_row_cell(r, r->nr + check, lane);
		struct nswap_slot s = nswap_slot_look(p->cells, cell);

		if (!row_lane_used(r, lane) ||
		    (nswap_slot_at_peer(&s) && !nswap_cell_bad(p, cell)))
			continue;
		io->slot[io->nr] = cell;
		io->page[io->nr++] = b->page[check][lane];
	}
	return io->nr;
}

/* likewise of any; those that failed are the last to be tried again */
static unsigned int row_store_any(struct nswap_row_buffer *b)
{
	unsigned int checks = b->parity->row[b->row].checks, i, n = 0;

	for (i = 0; i < checks && !n; i++)
		n = row_store_collect(b, (b->turn + i) % checks);
	b->turn++;
	return n;
}

static void row_store_work(struct work_struct *work)
{
	struct nswap_row_buffer *b = container_of(to_delayed_work(work),
						  struct nswap_row_buffer, store);
	struct nswap_parity *p = b->parity;
	struct nswap_io *io = &b->io;

	if (READ_ONCE(p->dev->dying))
		return;
	if (!READ_ONCE(p->row[b->row].live) || !row_store_any(b)) {
		nswap_row_stored(p, b->row);
		/* page-outs may wait for the buffer */
		nswap_client_kick_all(p->dev->node);
		return;
	}
	nswap_inject_point(p->dev->node->id, NSWAP_POINT_HALF);
	io->dev = p->cells;
	io->write = true;
	io->step = nswap_pageout;
	io->ops = &row_store_ops;
	io->ahead = false;
	io->resumed = false;
	io->more = false;
	atomic_inc(&b->busy);
	nswap_request_submit(io);
}

/* Process, sleeps; memory for a check of each lane. Returns 0 or -ENOMEM */
static int row_store_init_pages(struct nswap_parity *p, unsigned int check)
{
	unsigned int n, i;

	for (n = 0; n < NSWAP_ROW_BUFFERS; n++) {
		struct nswap_row_buffer *b = p->buffer[n];

		for (i = 0; i < NSWAP_ROW_LANES; i++) {
			if (!b->page[check][i])
				b->page[check][i] = alloc_page(GFP_KERNEL);
			if (!b->page[check][i])
				return -ENOMEM;
		}
	}
	return 0;
}

/* Process, sleeps; allocates 1.2 MiB. Returns 0, or -ENOMEM, then free with _exit() */
int nswap_row_store_init(struct nswap_parity *p)
{
	struct nswap_row_buffer *b;
	unsigned int n;

	for (n = 0; n < NSWAP_ROW_BUFFERS; n++) {
		/* one by one: see struct nswap_io */
		b = kzalloc_obj(*b);
		if (!b)
			return -ENOMEM;
		p->buffer[n] = b;
		b->parity = p;
		b->index = n;
		spin_lock_init(&b->lock);
		INIT_DELAYED_WORK(&b->store, row_store_work);
		INIT_LIST_HEAD(&b->io.link);
	}
	return row_store_init_pages(p, 0);
}

/* for rows with two checks; likewise, 1 MiB; in use it may be called again */
int nswap_row_store_init_second(struct nswap_parity *p)
{
	return row_store_init_pages(p, 1);
}

/* the device is dying; process, sleeps until nothing is under way */
void nswap_row_store_stop(struct nswap_parity *p)
{
	unsigned int i;

	for (i = 0; i < NSWAP_ROW_BUFFERS; i++) {
		struct nswap_row_buffer *b = p->buffer[i];

		cancel_delayed_work_sync(&b->store);
		/* pairs with row_store_over() */
		while (atomic_read_acquire(&b->busy))
			schedule_timeout_uninterruptible(1);
		cancel_delayed_work_sync(&b->store);
	}
}

static void row_store_free(struct nswap_row_buffer *b, unsigned int check)
{
	unsigned int lane;

	for (lane = 0; lane < NSWAP_ROW_LANES; lane++)
		if (b->page[check][lane])
			__free_page(b->page[check][lane]);
}

/* undo nswap_row_store_init(); after nswap_row_store_stop(), or without any use */
void nswap_row_store_exit(struct nswap_parity *p)
{
	unsigned int i, check;

	for (i = 0; i < NSWAP_ROW_BUFFERS && p->buffer[i]; i++) {
		for (check = 0; check < NSWAP_ROW_CHECKS; check++)
			row_store_free(p->buffer[i], check);
		kfree(p->buffer[i]);
	}
}
