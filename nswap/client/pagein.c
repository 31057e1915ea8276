// SPDX-License-Identifier: GPL-2.0
/*
 * Page-in.
 *
 *   EMPTY, FREEING: zeros, without the network
 *   WRITING: wait until the page-out ends, unless it gives the page another key (reseal.c)
 *   REMOTE: LOAD on one of the peer's load connections
 *   HOME: read from home
 *   FLASH: read from flash
 *   REMOTE, its peer silent or gone, and home has a copy: read from home
 *   any other state with a flash slot: the reading policy chooses; the other
 *	place is tried if that one fails or, for a peer, has no session
 *   on a mirrored device: the first of its peers, unless the second answers sooner; the
 *	other one if it has not answered for long (hedge.c)
 *   LOST, or a peer that is dead or LOST: the request fails
 *
 * Invariants:
 *  - The receiver puts the page straight into the request's memory, while the
 *    message is on no list: so no other context can fail the request meanwhile.
 *  - A LOAD names the generation; the peer answers with exactly that one or
 *    not at all. After "not held" the slot is read again: if it changed, the
 *    page-in is retried, if not, the page is LOST.
 *  - Slots whose session breaks, whose message is much later than usual, or that
 *    their peer has no room for, are parked (park.c), at most until dead_after_ms
 *    after the request came, twice that if a second peer has their pages; but not if
 *    flash or home has them. Either flash has all pages of a message, or none, and so
 *    has home.
 *  - Reads of the prefetcher are not counted and leave no reference bit; they
 *    fail early and without a log message.
 */
#include <linux/highmem.h>

#include "base/bits.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/device_policy.h"
#include "core/home_copy.h"
#include "core/inject.h"
#include "core/mirror.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "hedge.h"
#include "observe/meter.h"
#include "pagein.h"
#include "pagein_open.h"
#include "pagein_cell.h"
#include "pagein_copy.h"
#include "park.h"
#include "peers/loss.h"
#include "peers/parked.h"
#include "peers/session.h"
#include "pure/peer_state.h"
#include "request_queue.h"
#include "reseal.h"
#include "short.h"
#include "tier.h"

static void fail_slots(struct nswap_io *io, unsigned int first, unsigned int nr,
		       const char *peer, const char *why)
{
	struct nswap_node *node = io->dev->node;

	nswap_request_fail(io, first, nr);
	if (io->ahead)
		return;
	nswap_stat_add(node, read_errors, nr);
	nswap_warn(node, "%s: page-in of %u pages from slot %u failed: peer %s %s; their programs have to be restarted, for the next time: nswapctl device protect",
		   io->dev->disk->disk_name, nr, io->slot[first], peer, why);
}

static const char *why_failed(const struct nswap_peer *peer)
{
	switch (READ_ONCE(peer->state)) {
	case NSWAP_PEER_LOST:
		return "restarted and lost them";
	case NSWAP_PEER_DEAD:
		return "is dead";
	default:
		return "did not answer in time";
	}
}

/* REMOTE -> HOME, FLASH or LOST; a MOVING slot is left to its claim */
static bool pagein_slot_lost(struct nswap_slot *s, struct nswap_device *dev,
			     u64 slot, u16 peer, u32 gen)
{
	return nswap_slot_is(s, NSWAP_SLOT_REMOTE, peer, gen) &&
	       !nswap_mirror_of(dev, slot, s) &&
	       nswap_home_copy_lost(dev, slot, s);
}

/*
 * Has this peer said so before? The page may have moved away from it and back meanwhile,
 * so only its second miss counts; what another place said is no matter of this one.
 */
static bool slot_missed_twice(struct nswap_io *io, unsigned int i, u16 peer)
{
	if (test_and_set_bit(i, &io->missed) && io->missed_at[i] == peer)
		return true;
	io->missed_at[i] = peer;
	return false;
}

/* the peer does not hold the page: true if the slot has changed, so retry */
static bool slot_missed(struct nswap_io *io, unsigned int i,
			struct nswap_peer *peer)
{
	struct nswap_device *dev = io->dev;
	struct nswap_slot s = nswap_slot_look(dev, io->slot[i]), was;
	u32 gen = le32_to_cpu(io->gen[i]);

