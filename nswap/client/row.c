// SPDX-License-Identifier: GPL-2.0
/*
 * Rows: the cells of a device that is protected by parity.
 *
 *   FREE -> OPEN: strips and a buffer are taken
 *   OPEN -> FULL: its last cell is taken, or there is no peer for the next position
 *   FULL -> STORING: no page of it is on its way any more; row_store.c sends the checks
 *   STORING -> CLOSED: they are acknowledged, or no page of it is needed any more
 *   CLOSED -> FREE: all its groups are freed
 *
 * A cell is taken for a slot, and dead when the slot is written elsewhere or freed. A dead
 * cell keeps its page: the others of its group are rebuilt from it. The cells of a group
 * are freed when the last one is dead and the row is CLOSED.
 *
 * Invariants:
 *  - A cell is written once in each use of its row, and a page is in the check from its
 *    ack on, before its cell is recorded. So until the checks are stored this node's RAM
 *    has them, and from then on neither they nor the pages change.
 *  - slot_of[cell] is set before cell_of[slot] names the cell, and taken away by exchange,
 *    by the one task that makes the cell dead, after cell_of[slot] names it no longer.
 *  - A reader looks at the cell's word first and at cell_of[slot] then: if that still names
 *    the cell, the word was that of the slot's page. A page-in of a cell names what it
 *    wants by generation, so one that is late gets the page or nothing.
 *  - A freed cell may be FREEING when it is taken again: its page-out sees to the old copy
 *    as with any slot.
 *  - Any context but nswap_row_add(): the swap core frees slots under a spinlock with
 *    interrupts off. Nothing here sleeps or allocates.
 *
 * [1] docs/protection.md, "Parity logging"; after Stodolsky, Gibson, Holland: Parity
 * Logging (1993), with the log in place of the data.
 */
#include "base/workqueues.h"
#include "core/client_state.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "free.h"
#include "peers/peer.h"
#include "pure/page_xor.h"
#include "row.h"

#define FEW_PART	16	/* strips are few when less than this part is unused */

/*
 * What a row has that is opened when this many peers, two or more, have room. With few
 * strips left it has one check: rather exposed to a second death than waiting. Any context.
 */
void nswap_row_shape(const struct nswap_parity *p, unsigned int peers,
		     struct nswap_group_shape *shape)
{
	u32 few = NSWAP_ROW_KEPT + max(p->nr_strips / FEW_PART, NSWAP_ROW_WIDTH);

	shape->checks = min_t(unsigned int, READ_ONCE(p->want.checks), peers - 1);
	if (READ_ONCE(p->nr_unused) < few)
		shape->checks = 1;
	shape->pages = min_t(unsigned int, READ_ONCE(p->want.pages),
			     peers - shape->checks);
}

/* the position of a cell in a row; past the last one if it is not in it */
unsigned int nswap_row_position(const struct nswap_row *r, u32 cell)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(r->nr) + READ_ONCE(r->checks); i++)
		if (READ_ONCE(r->strip[i]) == cell / NSWAP_ROW_LANES)
			break;
	return i;
}

static struct nswap_row_buffer *row_find_buffer(struct nswap_parity *p, bool spare)
{
	unsigned int i, most = NSWAP_ROW_BUFFERS -
			       (!spare ? NSWAP_ROW_SPARE : !READ_ONCE(p->last_buffer));

	if (p->nr_buffers >= most)
		return NULL;
	for (i = 0; p->buffer[i]->used; i++)
		;
	return p->buffer[i];
}

static struct nswap_row *row_find(struct nswap_parity *p)
{
	u32 n;

	for (n = 0; n < p->nr_rows; n++) {
		struct nswap_row *r = &p->row[p->next_row];

		p->next_row = (p->next_row + 1) % p->nr_rows;
		if (r->state == NSWAP_ROW_FREE)
			return r;
	}
	return NULL;
}

