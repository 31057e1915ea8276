// SPDX-License-Identifier: GPL-2.0
/*
 * Page-out.
 *
 *   claim: slot -> WRITING(no peer, next generation), pageout_claim.c
 *   place: policy picks a peer, a grant is spent, -> WRITING(peer)
 *   store: message on the peer's store connection
 *   ack:   -> REMOTE(peer), the old copy elsewhere is freed later; on a mirrored device
 *          the second copy comes first (pageout_second.c)
 *   refused, timed out, session broken: -> WRITING(no peer, next generation),
 *          placed again
 *   no room at any peer, or no grant for too long: flash, then home
 *          takes it: -> FLASH, HOME; if that fails or there is none: -> LOST,
 *          the request fails
 *
 * Invariants:
 *  - From claim to end only this request changes the slot (a free just sets the
 *    freed bit), and no reader gets the old copy. So all changes but the claim
 *    succeed.
 *  - Every message of a slot has its own generation. A copy of a generation
 *    that was given up is an orphan: freed when given up, again when its late
 *    ack comes, and by comparison if the connection is lost in between.
 *  - The old copy is freed only after the new one is acknowledged or the write
 *    has failed; failed writes leave LOST, never the old page.
 */
#include "base/bits.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "follow.h"
#include "free.h"
#include "observe/meter.h"
#include "pageout.h"
#include "pageout_cell.h"
#include "pageout_claim.h"
#include "pageout_second.h"
#include "peers/place.h"
#include "request_queue.h"
#include "row.h"
#include "store.h"
#include "tier.h"

/* fail the request after this many store time-outs */
#define GIVE_UP_AFTER	4

static bool pageout_overdue(const struct nswap_io *io)
{
	struct nswap_node *node = io->dev->node;

	return nswap_client_expired(node, io->since,
				    GIVE_UP_AFTER * nswap_knob(node, store_timeout_ms));
}

/* WRITING, with a peer it is sent to */
static bool pageout_slot_placed(struct nswap_slot *s, u16 peer)
{
	s->peer = peer;
	return true;
}

/* WRITING, to be placed again; the copy of this generation is given up */
static bool pageout_slot_unplaced(struct nswap_slot *s)
{
	s->peer = 0;
	s->gen = nswap_gen_next(s->gen);
	return true;
}

/* WRITING -> where the page is now; EMPTY or FREEING if it was freed meanwhile */
static bool pageout_slot_ended(struct nswap_slot *s, u8 state, u16 peer, u32 flash)
{
	if (s->freed) {
		state = state == NSWAP_SLOT_REMOTE ? NSWAP_SLOT_FREEING :
						     NSWAP_SLOT_EMPTY;
		flash = NSWAP_FLASH_NONE;
	}
	*s = nswap_slot_out(s, state, peer, flash);
	return true;
}

/* the copy from before this request is obsolete */
static void forget_old_copy(struct nswap_io *io, unsigned int i, u16 replaced_at)
{
	const struct nswap_slot *old = &io->old[i];

	if (!nswap_slot_at_peer(old) && old->state != NSWAP_SLOT_FREEING)
		return;
	if (old->peer == replaced_at)
		nswap_peer_slots(io->dev->node, old->peer, -1);
	else
		nswap_free_orphan(io->dev, io->slot[i], old->gen, old->peer);
}

/* the last change to a slot this request has claimed; true if it was freed */
static bool pageout_end_slot(struct nswap_io *io, unsigned int i, u8 state,
			     u16 peer, u32 flash)
{
	struct nswap_slot was;

	nswap_pageout_unfollow(io, i);
	nswap_slot_update(io->dev, io->slot[i], &was, pageout_slot_ended,
			  state, peer, flash);
	forget_old_copy(io, i, peer);
	return was.freed;
}

/* the page has been written home; may be called in hard interrupt context */
void nswap_pageout_at_home(struct nswap_io *io, unsigned int i)
{
	pageout_end_slot(io, i, NSWAP_SLOT_HOME, 0, NSWAP_FLASH_NONE);
}

/* the page has been written to flash, whose slot is the page's now; likewise */
void nswap_pageout_at_flash(struct nswap_io *io, unsigned int i, u32 flash)
{
	if (pageout_end_slot(io, i, NSWAP_SLOT_FLASH, 0, flash))
		nswap_flash_put(io->dev->flash, flash);
}

/* the page is stored nowhere: its bio ends with an error */
void nswap_pageout_failed(struct nswap_io *io, unsigned int i)
{
	if (io->ops && io->ops->keeps)
		io->gen[i] = cpu_to_le32(nswap_slot_look(io->dev, io->slot[i]).gen);
	/* one that others have yet is not LOST, not for a moment: its group would count it */
	pageout_end_slot(io, i, io->ops && !io->ops->keeps ? NSWAP_SLOT_EMPTY :
			 NSWAP_SLOT_LOST, 0, NSWAP_FLASH_NONE);
	if (io->ops) {
		io->ops->failed(io, i);
		return;
	}
	nswap_request_fail(io, i, 1);
	nswap_stat_inc(io->dev->node, write_errors);
}