	/* the task that reads ahead may be the one that has the slot MOVING */
	if (io->ahead) {
		nswap_request_fail(io, i, 1);
		return false;
	}
	if (nswap_home_copy_due(dev, io->slot[i]))
		set_bit(i, &io->no_peer);
	if (!nswap_copy_rests(&s, nswap_mirror_of(dev, io->slot[i], &s),
			      peer->index, gen) ||
	    !slot_missed_twice(io, i, peer->index) ||
	    nswap_loss_of_copy(dev, io->slot[i], gen, peer->index) ||
	    !nswap_slot_update(dev, io->slot[i], &was, pagein_slot_lost, dev,
			       io->slot[i], peer->index, gen))
		return true;
	nswap_peer_slots(dev->node, peer->index, -1);
	if (nswap_slot_look(dev, io->slot[i]).state != NSWAP_SLOT_LOST)
		return true;
	if (nswap_is_cells(dev)) {
		set_bit(i, &io->lost);
		return false;
	}
	fail_slots(io, i, 1, peer->name, "does not hold it");
	return false;
}

/* only devices with flash have a choice, so only they are measured */
static void pagein_timed(struct nswap_op *op, bool good)
{
	struct nswap_device *dev = op->io->dev;

	if (dev->flash)
		nswap_read_ended(&dev->times, NSWAP_READ_PEERS, op->nr,
				 op->read_began, good);
}

static int load_answered(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_conn *c = m->conn;
	struct nswap_io *io = op->io;
	unsigned long held, again;
	unsigned int i;
	int ret;

	ret = nswap_short_recv(op, c, &held);
	if (ret) {
		m->lost(m);
		return ret;
	}
	m->received_ns = nswap_stamp();
	nswap_peer_answered(op->peer, c->number, m->since);
	nswap_hedge_answered(op);
	pagein_timed(op, held);
	again = nswap_pagein_open(op, held);
	for (i = 0; i < op->nr; i++) {
		unsigned int at = op->first + i;

		if (held & BIT(i) && !io->ahead) {
			nswap_slot_reference(&io->dev->map, io->slot[at],
					     le32_to_cpu(io->gen[at]));
			if (nswap_page_tag_hit(io->dev, io->slot[at]))
				nswap_stat_inc(io->dev->node, prefetch_ram_hits);
		}
		if (!(held & BIT(i)) && slot_missed(io, at, op->peer))
			again |= BIT(at);
	}
	if (!io->ahead)
		nswap_stat_add(op->peer->node, pages_in, hweight_long(held));
	nswap_op_answered(op, again);
	return 0;
}

/* a page-in will get no answer: retry elsewhere or fail */
static void pagein_failed(struct nswap_op *op)
{
	/* read-ahead is not retried: the slot may be MOVING for long */
	unsigned long again = op->io->ahead ? 0 : nswap_copy_elsewhere(op), failed;
	unsigned int i;

	pagein_timed(op, false);
	failed = nswap_op_slots(op) & ~again;
	for (i = find_first_bit(&failed, BITS_PER_LONG); i < BITS_PER_LONG;
	     i = find_next_bit(&failed, BITS_PER_LONG, i)) {
		unsigned int nr = nswap_run_of(failed, i);

		fail_slots(op->io, i, nr, op->peer->name,
			   why_failed(op->peer));
		i += nr;
	}
	nswap_op_end(op, again);
}

/* its peer cannot be asked now: wait for that, or fail */
static void pagein_held_up(struct nswap_op *op)
{
	struct nswap_peer *peer = op->peer;
	unsigned long again = 0;

	if (nswap_is_cells(op->io->dev) && !op->io->ahead) {
		nswap_op_lose(op);
		return;
	}
	if (op->io->ahead || nswap_copy_overdue(op) || READ_ONCE(peer->stop) ||
	    nswap_peer_hopeless(READ_ONCE(peer->state))) {
		pagein_failed(op);
		return;
	}
	pagein_timed(op, false);
	if (nswap_copy_dispensable(op))
		again = nswap_copy_elsewhere(op);
	/* what was better elsewhere may be so no longer */
	if (again == nswap_op_slots(op))
		nswap_op_end(op, again);
	else
		nswap_op_park(op);
}