/* a row that is FREE becomes OPEN */
static void row_begin(struct nswap_row *r, const struct nswap_group_shape *shape,
		      unsigned int buffer, bool spare)
{
	WRITE_ONCE(r->use, r->use + 1);
	/* pairs with nswap_cell_rebuild(): what it reads of this use comes after */
	smp_wmb();
	memset(r->member, 0, sizeof(r->member));
	memset(r->moving, 0, sizeof(r->moving));
	r->freed = 0;
	r->live = 0;
	r->under_way = 0;
	r->spare = spare;
	WRITE_ONCE(r->wanted, false);
	WRITE_ONCE(r->passed, 0);
	WRITE_ONCE(r->nr, shape->pages);
	WRITE_ONCE(r->checks, shape->checks);
	WRITE_ONCE(r->buffer, buffer);
	WRITE_ONCE(r->state, NSWAP_ROW_OPEN);
}

/* @peers: how many have room. Returns 0, or as nswap_row_take() */
static int row_open(struct nswap_parity *p, unsigned int peers, bool spare)
{
	struct nswap_row_buffer *b = row_find_buffer(p, spare);
	u32 strips = p->nr_unused, kept = spare ? 0 : NSWAP_ROW_KEPT;
	struct nswap_group_shape shape;
	struct nswap_row *r;
	unsigned int i;

	if (peers < 2)
		return -ENOSPC;
	nswap_row_shape(p, peers, &shape);
	if (!b || strips < shape.pages + shape.checks + kept)
		return -EAGAIN;
	r = row_find(p);
	if (!r)
		return -EAGAIN;
	row_begin(r, &shape, b->index, spare);
	for (i = 0; i < r->nr + r->checks; i++) {
		WRITE_ONCE(r->strip[i], p->unused[--p->nr_unused]);
		WRITE_ONCE(p->row_of[r->strip[i]], r - p->row);
	}
	b->used = true;
	b->row = r - p->row;
	p->nr_buffers++;
	p->open[spare] = b->row;
	p->cursor[spare] = 0;
	return 0;
}

static void row_store_soon(struct nswap_parity *p, struct nswap_row *r)
{
	WRITE_ONCE(r->state, NSWAP_ROW_STORING);
	queue_delayed_work(nswap_io_wq, &p->buffer[r->buffer]->store, 0);
}

/* no cell of it is taken any more; positions without one go back */
static void row_full(struct nswap_parity *p, struct nswap_row *r)
{
	unsigned int used = DIV_ROUND_UP(p->cursor[r->spare], NSWAP_ROW_LANES), i;

	p->open[r->spare] = NSWAP_ROW_NONE;
	WRITE_ONCE(r->state, NSWAP_ROW_FULL);
	for (i = used; i < r->nr; i++) {
		WRITE_ONCE(p->row_of[r->strip[i]], NSWAP_ROW_NONE);
		p->unused[p->nr_unused++] = r->strip[i];
	}
	for (i = 0; i < r->checks; i++)
		WRITE_ONCE(r->strip[used + i], r->strip[r->nr + i]);
	WRITE_ONCE(r->nr, used);
	if (!r->under_way)
		row_store_soon(p, r);
}

/**
 * nswap_row_take() - take a cell for a slot
 * @p: rows
 * @slot: slot of the visible device, not 0
 * @peers: how many peers have room: a row is no wider
 * @spare: for recovery or cleaning, which has a row and buffers of its own
 * @cell: result; nswap_row_ended() and nswap_cell_dead() give it up
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: 0; -EAGAIN: all buffers are in use, or rows have to be cleaned first; -ENOSPC:
 * too few peers.
 */
