// SPDX-License-Identifier: GPL-2.0
/*
 * Rows: cells that are moved from peer to peer (migrate/moved.c).
 *
 * Invariants:
 *  - One page of a group is moved at a time, to a peer that no other page of the group is
 *    at, nor placed at meanwhile: both are looked up and noted under place_lock.
 *  - Only cells of rows that are CLOSED are moved.
 */
#include "core/slot_update.h"
#include "row.h"

/* a peer wants to be rid of a cell, which has to be written elsewhere; process */
void nswap_row_want(struct nswap_device *cells, u64 cell)
{
	struct nswap_parity *p = cells->parity;
	u32 row = cell < cells->map.nr ? nswap_cell_row(p, cell) : NSWAP_ROW_NONE;

	if (row != NSWAP_ROW_NONE)
		WRITE_ONCE(p->row[row].wanted, true);
}

static bool row_move_allowed(struct nswap_parity *p, struct nswap_row *r, u32 cell,
			     u16 to)
{
	unsigned int lane = nswap_cell_lane(cell), i;

	if (READ_ONCE(r->state) != NSWAP_ROW_CLOSED || r->moving[lane])
		return false;
	for (i = 0; i < nswap_row_strips(r); i++) {
		struct nswap_slot s = nswap_slot_look(p->cells,
						      nswap_row_cell(r, i, lane));

		if (s.peer == to)
			return false;
	}
	return true;
}

/**
 * nswap_row_move_begin() - may a server move a cell to another peer?
 * @cells: device of cells
 * @cell: cell, as the server names it
 * @to: index of the peer
 *
 * If not, its row is written again elsewhere: the server may find no other peer.
 *
 * Context: process, does not sleep; on the page-out path of the server.
 * Return: true if no other page of its group is there, nor will be until
 * nswap_row_move_end().
 */
bool nswap_row_move_begin(struct nswap_device *cells, u64 cell, u16 to)
{
	struct nswap_parity *p = cells->parity;
	bool may = false;
	u32 row;

	if (cell >= cells->map.nr)
		return false;
	spin_lock(&p->place_lock);
	row = nswap_cell_row(p, cell);
	if (row != NSWAP_ROW_NONE)
		may = row_move_allowed(p, &p->row[row], cell, to);
	if (may)
		WRITE_ONCE(p->row[row].moving[nswap_cell_lane(cell)], to);
	spin_unlock(&p->place_lock);
	if (!may)
		nswap_row_want(cells, cell);
	return may;
}

/* the move is recorded, or off; process, does not sleep */
void nswap_row_move_end(struct nswap_device *cells, u64 cell, u16 to)
{
	struct nswap_parity *p = cells->parity;
	u32 row;

	spin_lock(&p->place_lock);
	row = nswap_cell_row(p, cell);
	if (row != NSWAP_ROW_NONE &&
	    p->row[row].moving[nswap_cell_lane(cell)] == to)
		WRITE_ONCE(p->row[row].moving[nswap_cell_lane(cell)], 0);
	spin_unlock(&p->place_lock);
}
