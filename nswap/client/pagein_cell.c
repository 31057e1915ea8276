// SPDX-License-Identifier: GPL-2.0
/*
 * Page-in of a device that is protected by parity: each slot's page is in a cell, or with
 * the visible device, as it was before parity was turned on, or when it found no cell.
 *
 *   a request -> its slots in cells -> the others -> what could not be read is rebuilt
 *                     ^----- a slot that is elsewhere by now -----'
 *
 * Invariants:
 *  - A cell is looked up in cell_of[] before its word is read, and again afterwards
 *    (row.c): a word counts only if the slot still has the cell then. So a page that moves
 *    between the two devices is looked for again, never missed.
 *  - Reads by this module itself (ops->over) name cells, not slots, and fail early.
 */
#include "core/node.h"
#include "core/slot_update.h"
#include "pagein_cell.h"
#include "peers/peer.h"

/*
 * Turn to the slots that are left: those in cells, or those that are not. @io: nothing of
 * it is under way; process, page-in path. False if none is left.
 */
bool nswap_pagein_next(struct nswap_io *io)
{
	struct nswap_parity *p = nswap_parity_of(io->dev);
	unsigned long in_cells = 0;
	unsigned int i;

	if (!io->rest)
		return false;
	for_each_set_bit(i, &io->rest, NSWAP_REQ_SLOTS) {
		u32 cell = READ_ONCE(p->cell_of[io->outer[i]]);

		io->slot[i] = cell ?: io->outer[i];
		if (cell)
			in_cells |= BIT(i);
	}
	io->dev = in_cells ? p->cells : p->dev;
	io->todo = in_cells ?: io->rest;
	io->rest &= ~io->todo;
	return true;
}

/* is a slot of the request still where it is being read? its word was read before */
bool nswap_pagein_current(const struct nswap_io *io, unsigned int i)
{
	struct nswap_parity *p = nswap_parity_of(io->dev);

	if (!p || nswap_io_own(io))
		return true;
	/* pairs with the exchanges of cell_of[], which come before words change */
	smp_rmb();
	return READ_ONCE(p->cell_of[io->outer[i]]) ==
	       (nswap_is_cells(io->dev) ? io->slot[i] : 0);
}

static enum nswap_cell_look pagein_look_cell(struct nswap_io *io, unsigned int i,
					     const struct nswap_slot *s)
{
	if (s->state == NSWAP_SLOT_WRITING)
		return NSWAP_CELL_READ;
	if (nswap_slot_at_peer(s) &&
	    nswap_peer_state(io->dev->node, s->peer) == NSWAP_PEER_UP)
		return NSWAP_CELL_READ;
	if (io->ahead)
		return NSWAP_CELL_FAIL;
	set_bit(i, &io->lost);
	return NSWAP_CELL_DONE;
}

/**
 * nswap_pagein_look() - is a slot of a device with rows to be read as any other?
 * @io: page-in the caller dispatches
 * @i: slot, counted from the request's
 * @s: its word
 *
 * Context: process, page-in path; does not sleep.
 * Return: what to do with it.
 */
enum nswap_cell_look nswap_pagein_look(struct nswap_io *io, unsigned int i,
				       const struct nswap_slot *s)
{
	if (!nswap_pagein_current(io, i)) {
		io->rest |= BIT(i);
		return NSWAP_CELL_DONE;
	}
	return nswap_is_cells(io->dev) ? pagein_look_cell(io, i, s) :
					 NSWAP_CELL_READ;
}
