// SPDX-License-Identifier: GPL-2.0
/*
 * Rows: pages are brought to other cells, from the visible device to cells, and back.
 *
 *   read, or rebuilt -> page-out to new cells -> cell_of[slot]: old -> new, if it is still
 *   the old one; else the new one is dead
 *
 * Invariants:
 *  - The old cell has the page until the new one is acknowledged and recorded; a slot that
 *    was written or freed meanwhile is not touched. Its row is pinned (row.c), so no other
 *    page gets the old cell meanwhile.
 *  - A page of the visible device is MOVING while it is copied, and recorded in its cell
 *    only if it still is: under the switch lock, which a page-out's claim takes too.
 *  - A page on its way back is WRITING on the visible device, where a page-out has to wait
 *    for it; reads get it from its cell until it is there. It leaves its group with what
 *    protects the device by then: a second copy, or one in RAM that follows home.
 *  - While the key of a sealed device is changed its pages get the newest one on their way
 *    to other cells. What is kept of such a page is written while its new cell is WRITING,
 *    once the slot names that: so a page-in waits, or finds that the slot has left the cell.
 *  - Sleeps for peers; uses its own memory alone.
 */
#include "base/bits.h"
#include "client/free.h"
#include "client/pageout.h"
#include "client/pageout_cell.h"
#include "client/pageout_claim.h"
#include "client/rebuild.h"
#include "client/request_queue.h"
#include "client/row.h"
#include "client/wrap.h"
#include "client/seal_key.h"
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/inject.h"
#include "core/node.h"
#include "core/return_mark.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "fill_pace.h"
#include "row_copy.h"

static struct nswap_row_copy *row_copy_of(struct nswap_io *io)
{
	return container_of(io, struct nswap_row_copy, b.io);
}

static bool copy_claim(struct nswap_io *io, unsigned int i)
{
	int ret = nswap_cell_take(io, i);

	if (ret == -EAGAIN && !nswap_cell_impatient(io))
		return false;
	if (ret)
		nswap_request_fail(io, i, 1);
	else
		io->todo |= BIT(i);
	return true;
}

static void copy_failed(struct nswap_io *io, unsigned int i)
{
	struct nswap_parity *p = io->dev->parity;
	u32 cell = io->slot[i];

	nswap_row_close(p, nswap_cell_row(p, cell));
	nswap_cell_dead(p, cell);
	nswap_row_ended(p, cell);
	nswap_request_fail(io, i, 1);
}

/* a page with another key counts from now on, if its slot still names the old cell */
static void copy_stored(struct nswap_io *io, unsigned int i)
{
	struct nswap_row_copy *c = row_copy_of(io);
	u32 *cell_of = &c->parity->cell_of[io->outer[i]];

	nswap_cell_stored(io, i);
	if (!(c->resealed & BIT(i)) ||
	    cmpxchg(cell_of, c->old[i], io->slot[i]) != c->old[i])
		return;
	nswap_wrap_keep(io, i);
	set_bit(i, &c->switched);
}

static const struct nswap_io_ops copy_ops = {
	.claim = copy_claim,
	.stored = copy_stored,
	.ended = nswap_cell_ended,
	.failed = copy_failed,
	.over = nswap_batch_over,
};

/* back to the visible device; the cell has the page until that is done */
static bool back_claim(struct nswap_io *io, unsigned int i)
{
	struct nswap_parity *p = io->dev->parity;
	u32 slot = io->outer[i], old = row_copy_of(io)->old[i];
	bool mine;

	if (!nswap_pageout_protect(io, i))
		return false;
	spin_lock(&p->switch_lock);
	/* groups may be wanted again by now: then it stays in its own */
	mine = !nswap_parity_wanted(io->dev) && READ_ONCE(p->cell_of[slot]) == old &&
	       !nswap_return_under_way(io->dev, slot) &&
	       !nswap_home_copy_due(io->dev, slot) && nswap_cell_claim(io, i, slot);
	spin_unlock(&p->switch_lock);
	if (!mine) {
		nswap_pageout_unprotect(io, i);
		nswap_request_fail(io, i, 1);
		return true;
	}
	io->todo |= BIT(i);
	/* freed just before it was claimed: it is freed when this ends */
	if (READ_ONCE(p->cell_of[slot]) != old)
		nswap_free_slot(io->dev, slot);
	return true;
}

static void back_none(struct nswap_io *io, unsigned int i)
{
}

static void back_failed(struct nswap_io *io, unsigned int i)
{
	nswap_request_fail(io, i, 1);
}

static const struct nswap_io_ops back_ops = {
	.claim = back_claim,
	.stored = back_none,
	.ended = back_none,
	.failed = back_failed,
	.over = nswap_batch_over,
};

/* write the first @nr pages of the batch; returns those that were not written */
static unsigned long copy_write(struct nswap_row_copy *c, struct nswap_device *dev,
				unsigned int nr, const struct nswap_io_ops *ops)
{
	struct nswap_io *io = &c->b.io;

	nswap_inject_point(dev->node->id, NSWAP_POINT_REPAIRING);
	io->dev = dev;
	io->nr = nr;
	io->write = true;
	io->ahead = false;
	io->step = nswap_pageout;
	io->ops = ops;
	return nswap_batch_request(&c->b);
}

