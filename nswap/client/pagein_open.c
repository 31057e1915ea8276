// SPDX-License-Identifier: GPL-2.0
/*
 * Page-in of sealed and compressed devices: opening and expanding what has come.
 *
 *   from a peer: does not open -> if the slot has changed meanwhile, looked at again
 *                              -> its other place, or the same peer once more
 *                              -> its copy on flash or at home, if it has one
 *                              -> of a group: rebuilt from the others
 *                              -> else the page-in fails
 *   from flash or home: does not open -> the other, or a peer that has it too -> else it fails
 *
 * What is recorded of the page stays as it is: a machine on the way may have changed it, and
 * what one page-in saw is no reason to give up a copy.
 *
 * Invariants:
 *  - A page from a peer is opened by the task that received it, one from flash or home by
 *    the task in which the last part of its request ended, or by a work: the only one to
 *    touch it until the request ends. No part of the request is under way then.
 *  - A page that does not expand is handled as one that does not open. Without a seal, one
 *    that does is none if its slot has changed: it may have been expanded as another.
 *  - A page is asked for again because it does not open three times at most, and once more
 *    for each move.
 */
#include "core/mirror.h"
#include "core/node.h"
#include "core/parity.h"
#include "core/slot_update.h"
#include "pagein_cell.h"
#include "pagein_copy.h"
#include "pagein_open.h"
#include "peers/peer.h"
#include "request_queue.h"
#include "wrap.h"

static void pagein_unopened(struct nswap_io *io, unsigned int at)
{
	nswap_request_fail(io, at, 1);
	if (!io->ahead)
		nswap_stat_inc(io->dev->node, read_errors);
}

/* is what came still what the slot has, or was it written or freed meanwhile? */
static bool pagein_same(struct nswap_io *io, unsigned int at)
{
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[at]);

	return s.gen == le32_to_cpu(io->gen[at]) && s.state != NSWAP_SLOT_EMPTY &&
	       s.state != NSWAP_SLOT_FREEING && nswap_pagein_current(io, at);
}

/* what this module reads for itself stays as it is, checked if it is sealed */
static bool pagein_opens(struct nswap_io *io, unsigned int at)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	bool ok = nswap_wrap_open(dev, io->outer[at], io->page[at], io->ahead);

	if (ok && nswap_wrap_doubted(dev) && !io->ahead)
		ok = pagein_same(io, at);
	if (ok)
		set_bit(at, &io->opened);
	return ok;
}

/* is its page no longer at the peer whose answer was doubted before? */
static bool pagein_moved(struct nswap_io *io, unsigned int at)
{
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[at]);
	u16 was = io->doubted_at[at];

	return nswap_slot_at_peer(&s) && s.peer != was &&
	       nswap_mirror_of(io->dev, io->slot[at], &s) != was;
}

/* a page that did not open: true if it is to be asked for again */
static bool pagein_doubted(struct nswap_op *op, unsigned int at)
{
	struct nswap_io *io = op->io;
	bool same = pagein_same(io, at);

	if (same)
		nswap_wrap_broken(nswap_visible_device(io->dev), io->outer[at],
				  op->peer->name);
	if (io->ahead) {
		pagein_unopened(io, at);
		return false;
	}
	if (!same)
		return true;
	if (!test_and_set_bit(at, &io->doubted) || pagein_moved(io, at)) {
		io->doubted_at[at] = op->peer->index;
		return true;
	}
	if (nswap_copy_besides(io, at)) {
		set_bit(at, &io->no_peer);
		return true;
	}
	if (nswap_is_cells(io->dev))
		set_bit(at, &io->lost);
	else
		pagein_unopened(io, at);
	return false;
}

/**
 * nswap_pagein_open() - open the pages that a peer has sent
 * @op: the part of a request that was answered
 * @held: which of its pages came
 *
 * Context: process, the connection's receiver; does not sleep.
 * Return: slots of the request that are to be asked for again.
 */
unsigned long nswap_pagein_open(struct nswap_op *op, unsigned long held)
{
	struct nswap_io *io = op->io;
	unsigned long again = 0;
	unsigned int i;

	/* what is read for groups and their pages is checked by those who do it */
	if (nswap_io_own(io) || !nswap_visible_device(io->dev)->wrap)
		return 0;
	for_each_set_bit(i, &held, op->nr) {
		unsigned int at = op->first + i;

		if (!pagein_opens(io, at) && pagein_doubted(op, at))
			again |= BIT(at);
	}
	return again;
}

/*
 * Pages of a request that have come from flash or home, and are not open. @io: no part of
 * it is under way; any context.
 */
unsigned long nswap_pagein_closed(const struct nswap_io *io)
{
	if (io->write || nswap_io_own(io) || !nswap_visible_device(io->dev)->wrap)
		return 0;
	return (io->nr ? GENMASK(io->nr - 1, 0) : 0) &
	       ~(io->failed | io->opened | io->todo | io->rest | READ_ONCE(io->retry) |
		 READ_ONCE(io->parked) | READ_ONCE(io->lost));
}

/* what flash or home had does not open: true if it may be had elsewhere */
static bool pagein_elsewhere(struct nswap_io *io, unsigned int at)
{
	struct nswap_slot s;

	set_bit(at, io->from_home & BIT(at) ? &io->no_home : &io->no_flash);
	if (nswap_copy_besides(io, at))
		return true;
	s = nswap_slot_look(io->dev, io->slot[at]);
	if (nswap_slot_at_home(&s))
		return !test_bit(at, &io->no_home);
	if (!nswap_slot_at_peer(&s) || (io->doubted & io->no_peer & BIT(at)))
		return false;
	/* it was perhaps but late, or has a second place */
	clear_bit(at, &io->no_peer);
	return true;
}

/*
 * Open them, or have them asked for again, or fail. @io: as above; @closed: from
 * nswap_pagein_closed(). Context: task, interrupts on; does not sleep.
 */
void nswap_pagein_open_rest(struct nswap_io *io, unsigned long closed)
{
	unsigned int i;
	bool same;

	for_each_set_bit(i, &closed, NSWAP_REQ_SLOTS) {
		if (pagein_opens(io, i))
			continue;
		same = pagein_same(io, i);
		if (same)
			nswap_wrap_broken(nswap_visible_device(io->dev), io->outer[i],
					  io->from_home & BIT(i) ? "home" : "flash");
		if (!io->ahead && (!same || pagein_elsewhere(io, i)))
			set_bit(i, &io->retry);
		else
			pagein_unopened(io, i);
	}
}