/* the session broke, or the message was taken back */
static void load_lost(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);

	atomic_dec(&op->peer->loads);
	pagein_held_up(op);
}

/*
 * May the peer be asked for one more? No number of silent peers may take all tags: each
 * gets at most twice as many as are left. What is parked goes first, but for the few reads
 * of a device with parity by this module itself: they are never parked, and so would never
 * have their turn.
 */
static bool pagein_admitted(struct nswap_io *io, const struct nswap_peer *peer)
{
	unsigned int n = atomic_read(&peer->loads);

	if (!n)
		return !nswap_pagein_hasty(io) || !nswap_peer_late(peer);
	if (nswap_peer_late(peer) ||
	    (!io->resumed && !bio_list_empty(&peer->parked) &&
	     !(nswap_io_own(io) && nswap_parity_of(io->dev))))
		return false;
	return n < NSWAP_LOADS_FEW || n < 2 * nswap_request_free_tags(io);
}

static void pagein_send(struct nswap_op *op)
{
	struct nswap_peer *peer = op->peer;
	struct nswap_msg *m = &op->m;
	struct nswap_io *io = op->io;
	struct bio_vec *bv = &io->bv[3 * op->first];
	struct nswap_wire_hdr *h = &m->hdr;
	u32 bytes = op->nr * sizeof(__le32);

	nswap_wire_init(h, NSWAP_LOAD, op->nr, bytes);
	h->id = nswap_client_id(peer->node);
	h->flags = nswap_meter_flags(io, READ_ONCE(peer->features));
	if (nswap_short_may(io, READ_ONCE(peer->features)))
		h->flags |= cpu_to_le16(NSWAP_F_SHORT);
	h->slot = cpu_to_le64(io->slot[op->first]);
	h->instance = cpu_to_le32(io->dev->instance);
	bvec_set_page(&bv[0], virt_to_page(h), sizeof(*h), offset_in_page(h));
	bvec_set_page(&bv[1], virt_to_page(&io->gen[op->first]), bytes,
		      offset_in_page(&io->gen[op->first]));
	m->plain = &io->gen[op->first];
	iov_iter_bvec(&m->iter, ITER_SOURCE, bv, 2, sizeof(*h) + bytes);
	m->pages = 0;
	nswap_stat_inc(peer->node, load_msgs);
	atomic_inc(&peer->loads);
	nswap_hedge_begin(op);
	if (nswap_session_send(nswap_session_load_conn(peer), m, io->more))
		load_lost(m);
}

static void pagein_load(struct nswap_io *io, unsigned int first, unsigned int nr,
			u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(io->dev->node, index);
	struct nswap_op *op = &io->op[first];

	if (!peer) {
		/* the peer is gone: its last slot has just moved */
		while (nr--)
			set_bit(first + nr, &io->retry);
		return;
	}
	op->io = io;
	op->peer = peer;
	op->first = first;
	op->nr = nr;
	op->m.answer = load_answered;
	op->m.lost = load_lost;
	nswap_meter_begin(op);
	if (io->dev->flash)
		op->read_began = nswap_read_began(&io->dev->times,
						  NSWAP_READ_PEERS, nr);
	atomic_inc(&io->pending);
	if (READ_ONCE(peer->state) == NSWAP_PEER_LOST && !nswap_is_cells(io->dev))
		pagein_failed(op);
	else if (pagein_admitted(io, peer))
		pagein_send(op);
	else
		pagein_held_up(op);
}

static void read_zeros(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = io->dev;

	set_bit(i, &io->opened);
	if (io->slot[i]) {
		clear_highpage(io->page[i]);
		nswap_stat_inc(dev->node, zero_reads);
		return;
	}
	spin_lock(&dev->header_lock);
	copy_highpage(io->page[i], dev->header);
	spin_unlock(&dev->header_lock);
}

/*
 * How many slots from @first on can be in one message to the peer of the first one?
 * Flash and home have all of them, or none.
 */
static unsigned int run_at_peer(struct nswap_io *io, unsigned int first,
				u16 index)
{
	unsigned int i, end = first + nswap_run_of(io->todo, first);

	for (i = first; i < end; i++) {
		struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

		if (io->slot[i] != io->slot[first] + i - first ||
		    !nswap_pagein_current(io, i))
			break;
		if (!nswap_slot_at_peer(&s) ||
		    nswap_copy_place(io, i, &s) != index ||
		    (i > first && !nswap_copy_alike(io, first, i)))
			break;
		io->gen[i] = cpu_to_le32(s.gen);
	}
	return i - first;
}