/**
 * nswap_pageout_at_peer() - a slot ends at the peer that its entry names
 * @io: page-out
 * @i: slot, counted from the request's, WRITING; as many peers as are to hold its page
 *	do, or it is exposed
 * @peer: index of the peer
 *
 * Context: process, page-out path: does not sleep or allocate.
 */
void nswap_pageout_at_peer(struct nswap_io *io, unsigned int i, u16 peer)
{
	if (pageout_end_slot(io, i, NSWAP_SLOT_REMOTE, peer, NSWAP_FLASH_NONE))
		nswap_free_told(io->dev, io->slot[i]);
}

static void pageout_stored(struct nswap_op *op, unsigned int i)
{
	struct nswap_io *io = op->io;
	struct nswap_device *dev = io->dev;
	struct nswap_follow_page *copy = NULL;

	if (io->pairs & BIT(i)) {
		/* the session says so only after this, and the page-out may go on before that */
		WRITE_ONCE(op->peer->heard, jiffies);
		WRITE_ONCE(io->half_since, jiffies);
		set_bit(i, &io->halves);
		return;
	}
	if (io->ops)
		io->ops->stored(io, i);
	if (io->follows && test_and_clear_bit(i, &io->follows))
		copy = nswap_follow_copy(dev, io->slot[i],
					 le32_to_cpu(io->gen[i]), io->page[i]);
	nswap_pageout_at_peer(io, i, op->peer->index);
	if (io->ops)
		io->ops->ended(io, i);
	if (copy)
		nswap_follow_queue(dev, copy);
}

/*
 * A slot is to be placed again, in the next generation; what a peer may have of this
 * one is the caller's. @io: page-out; @i: slot, WRITING; process, page-out path.
 */
void nswap_pageout_again(struct nswap_io *io, unsigned int i)
{
	struct nswap_slot was;

	nswap_slot_update(io->dev, io->slot[i], &was, pageout_slot_unplaced);
	nswap_stat_inc(io->dev->node, moved);
}

static void pageout_given_up(struct nswap_op *op, unsigned int i)
{
	nswap_pageout_again(op->io, i);
}

static void pageout_store_end(struct nswap_op *op, unsigned long given_up)
{
	nswap_stat_add(op->io->dev->node, pages_out,
		       op->nr - hweight_long(given_up));
	/* these go on with their second copy */
	nswap_op_end(op, given_up | (READ_ONCE(op->io->halves) & nswap_op_slots(op)));
}

static const struct nswap_store_ops pageout_store_ops = {
	.stored = pageout_stored,
	.given_up = pageout_given_up,
	.end = pageout_store_end,
};

static void pageout_store(struct nswap_io *io, unsigned int first, unsigned int nr,
			  struct nswap_peer *peer, bool reserved)
{
	struct nswap_op *op = nswap_store_op(io, first, nr, peer,
					     &pageout_store_ops);
	struct nswap_slot was;
	unsigned int i;

	if (reserved)
		nswap_store_reserved(op);
	for (i = first; i < first + nr; i++) {
		nswap_slot_update(io->dev, io->slot[i], &was,
				  pageout_slot_placed, peer->index);
		io->gen[i] = cpu_to_le32(was.gen);
	}
	nswap_client_used(io->dev->node);
	nswap_meter_begin(op);
	nswap_store_send(op);
}

/* what is under way at flash; negative if this slot cannot go there now */
static int flash_inflight(struct nswap_io *io, unsigned int first)
{
	struct nswap_flash *f = io->dev->flash;

	if (!f || test_bit(first, &io->no_flash) || !nswap_flash_room(f))
		return -1;
	return nswap_flash_inflight(f);
}

/* the peer that has the old copies of most of these slots, 0 if there is none */
static u16 pageout_old_peer(const struct nswap_io *io, unsigned int first,
			    unsigned int nr)
{
	unsigned int i, more = 0, with = 0;
	u16 peer = 0;

	for (i = first; i < first + nr; i++) {
		u16 old = nswap_slot_at_peer(&io->old[i]) ? io->old[i].peer : 0;

		if (!more)
			peer = old;
		more = old == peer ? more + 1 : more - 1;
	}
	for (i = first; i < first + nr; i++)
		with += nswap_slot_at_peer(&io->old[i]) && io->old[i].peer == peer;
	return 2 * with > nr ? peer : 0;
}

/**
 * nswap_pageout_to_peers() - bring slots that are to be placed to peers, or to
 *	flash or home, where the placement policy prefers that
 * @io: page-out the caller dispatches
 * @slots: which of them
 *
 * Context: process, page-out path: does not allocate, does not wait.
 * Return: 0; if some stay, -EAGAIN: grants may come; -ENOSPC: no room anywhere.
 */