/* page @i of the batch becomes page @to */
static void copy_shift(struct nswap_row_copy *c, unsigned int to, unsigned int i)
{
	struct nswap_io *io = &c->b.io;

	swap(io->page[to], io->page[i]);
	io->slot[to] = io->slot[i];
	io->outer[to] = io->outer[i];
	c->old[to] = c->old[i];
	c->held[to] = c->held[i];
}

/* is a page still where it was read? what is kept of its slot has been read before */
static bool copy_same(struct nswap_row_copy *c, unsigned int i)
{
	struct nswap_parity *p = c->parity;
	u32 slot = c->b.io.outer[i];

	return READ_ONCE(p->cell_of[slot]) == c->old[i] &&
	       (c->old[i] || nswap_slot_held(p->dev, slot, &c->held[i]));
}

/*
 * May page @i be written elsewhere? On a sealed device only if it is what the slot's program
 * wrote: else a peer could have others take what it made up.
 */
static bool copy_sound(struct nswap_row_copy *c, unsigned int i)
{
	struct nswap_parity *p = c->parity;
	u32 slot = c->b.io.outer[i];
	struct nswap_slot at;

	if (!p->dev->sealer ||
	    nswap_wrap_open(p->dev, slot, c->b.io.page[i], true))
		return true;
	at = nswap_slot_look(c->old[i] ? p->cells : p->dev, c->old[i] ?: slot);
	if (copy_same(c, i))
		nswap_wrap_broken_at(p->dev, slot, &at);
	return false;
}

/* the page of a cell that could not be read, or was not what it should be */
static bool copy_rebuilt(struct nswap_row_copy *c, unsigned int i)
{
	struct nswap_io *io = &c->b.io;

	c->one.io.outer[0] = io->outer[i];
	if (nswap_cell_recover(c->parity, &c->one, c->old[i], true))
		return false;
	copy_highpage(io->page[i], c->one.io.page[0]);
	nswap_stat_inc(c->parity->dev->node, pages_rebuilt);
	return true;
}

/*
 * Read what was collected, rebuild what cannot be read, and leave out what no slot needs;
 * returns how many there are.
 */
static unsigned int copy_read(struct nswap_row_copy *c, unsigned int nr)
{
	struct nswap_parity *p = c->parity;
	struct nswap_io *io = &c->b.io;
	unsigned int i, n = 0;
	unsigned long failed;

	c->resealed = 0;
	c->switched = 0;
	io->dev = p->cells;
	io->nr = nr;
	failed = nswap_cells_read(&c->b);
	for (i = 0; i < nr; i++) {
		if (!io->outer[i])
			continue;
		if ((failed & BIT(i) || !copy_sound(c, i)) &&
		    !(copy_same(c, i) && copy_rebuilt(c, i)))
			continue;
		copy_shift(c, n++, i);
	}
	return n;
}

/* what is sealed with an old key gets the newest; returns how many pages there are then */
static unsigned int copy_reseal(struct nswap_row_copy *c, unsigned int nr)
{
	struct nswap_device *dev = c->parity->dev;
	unsigned int i, n = 0;

	if (!nswap_seal_key_changing(dev))
		return nr;
	for (i = 0; i < nr; i++) {
		bool old = nswap_seal_key_old(dev, c->b.io.outer[i]);

		copy_shift(c, n, i);
		if (old && !nswap_wrap_again(&c->b.io, n))
			continue;
		c->resealed |= old ? BIT(n) : 0;
		n++;
	}
	return n;
}

/* the page of a slot is in a new cell, or @back, if it still was in the old one */
static void copy_record(struct nswap_row_copy *c, unsigned int i, bool back)
{
	struct nswap_parity *p = c->parity;
	u32 old = c->old[i], cell = back ? 0 : c->b.io.slot[i];

	if (c->resealed & BIT(i)) {
		nswap_cell_dead(p, c->switched & BIT(i) ? old : cell);
		return;
	}
	if (cmpxchg(&p->cell_of[c->b.io.outer[i]], old, cell) == old) {
		nswap_cell_dead(p, old);
		if (!back)
			nswap_stat_inc(p->dev->node, pages_relogged);
	} else if (!back) {
		nswap_cell_dead(p, cell);
	}
}

static int copy_rows(struct nswap_row_copy *c, unsigned int nr, bool back)
{
	struct nswap_parity *p = c->parity;
	unsigned int i, n = copy_read(c, nr);
	unsigned long failed;

	if (n && !back)
		n = copy_reseal(c, n);
	if (!n)
		return 0;
	failed = back ? copy_write(c, p->dev, n, &back_ops) :
			copy_write(c, p->cells, n, &copy_ops);
	for (i = 0; i < n; i++)
		if (!(failed & BIT(i)))
			copy_record(c, i, back);
	nswap_client_kick(p->dev->node);
	return failed == GENMASK(n - 1, 0) ? -EAGAIN : n;
}

