// SPDX-License-Identifier: GPL-2.0
/*
 * Page-out to cells, of a device that is protected by parity.
 *
 *   claim: the next cell is taken -> WRITING, and the slot is recorded there
 *   place: a peer that no other page of its group is at
 *   ack:   the page is added to its group's check, -> REMOTE, and the page-out ends
 *   no cell or no peer for too long: the page is spilled, written as on a device without
 *          parity; it is exposed there until it is brought to a cell (row_clean.c)
 *
 * Invariants:
 *  - A group's pages are at different peers: under place_lock the peers of the others are
 *    looked up, one that is none of them is chosen, and the cell's word names it.
 *  - A slot is recorded in its cell before the page-out goes on, and what it had before is
 *    given up: as with a slot that is claimed, a write that fails leaves no older page.
 *  - A page that is spilled leaves its cell before the slot is claimed on the visible
 *    device; if the slot is in another cell by then, it was written again.
 */
#include "core/client_state.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "free.h"
#include "pageout_cell.h"
#include "peers/place.h"
#include "row.h"

#define SPILL_AFTER_MS	250	/* with a flash or home, else: */
#define SPILL_TIMEOUTS	2	/* after one, rows that have all buffers try other peers */

/* has it waited long enough for a cell or a peer? */
bool nswap_cell_impatient(const struct nswap_io *io)
{
	struct nswap_device *dev = io->dev->outer;

	if (dev->home || dev->flash)
		return time_after(jiffies, io->since + msecs_to_jiffies(SPILL_AFTER_MS));
	return nswap_client_expired(dev->node, io->since, SPILL_TIMEOUTS *
				    nswap_knob(dev->node, store_timeout_ms));
}

/* EMPTY, FREEING, or a check that was not stored -> WRITING */
static bool cell_claimed(struct nswap_slot *s)
{
	if (s->state == NSWAP_SLOT_WRITING)
		return false;
	*s = (struct nswap_slot){
		.state = NSWAP_SLOT_WRITING, .gen = nswap_gen_next(s->gen),
	};
	return true;
}

/* @cell is the request's now; false if an older page-out of it has not ended; process */
bool nswap_cell_claim(struct nswap_io *io, unsigned int i, u32 cell)
{
	io->slot[i] = cell;
	return nswap_slot_update(io->dev, cell, &io->old[i], cell_claimed);
}

/*
 * Take and claim a cell for the page of a slot, the request's @outer. Process,
 * page-out path; does not sleep. Returns 0, or as nswap_row_take().
 */
int nswap_cell_take(struct nswap_io *io, unsigned int i)
{
	struct nswap_parity *p = io->dev->parity;
	unsigned int peers = nswap_place_count(io->dev->node);
	u32 cell;
	int ret;

	while (!(ret = nswap_row_take(p, io->outer[i], peers, nswap_io_own(io),
				      &cell)) &&
	       !nswap_cell_claim(io, i, cell)) {
		nswap_cell_dead(p, cell);
		nswap_row_ended(p, cell);
	}
	return ret;
}

static bool pageout_cell_claim(struct nswap_io *io, unsigned int i)
{
	int ret = nswap_cell_take(io, i);

	if (ret == -EAGAIN && !nswap_cell_impatient(io)) {
		/* grants are of use: the checks may wait for them */
		nswap_client_used(io->dev->node);
		return false;
	}
	if (ret) {
		io->rest |= BIT(i);
		return true;
	}
	nswap_parity_map(io->dev->parity, io->outer[i], io->slot[i]);
	io->todo |= BIT(i);
	return true;
}

/* its peer has the page: it is in the check from now on; process, page-out path */
void nswap_cell_stored(struct nswap_io *io, unsigned int i)
{
	nswap_row_add(io->dev->parity, io->slot[i], io->page[i]);
}

/* it is recorded; likewise */
void nswap_cell_ended(struct nswap_io *io, unsigned int i)
{
	nswap_row_ended(io->dev->parity, io->slot[i]);
}

static void pageout_cell_failed(struct nswap_io *io, unsigned int i)
{
	struct nswap_parity *p = io->dev->parity;
	u32 cell = io->slot[i], slot = io->outer[i];

	/* there may be no peer for this position any more */
	nswap_row_close(p, nswap_cell_row(p, cell));
	if (cmpxchg(&p->cell_of[slot], cell, 0) == cell) {
		io->rest |= BIT(i);
		nswap_cell_dead(p, cell);
	}
	nswap_row_ended(p, cell);
}