int nswap_row_take(struct nswap_parity *p, u32 slot, unsigned int peers, bool spare,
		   u32 *cell)
{
	struct nswap_row *r;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&p->lock, flags);
	if (p->open[spare] == NSWAP_ROW_NONE)
		ret = row_open(p, peers, spare);
	if (!ret) {
		r = &p->row[p->open[spare]];
		*cell = nswap_row_cell(r, p->cursor[spare] / NSWAP_ROW_LANES,
				       p->cursor[spare] % NSWAP_ROW_LANES);
		p->cursor[spare]++;
		r->under_way++;
		WRITE_ONCE(r->live, r->live + 1);
		atomic64_inc(&p->live);
		WRITE_ONCE(p->slot_of[*cell], slot);
		if (p->cursor[spare] == r->nr * NSWAP_ROW_LANES)
			row_full(p, r);
	}
	spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}

/* @more: other pages of the lane are in its checks; under the lock of the buffer */
static void row_check(struct nswap_parity *p, const struct nswap_row *r,
		      struct nswap_row_buffer *b, unsigned int at, unsigned int lane,
		      bool more, struct page *page)
{
	if (r->checks > 1) {
		if (!more) {
			clear_highpage(b->page[0][lane]);
			clear_highpage(b->page[1][lane]);
		}
		nswap_raid6_add(&p->raid6, at, page, b->page[0][lane],
				b->page[1][lane]);
	} else if (more) {
		nswap_page_xor(b->page[0][lane], page);
	} else {
		copy_highpage(b->page[0][lane], page);
	}
}

/**
 * nswap_row_add() - add a page to the checks of its group
 * @p: rows
 * @cell: its cell, taken and not ended
 * @page: what its peer has; does not change any more
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_row_add(struct nswap_parity *p, u32 cell, struct page *page)
{
	struct nswap_row *r = &p->row[nswap_cell_row(p, cell)];
	struct nswap_row_buffer *b = p->buffer[r->buffer];
	unsigned int lane = nswap_cell_lane(cell), i, at = nswap_row_position(r, cell);
	u32 any = 0;

	spin_lock(&b->lock);
	for (i = 0; i < r->nr; i++)
		any |= r->member[i];
	row_check(p, r, b, at, lane, any & BIT(lane), page);
	r->member[at] |= BIT(lane);
	spin_unlock(&b->lock);
}

/* a cell that was taken is recorded, or was given up; any context */
void nswap_row_ended(struct nswap_parity *p, u32 cell)
{
	struct nswap_row *r = &p->row[nswap_cell_row(p, cell)];
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	if (!--r->under_way && r->state == NSWAP_ROW_FULL)
		row_store_soon(p, r);
	spin_unlock_irqrestore(&p->lock, flags);
}

/* if it is open: no further cell of it; any context */
void nswap_row_close(struct nswap_parity *p, u32 row)
{
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	if (row != NSWAP_ROW_NONE && p->row[row].state == NSWAP_ROW_OPEN)
		row_full(p, &p->row[row]);
	spin_unlock_irqrestore(&p->lock, flags);
}

/* does its peer have its page no more, or is it dead? a snapshot; any context */
bool nswap_cell_bad(const struct nswap_parity *p, u32 cell)
{
	struct nswap_slot s = nswap_slot_look(p->cells, cell);

	return s.state == NSWAP_SLOT_LOST ||
	       (nswap_slot_at_peer(&s) && nswap_peer_gone(p->dev->node, s.peer));
}

/* how many cells of a group are bad? a snapshot; any context */
unsigned int nswap_row_bad(const struct nswap_parity *p, const struct nswap_row *r,
			   unsigned int lane)
{
	unsigned int i, n = 0, nr = nswap_row_strips(r);

	for (i = 0; i < nr; i++)
		n += nswap_cell_bad(p, nswap_row_cell(r, i, lane));
	return n;
}

static bool row_lane_dead(const struct nswap_parity *p, const struct nswap_row *r,
			  unsigned int lane)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (READ_ONCE(p->slot_of[nswap_row_cell(r, i, lane)]))
			return false;
	return true;
}