/*
 * Page in from the peer that holds it; @io: page-in the caller dispatches. Process
 * context, page-in path: does not allocate or wait. Returns how many slots from @first
 * on are under way; 0 if @first is no longer at a peer.
 */
unsigned int nswap_pagein_from_peers(struct nswap_io *io, unsigned int first)
{
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[first]);
	unsigned int nr;
	u16 index;

	if (!nswap_slot_at_peer(&s))
		return 0;
	index = nswap_copy_place(io, first, &s);
	nr = run_at_peer(io, first, index);
	if (nr)
		pagein_load(io, first, nr, index);
	return nr;
}

/* is the slot as it was, after all that was read since? */
static bool slot_unchanged(const struct nswap_io *io, unsigned int i, const struct nswap_slot *s)
{
	struct nswap_slot now;

	/* after the slot's cell, which is given up once the page is back at its own place */
	smp_rmb();
	now = nswap_slot_look(io->dev, io->slot[i]);
	return nswap_slot_same(s, &now);
}

/* start the first slots of @todo; returns how many, 0 if they must wait */
static unsigned int read_run(struct nswap_io *io, unsigned int first)
{
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[first]);

	if (io->dev->parity) {
		switch (nswap_pagein_look(io, first, &s)) {
		case NSWAP_CELL_READ:
			break;
		case NSWAP_CELL_DONE:
			return 1;
		case NSWAP_CELL_FAIL:
			fail_slots(io, first, 1, "(cell)", "has not got it");
			return 1;
		}
	}
	if (nswap_copy_from_flash(io, first, &s))
		return nswap_tiers[NSWAP_TIER_FLASH]->load(io, first);
	if (nswap_copy_from_home(io, first, &s))
		return nswap_tiers[NSWAP_TIER_HOME]->load(io, first);
	switch (s.state) {
	case NSWAP_SLOT_EMPTY:
	case NSWAP_SLOT_FREEING:
		/* its page may have been in a cell then, and have left it since */
		if (io->dev->parity && !slot_unchanged(io, first, &s))
			return 0;
		read_zeros(io, first);
		return 1;
	case NSWAP_SLOT_WRITING:
		return nswap_reseal_read(io, first);
	case NSWAP_SLOT_MOVING:
		nswap_inject_met(NSWAP_MET_PAGE_IN, 1);
		if (s.peer && !nswap_copy_usable(io, first, &s))
			return 0;
		break;
	case NSWAP_SLOT_FLASH:
		fail_slots(io, first, 1, "(flash)", "cannot read it");
		return 1;
	case NSWAP_SLOT_LOST:
		if (nswap_reseal_read(io, first))
			return 1;
		/* a page that was kept here may be stored since: look again */
		if (!slot_unchanged(io, first, &s))
			return 0;
		fail_slots(io, first, 1, "(none)", "holds it");
		return 1;
	}
	return nswap_tier_of(&s)->load(io, first);
}

/*
 * Advance a page-in as far as possible without waiting. @io: request the caller
 * dispatches. Context: process, page-in path: does not allocate, does not wait.
 */
void nswap_pagein(struct nswap_io *io)
{
	unsigned int first, nr;

	while (io->todo) {
		nswap_meter_turn(io);
		first = __ffs(io->todo);
		nr = read_run(io, first);
		if (!nr && io->ahead) {
			nswap_request_fail(io, first, 1);
			nr = 1;
		}
		if (!nr) {
			nswap_request_wait(io);
			return;
		}
		io->todo &= ~GENMASK(first + nr - 1, first);
	}
	/* only if no part is under way; else the one that ends last has it done */
	if (atomic_read_acquire(&io->pending) > 1 || READ_ONCE(io->retry) ||
	    nswap_pagein_closed(io))
		nswap_request_put(io);
	else if (nswap_pagein_next(io))
		nswap_pagein(io);
	else if (READ_ONCE(io->parked) || READ_ONCE(io->lost))
		nswap_park(io);
	else
		nswap_request_put(io);
}
