// SPDX-License-Identifier: GPL-2.0
/*
 * Drops, at the owner: a server that gives RAM back has dropped droppable pages.
 *
 *   DROPPED: REMOTE(server, g) -> LOST; FLASH if flash has another copy
 *   not heard: a page-in finds the same out, by NOT_HELD
 *
 * Invariants (tests/model/drop.pml):
 *  - Exactly the generation that is named is lost, at exactly that server: a newer page
 *    of the slot, and one that is on its way, stay.
 *  - LOST, not EMPTY: a page-in fails, it does not give zeros.
 *  - Only droppable devices lose pages in this way, whatever a server says.
 */
#include "core/devices.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "dropped.h"
#include "moved.h"
#include "peers/peer.h"

/* REMOTE -> LOST, or where another copy is */
static bool dropped_slot_lost(struct nswap_slot *s, struct nswap_device *dev,
			      u64 slot, u16 from, u32 gen)
{
	return nswap_slot_is(s, NSWAP_SLOT_REMOTE, from, gen) &&
	       nswap_home_copy_lost(dev, slot, s);
}

static void dropped_page(struct nswap_peer *from, const struct nswap_wire_page *p)
{
	u64 slot = le64_to_cpu(p->slot);
	struct nswap_device *dev;
	struct nswap_slot was;

	dev = nswap_device_find(from->node, le32_to_cpu(p->instance));
	if (dev && dev->class == NSWAP_DEV_DROPPABLE && slot && slot < dev->map.nr &&
	    nswap_slot_update(dev, slot, &was, dropped_slot_lost, dev, slot,
			      from->index, le32_to_cpu(p->gen)))
		nswap_peer_slots(from->node, from->index, -1);
}

/**
 * nswap_dropped() - handle DROPPED: a server has dropped pages
 * @node: the owner
 * @server: id of the server
 * @epoch: its epoch
 * @page: names of the pages
 * @nr: number of pages, at most NSWAP_REQ_SLOTS
 *
 * Context: process, does not sleep.
 */
void nswap_dropped(struct nswap_node *node, u64 server, u64 epoch,
		   const struct nswap_wire_page *page, u32 nr)
{
	struct nswap_peer *from = nswap_moved_peer(node, server, epoch);
	u32 i;

	if (!from)
		return;
	rcu_read_lock();
	for (i = 0; i < nr; i++)
		dropped_page(from, &page[i]);
	rcu_read_unlock();
	nswap_peer_put(from);
}
