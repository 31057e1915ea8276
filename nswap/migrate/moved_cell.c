// SPDX-License-Identifier: GPL-2.0
/*
 * Moves of cells, at the owner: a cell moves as any page does, but not to a peer that has
 * another page of its group (client/row_move.c).
 *
 * Invariant: a cell whose move was begun here is MOVING from before its claim is sent
 * until nswap_moved_end_cell(), or its move ends at once.
 */
#include "client/row.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "moved.h"
#include "moved_cell.h"

/* may a cell move there? if its copy is obsolete, @i is added to @drop */
bool nswap_moved_begin_cell(struct nswap_device *dev, const struct nswap_wire_page *p,
			    u16 from, u16 to, unsigned long *drop, unsigned int i)
{
	u64 cell = le64_to_cpu(p->slot);
	struct nswap_slot s;

	if (cell >= dev->map.nr)
		return false;
	s = nswap_slot_look(dev, cell);
	if (!nswap_slot_is(&s, NSWAP_SLOT_REMOTE, from, le32_to_cpu(p->gen))) {
		if (!nswap_moved_counts(dev, p, from))
			*drop |= BIT(i);
		return false;
	}
	return nswap_row_move_begin(dev, cell, to);
}

/* the claim of a cell has ended, or was not begun */
void nswap_moved_end_cell(struct nswap_node *node, const struct nswap_wire_page *p,
			  u16 to)
{
	struct nswap_device *dev;

	rcu_read_lock();
	dev = nswap_device_find(node, le32_to_cpu(p->instance));
	if (dev && nswap_is_cells(dev) &&
	    le64_to_cpu(p->slot) < dev->map.nr)
		nswap_row_move_end(dev, le64_to_cpu(p->slot), to);
	rcu_read_unlock();
}

/* a server wants to send pages back: cells have no home, their rows are written again */
void nswap_moved_want(struct nswap_node *node, const struct nswap_wire_page *page, u32 nr)
{
	struct nswap_device *dev;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		dev = nswap_device_find(node, le32_to_cpu(page[i].instance));
		if (dev && nswap_is_cells(dev))
			nswap_row_want(dev, le64_to_cpu(page[i].slot));
	}
	rcu_read_unlock();
}
