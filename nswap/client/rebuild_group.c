// SPDX-License-Identifier: GPL-2.0
/*
 * The page of a cell from the others of its group: read from their peers, and summed up.
 * If one of them cannot be read either, and the group has a second check, both are computed
 * with that.
 *
 * Invariants: those of rebuild.c.
 */
#include "base/raid6.h"
#include "core/slot_update.h"
#include "pagein.h"
#include "pagein_copy.h"
#include "pure/page_xor.h"
#include "rebuild.h"
#include "row.h"

/**
 * struct rebuild_group - the pages of a group that are in a batch
 * @nr: how many, from the batch's first one on, before second checks
 * @to_read: how many of them are read from peers
 * @here: the first check, the last of them, is not: this node's RAM had it, and the second
 *	one, which is the page after it
 * @checks: the group has
 * @at: the position that is to be computed
 * @position: of each page
 * @second: cell of the second check
 */
struct rebuild_group {
	unsigned int nr;
	unsigned int to_read;
	bool here;
	unsigned int checks;
	unsigned int at;
	u8 position[NSWAP_ROW_WIDTH];
	u32 second;
};

static const struct nswap_io_ops cells_read_ops = {
	.over = nswap_batch_over,
};

/*
 * Read cells or slots of a device into the pages of a batch: its io's @dev, @slot and @nr
 * are set, and @patient. Process, sleeps until peers have answered. Returns those that
 * failed.
 */
unsigned long nswap_cells_read(struct nswap_batch *b)
{
	struct nswap_io *io = &b->io;

	io->write = false;
	io->step = nswap_pagein;
	io->ops = &cells_read_ops;
	io->ahead = true;
	return nswap_batch_request(b);
}

/* the checks of a lane as they are now, into the batch; under the buffer's lock */
static void rebuild_take_checks(struct nswap_batch *b, const struct rebuild_group *g,
				const struct nswap_row_buffer *buf, unsigned int lane)
{
	unsigned int i;

	for (i = 0; i < g->checks; i++)
		copy_highpage(b->io.page[g->nr + i], buf->page[i][lane]);
}

/*
 * The other pages of a group that are in its checks, as slots of @b, and the first check.
 * Returns 0; -ESTALE: the row has not got the cell; -EINVAL: the cell's page is not in the
 * checks.
 */
static int rebuild_collect(struct nswap_parity *p, struct nswap_batch *b,
			   const struct nswap_row *r, u32 cell, struct rebuild_group *g)
{
	struct nswap_row_buffer *buf = p->buffer[READ_ONCE(r->buffer)];
	unsigned int lane = nswap_cell_lane(cell), nr, i;
	int ret = 0;

	*g = (struct rebuild_group){
		.at = nswap_row_position(r, cell), .checks = READ_ONCE(r->checks),
	};
	spin_lock(&buf->lock);
	/* pairs with nswap_row_stored(): where the checks are does not change afterwards */
	g->here = smp_load_acquire(&r->state) != NSWAP_ROW_CLOSED;
	nr = READ_ONCE(r->nr);
	if (g->at >= nr) {
		spin_unlock(&buf->lock);
		return -ESTALE;
	}
	g->second = nswap_row_cell(r, nr + g->checks - 1, lane);
	for (i = 0; i < nr; i++) {
		if (i == g->at || !(r->member[i] & BIT(lane)))
			continue;
		g->position[g->nr] = i;
		b->io.slot[g->nr++] = nswap_row_cell(r, i, lane);
	}
	g->position[g->nr] = NSWAP_RAID6_P;
	if (g->here)
		rebuild_take_checks(b, g, buf, lane);
	else
		b->io.slot[g->nr] = nswap_row_cell(r, nr, lane);
	if (!(r->member[g->at] & BIT(lane)))
		ret = -EINVAL;
	spin_unlock(&buf->lock);
	g->to_read = g->nr + !g->here;
	g->nr++;
	return ret;
}

/* the second check, into the page after the others; returns whether it is there */
static bool rebuild_second(struct nswap_parity *p, struct nswap_batch *b,
			   const struct rebuild_group *g)
{
	u32 first = b->io.slot[0];
	bool good;

	if (g->here)
		return true;
	swap(b->io.page[0], b->io.page[g->nr]);
	b->io.slot[0] = g->second;
	b->io.nr = 1;
	good = !nswap_cells_read(b);
	b->io.slot[0] = first;
	swap(b->io.page[0], b->io.page[g->nr]);
	return good;
}