int nswap_pageout_to_peers(struct nswap_io *io, unsigned long slots)
{
	struct nswap_node *node = io->dev->node;
	bool rather_peers = false, reserved;
	enum nswap_tier tier;
	struct nswap_peer *peer;
	unsigned int first, nr;
	unsigned long may;
	u16 index;
	int n;

	while ((may = io->todo & slots)) {
		nswap_meter_turn(io);
		first = __ffs(may);
		nr = nswap_io_run(io, may, first);
		n = nswap_is_cells(io->dev) ? nswap_cell_place(io, first, nr, &index) :
		    nswap_place_take_again(io->dev, nr, pageout_old_peer(io, first, nr),
					   rather_peers ? -1 : flash_inflight(io, first),
					   !rather_peers && io->dev->home, &index);
		if (n == -EXDEV || n == -EREMOTE) {
			/* for lack of grants, perhaps: they are of use */
			nswap_client_used(node);
			tier = n == -EXDEV ? NSWAP_TIER_FLASH : NSWAP_TIER_HOME;
			nswap_tiers[tier]->store(io, GENMASK(first + nr - 1, first));
			/* it filled up, fails, or is being written to, just now */
			rather_peers = io->todo & BIT(first);
			if (!rather_peers && READ_ONCE(io->dev->leaning.now))
				nswap_stat_add(node, pages_leaned, nr);
			continue;
		}
		reserved = n < 0;
		if (reserved) {
			nr = nswap_place_take_reserved(io->dev, nr, &index);
			if (!nr)
				return n;
			n = nr;
		}
		peer = nswap_peer_get(node, index);
		if (!peer)
			continue;
		io->todo &= ~GENMASK(first + n - 1, first);
		pageout_store(io, first, n, peer, reserved);
	}
	return 0;
}

/* to be placed: no peer has them yet */
static unsigned long pageout_firsts(const struct nswap_io *io)
{
	return io->todo & ~READ_ONCE(io->halves);
}

static void fail_rest(struct nswap_io *io)
{
	unsigned long rest = pageout_firsts(io);
	unsigned int i, n = hweight_long(rest);

	for_each_set_bit(i, &rest, NSWAP_REQ_SLOTS)
		nswap_pageout_failed(io, i);
	io->todo &= ~rest;
	if (n && !io->ops)
		nswap_warn(io->dev->node, "%s: no peer took %u pages in time, they stay in RAM; lend more on the peers, or give it a home (nswapctl stat, nswapctl doctor)",
			   io->dev->disk->disk_name, n);
}

/*
 * Should it wait for a silent peer, although no tier takes it? Reclaim would meet its
 * pages again at once, and find nothing that it can free: programs are killed for memory
 * within milliseconds, though the peer is back in a moment. Cells spill instead, and
 * what the module writes of its own accord can stay where it is.
 */
static bool pageout_waits_for_peer(struct nswap_io *io)
{
	return !io->ops && !nswap_is_cells(io->dev) && !pageout_overdue(io) &&
	       nswap_place_return_expected(io->dev->node);
}

/*
 * No peer takes it, or, if @full is not set, none does now: then each tier has
 * its own patience, and what none of them takes waits for grants.
 * Return: true if what is left waits for a silent peer.
 */
static bool pageout_overflow(struct nswap_io *io, bool full)
{
	int ret = full ? -ENOSPC : -EAGAIN;
	unsigned int i;

	for (i = NSWAP_TIER_REMOTE + 1; i < NSWAP_TIERS; i++) {
		const struct nswap_tier_ops *t = nswap_tiers[i];

		if (nswap_tier_there(io->dev, i) &&
		    (full || nswap_pageout_waited(io, t->patience_ms)))
			ret = t->store(io, pageout_firsts(io));
	}
	if (nswap_is_cells(io->dev) && nswap_cell_impatient(io)) {
		full = true;
		ret = -ENOSPC;
	}
	if (!full || ret != -ENOSPC)
		return false;
	if (pageout_firsts(io) && pageout_waits_for_peer(io))
		return true;
	fail_rest(io);
	return false;
}

/*
 * Bring a page-out as far as it goes now. @io: request the caller dispatches. Context:
 * process, page-out path: does not allocate, does not wait.
 */
void nswap_pageout(struct nswap_io *io)
{
	int ret = -ENOSPC;
	bool claimed;

	if (io->rest && !io->todo && !io->unclaimed &&
	    atomic_read_acquire(&io->pending) == 1)
		nswap_pageout_spilled(io);
	claimed = nswap_pageout_claim(io);
	if (READ_ONCE(io->halves) & io->todo)
		nswap_pageout_seconds(io);
	if (!pageout_overdue(io))
		ret = nswap_tiers[NSWAP_TIER_REMOTE]->store(io, pageout_firsts(io));
	if (ret && pageout_overflow(io, ret == -ENOSPC))
		ret = -EAGAIN;
	if (io->todo && !pageout_firsts(io))
		ret = -EAGAIN;
	if (io->todo && claimed && ret == -EAGAIN)
		nswap_request_wait_room(io);
	else if (io->todo || !claimed)
		nswap_request_wait(io);
	else
		nswap_request_put(io);
}