static void row_free(struct nswap_parity *p, struct nswap_row *r)
{
	unsigned int i;

	WRITE_ONCE(r->state, NSWAP_ROW_FREE);
	for (i = 0; i < r->nr + r->checks; i++) {
		WRITE_ONCE(p->row_of[r->strip[i]], NSWAP_ROW_NONE);
		p->unused[p->nr_unused++] = r->strip[i];
	}
}

/* free the cells of a lane, if none of them is needed any more */
static void row_lane_free(struct nswap_parity *p, struct nswap_row *r, unsigned int lane)
{
	unsigned int i;

	if (r->pinned || r->freed & BIT(lane) || !row_lane_dead(p, r, lane))
		return;
	r->freed |= BIT(lane);
	for (i = 0; i < r->nr + r->checks; i++)
		nswap_free_slot(p->cells, nswap_row_cell(r, i, lane));
	if (r->freed == GENMASK(NSWAP_ROW_LANES - 1, 0))
		row_free(p, r);
}

/* of a row that is CLOSED, free those groups that can be */
static void row_lanes_free(struct nswap_parity *p, struct nswap_row *r)
{
	unsigned int lane;

	for (lane = 0; lane < NSWAP_ROW_LANES && r->state == NSWAP_ROW_CLOSED; lane++)
		row_lane_free(p, r, lane);
}

/* the checks of a row are stored, or of no use; its buffer is free; any context */
void nswap_row_stored(struct nswap_parity *p, u32 row)
{
	struct nswap_row *r = &p->row[row];
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	p->buffer[r->buffer]->used = false;
	p->nr_buffers--;
	/* pairs with nswap_row_strips() and rebuild_collect() */
	smp_store_release(&r->state, NSWAP_ROW_CLOSED);
	row_lanes_free(p, r);
	spin_unlock_irqrestore(&p->lock, flags);
}

/* keep a row that is not open, and its groups, until nswap_row_unpin(); any context */
bool nswap_row_pin(struct nswap_parity *p, u32 row)
{
	struct nswap_row *r = &p->row[row];
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&p->lock, flags);
	ret = r->state >= NSWAP_ROW_STORING;
	if (ret)
		r->pinned = true;
	spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}

/* undo nswap_row_pin(); any context */
void nswap_row_unpin(struct nswap_parity *p, u32 row)
{
	struct nswap_row *r = &p->row[row];
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	r->pinned = false;
	row_lanes_free(p, r);
	spin_unlock_irqrestore(&p->lock, flags);
}

/* no slot needs the page of a cell any more; it may be dead already; any context */
void nswap_cell_dead(struct nswap_parity *p, u32 cell)
{
	struct nswap_row *r;
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	if (p->slot_of[cell]) {
		WRITE_ONCE(p->slot_of[cell], 0);
		r = &p->row[nswap_cell_row(p, cell)];
		WRITE_ONCE(r->live, r->live - 1);
		atomic64_dec(&p->live);
		if (r->state == NSWAP_ROW_CLOSED)
			row_lane_free(p, r, nswap_cell_lane(cell));
	}
	spin_unlock_irqrestore(&p->lock, flags);
}

/*
 * A slot's page is about to be written to a cell, which was taken for it: what it had
 * before is of no use. Process, page-out path.
 */
void nswap_parity_map(struct nswap_parity *p, u32 slot, u32 cell)
{
	u32 old = xchg(&p->cell_of[slot], cell);

	nswap_slot_map_use(&p->dev->map, slot);
	if (old)
		nswap_cell_dead(p, old);
	nswap_free_slot(p->dev, slot);
}

/* nswap_free_slot() for a device that may have rows; any context, interrupts off too */
void nswap_parity_free(struct nswap_device *dev, u64 slot)
{
	struct nswap_parity *p = nswap_parity_of(dev);
	u32 cell;

	nswap_free_slot(dev, slot);
	cell = p ? xchg(&p->cell_of[slot], 0) : 0;
	if (!cell)
		return;
	nswap_cell_dead(p, cell);
	/* it may have been on its way back to the visible device (row_copy.c) */
	nswap_free_slot(dev, slot);
}