/* all but @failed of the group are there, and the second check; into the first page */
static void rebuild_solve(struct nswap_parity *p, struct nswap_batch *b,
			  const struct rebuild_group *g, unsigned int failed)
{
	struct page *page[NSWAP_RAID6_PAGES] = { };
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		page[g->position[i]] = b->io.page[i];
	page[NSWAP_RAID6_Q] = b->io.page[g->nr];
	page[g->at] = b->io.page[g->nr + 1];
	nswap_raid6_solve(&p->raid6, page, g->at, g->position[failed]);
	swap(b->io.page[0], b->io.page[g->nr + 1]);
}

/* @without: the page that is left out. Returns 0, -EAGAIN; -ENOENT: that cannot be */
static int rebuild_compute(struct nswap_parity *p, struct nswap_batch *b,
			   const struct rebuild_group *g, unsigned int without)
{
	unsigned long failed = 0;
	unsigned int i;

	if (without != NSWAP_CELL_ALL && (g->checks < 2 || without >= g->to_read))
		return -ENOENT;
	b->io.dev = p->cells;
	b->io.nr = g->to_read;
	if (g->to_read)
		failed = nswap_cells_read(b);
	if (without != NSWAP_CELL_ALL)
		failed |= BIT(without);
	if (failed) {
		i = __ffs(failed);
		if (failed != BIT(i) || g->checks < 2 || !rebuild_second(p, b, g))
			return -EAGAIN;
		rebuild_solve(p, b, g, i);
		return 0;
	}
	for (i = 1; i < g->nr; i++)
		nswap_page_xor(b->io.page[0], b->io.page[i]);
	return 0;
}

/* could a cell be rebuilt now, without waiting for a slow peer? any context; a guess */
bool nswap_cell_rebuildable(const struct nswap_parity *p, u32 cell)
{
	u32 row = nswap_cell_row(p, cell);
	unsigned int i, nr, slow = 0;
	const struct nswap_row *r;

	if (row == NSWAP_ROW_NONE)
		return false;
	r = &p->row[row];
	nr = nswap_row_strips(r);
	for (i = 0; i < nr; i++) {
		u32 other = nswap_row_cell(r, i, nswap_cell_lane(cell));
		struct nswap_slot s = nswap_slot_look(p->cells, other);

		slow += other != cell &&
			(s.state == NSWAP_SLOT_LOST ||
			 (nswap_slot_at_peer(&s) &&
			  nswap_copy_slow(p->dev->node, s.peer)));
	}
	return slow < READ_ONCE(r->checks);
}

/**
 * nswap_cell_rebuild() - compute the page of a cell from the others of its group
 * @p: rows
 * @b: batch with NSWAP_ROW_WIDTH pages, its io's @patient is set; the result is in its
 *	first one
 * @cell: cell that a slot names, or did
 * @without: do without this one of the others, counted from 0; NSWAP_CELL_ALL
 *
 * Context: process, sleeps until peers have answered, are known not to, or are late.
 * Return: 0; -EAGAIN: not now; -ESTALE: its row has been freed; -EINVAL: its page is in
 * no check; -ENOENT: there are not as many others, or no second check to do without one.
 */
int nswap_cell_rebuild(struct nswap_parity *p, struct nswap_batch *b, u32 cell,
		       unsigned int without)
{
	u32 row = nswap_cell_row(p, cell), use;
	struct rebuild_group g;
	int ret;

	if (row == NSWAP_ROW_NONE)
		return -ESTALE;
	use = READ_ONCE(p->row[row].use);
	/* what is read of the row belongs to this use of it, or one that comes later */
	smp_rmb();
	ret = rebuild_collect(p, b, &p->row[row], cell, &g) ?:
	      rebuild_compute(p, b, &g, without);
	if (ret)
		return ret;
	/* likewise */
	smp_rmb();
	return nswap_cell_row(p, cell) == row && READ_ONCE(p->row[row].use) == use ?
	       0 : -ESTALE;
}