/*
 * Write the first @nr pages of the batch, which are in cells, to other cells. Process,
 * sleeps for peers. Returns how many were read for it, -EAGAIN if none could be written.
 */
int nswap_row_copy_cells(struct nswap_row_copy *c, unsigned int nr)
{
	return copy_rows(c, nr, false);
}

/* write them to the visible device; likewise */
int nswap_row_copy_outer(struct nswap_row_copy *c, unsigned int nr)
{
	return copy_rows(c, nr, true);
}

/* pages of the visible device that peers hold, MOVING from now on; returns how many */
static unsigned int copy_hold(struct nswap_row_copy *c)
{
	struct nswap_device *dev = c->parity->dev;
	unsigned int looked, n = 0;

	for (looked = 0; looked < nswap_fill_look(dev) && n < NSWAP_REQ_SLOTS; looked++) {
		c->slot = nswap_slot_map_turn(&dev->map, c->slot);
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
		if (nswap_slot_look(dev, c->slot).state != NSWAP_SLOT_REMOTE ||
		    !nswap_slot_hold(dev, c->slot, &c->held[n]))
			continue;
		c->b.io.slot[n] = c->slot;
		c->b.io.outer[n] = c->slot;
		c->old[n++] = 0;
	}
	return n;
}

/* MOVING -> FREEING, if it is still held: its page is in a cell */
static bool copy_slot_left(struct nswap_slot *s, const struct nswap_slot *held)
{
	if (!nswap_slot_is(s, NSWAP_SLOT_MOVING, held->peer, held->gen))
		return false;
	*s = (struct nswap_slot){
		.state = NSWAP_SLOT_FREEING, .peer = held->peer, .gen = held->gen,
	};
	return true;
}

/* a page of the visible device has a cell, if nothing happened to it meanwhile */
static void copy_switch(struct nswap_row_copy *c, unsigned int i)
{
	struct nswap_parity *p = c->parity;
	u32 slot = c->b.io.outer[i], cell = c->b.io.slot[i];
	bool recorded, left = false;
	struct nswap_slot was;

	spin_lock(&p->switch_lock);
	recorded = nswap_slot_held(p->dev, slot, &c->held[i]) &&
		   !cmpxchg(&p->cell_of[slot], 0, cell);
	if (recorded) {
		nswap_slot_map_use(&p->dev->map, slot);
		left = nswap_slot_update(p->dev, slot, &was, copy_slot_left,
					 &c->held[i]);
	}
	/* freed meanwhile: its cell is not to stay, unless that has seen it, too */
	if (recorded && !left)
		recorded = cmpxchg(&p->cell_of[slot], cell, 0) != cell;
	spin_unlock(&p->switch_lock);
	if (left) {
		nswap_free_told(p->dev, slot);
		nswap_stat_inc(p->dev->node, pages_relogged);
		return;
	}
	if (!recorded)
		nswap_cell_dead(p, cell);
	nswap_slot_release(p->dev, slot, &c->held[i], c->held[i].peer);
}

/* bring pages of the visible device, which peers hold, to cells; likewise */
unsigned int nswap_row_copy_in(struct nswap_row_copy *c)
{
	struct nswap_parity *p = c->parity;
	unsigned int i, n = 0, nr = copy_hold(c);
	struct nswap_io *io = &c->b.io;
	unsigned long failed;

	if (!nr)
		return 0;
	c->resealed = 0;
	io->dev = p->dev;
	io->nr = nr;
	failed = nswap_cells_read(&c->b);
	for (i = 0; i < nr; i++) {
		if (failed & BIT(i) || !copy_sound(c, i))
			nswap_slot_release(p->dev, io->outer[i], &c->held[i],
					   c->held[i].peer);
		else
			copy_shift(c, n++, i);
	}
	failed = n ? copy_write(c, p->cells, n, &copy_ops) : 0;
	for (i = 0; i < n; i++) {
		if (failed & BIT(i))
			nswap_slot_release(p->dev, io->outer[i], &c->held[i],
					   c->held[i].peer);
		else
			copy_switch(c, i);
	}
	nswap_client_kick(p->dev->node);
	return n && failed != GENMASK(n - 1, 0) ? n : 0;
}

/* @c is zeroed. Process, sleeps; allocates 200 KiB. False: no memory; then exit */
bool nswap_row_copy_init(struct nswap_row_copy *c, struct nswap_parity *p)
{
	c->parity = p;
	INIT_LIST_HEAD(&c->b.io.link);
	INIT_LIST_HEAD(&c->one.io.link);
	c->b.io.patient = true;
	c->one.io.patient = true;
	return nswap_batch_init(&c->b, p->cells, NSWAP_REQ_SLOTS) &&
	       nswap_batch_init(&c->one, p->cells, NSWAP_ROW_WIDTH);
}

/* undo nswap_row_copy_init() */
void nswap_row_copy_exit(struct nswap_row_copy *c)
{
	nswap_batch_exit(&c->b);
	nswap_batch_exit(&c->one);
}