const struct nswap_io_ops nswap_pageout_cell_ops = {
	.claim = pageout_cell_claim,
	.stored = nswap_cell_stored,
	.ended = nswap_cell_ended,
	.failed = pageout_cell_failed,
};

/*
 * A page-out of a visible device goes to its cells, but for the swap header. @io: nothing
 * of it is claimed; process, page-out path.
 */
void nswap_pageout_to_cells(struct nswap_io *io)
{
	io->rest = io->outer[0] ? 0 : BIT(0);
	io->unclaimed &= ~io->rest;
	io->ops = &nswap_pageout_cell_ops;
	io->dev = nswap_parity_of(io->dev)->cells;
}

/*
 * What is left of a page-out is written to the visible device. @io: nothing of it is under
 * way; process, page-out path.
 */
void nswap_pageout_spilled(struct nswap_io *io)
{
	unsigned int i;

	io->dev = io->dev->outer;
	io->ops = NULL;
	for_each_set_bit(i, &io->rest, NSWAP_REQ_SLOTS)
		io->slot[i] = io->outer[i];
	io->unclaimed = io->rest;
	io->rest = 0;
	io->since = jiffies;
}

/* the peers that have, or are to have, other pages of a cell's group */
static void cell_avoid(struct nswap_parity *p, u32 cell, struct nswap_place_avoid *avoid)
{
	const struct nswap_row *r = &p->row[nswap_cell_row(p, cell)];
	unsigned int lane = nswap_cell_lane(cell), i;

	nswap_place_avoid_add(avoid, READ_ONCE(r->moving[lane]));
	for (i = 0; i < r->nr + r->checks; i++) {
		u32 other = nswap_row_cell(r, i, lane);
		struct nswap_slot s = nswap_slot_look(p->cells, other);

		if (other != cell && s.state != NSWAP_SLOT_FREEING)
			nswap_place_avoid_add(avoid, s.peer);
	}
}

/*
 * Those that may not be chosen for adjacent cells, and the one that has the page before
 * them. Returns how many of the cells it is the same for.
 */
static unsigned int cell_avoid_run(struct nswap_io *io, unsigned int first,
				   unsigned int nr, struct nswap_place_avoid *avoid)
{
	struct nswap_parity *p = io->dev->parity;
	u32 cell = io->slot[first];
	unsigned int n;
	u8 were;

	avoid->nr = 0;
	avoid->prefer = nswap_cell_lane(cell) ?
			nswap_slot_look(p->cells, cell - 1).peer : 0;
	cell_avoid(p, cell, avoid);
	were = avoid->nr;
	for (n = 1; n < nr && nswap_cell_lane(cell + n); n++) {
		cell_avoid(p, cell + n, avoid);
		if (avoid->nr != were)
			break;
	}
	avoid->nr = were;
	return n;
}

/* WRITING, with a peer it is sent to */
static bool cell_placed(struct nswap_slot *s, u16 peer)
{
	s->peer = peer;
	return true;
}

/**
 * nswap_cell_place() - nswap_place_take() for adjacent cells
 * @io: page-out
 * @first: first cell, counted from the request's, WRITING and to be placed
 * @nr: how many
 * @index: the chosen peer, which their words name
 *
 * Context: process, page-out path; does not sleep.
 * Return: how many the peer takes; -EAGAIN: no grant now, but some may come; -ENOSPC:
 * no room at a peer that has no page of their groups.
 */
int nswap_cell_place(struct nswap_io *io, unsigned int first, unsigned int nr,
		     u16 *index)
{
	struct nswap_parity *p = io->dev->parity;
	struct nswap_place_avoid avoid;
	struct nswap_slot was;
	int i, n;

	spin_lock(&p->place_lock);
	nr = cell_avoid_run(io, first, nr, &avoid);
	n = nswap_place_take_apart(io->dev, nr, &avoid, index);
	for (i = 0; i < n; i++)
		nswap_slot_update(io->dev, io->slot[first + i], &was, cell_placed,
				  *index);
	spin_unlock(&p->place_lock);
	return n;
}
