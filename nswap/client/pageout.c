// SPDX-License-Identifier: GPL-2.0
/*
 * Page-out.
 *
 *   claim: slot -> WRITING(nobody, next generation)
 *   place: policy picks a peer, a grant is spent, -> WRITING(peer)
 *   store: message on the peer's store connection
 *   ack:   -> REMOTE(peer), the old copy elsewhere is freed later
 *   refused, timed out, session broken: -> WRITING(nobody, next generation),
 *          placed again
 *   no room anywhere, or no answer to that for too long: flash, then home
 *          has it: -> FLASH, HOME; failed, or there is none: -> LOST, the
 *          request fails
 *
 * Invariants:
 *  - From claim to the end only this request moves the slot (a free sets the
 *    freed bit), and no reader gets the old copy. So all changes but the claim
 *    succeed.
 *  - A claim goes up the request's slots in order and stops at the first that
 *    another request has claimed: two requests never wait for each other. It
 *    stops as well where a page that a server brought back is being written to
 *    the slot's place at home, or to flash before that, which waits for nothing
 *    but these two.
 *  - Every message of a slot has its own generation. A copy of a generation
 *    that was given up is an orphan: freed when given up, again when its late
 *    ack comes, and by comparison if the connection is lost in between.
 *  - The old copy is freed only after the new one is acknowledged or the write
 *    has failed; failed writes leave LOST, never the old page.
 */
#include "backing/flash.h"
#include "base/bits.h"
#include "base/latency_steps.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/timestamp.h"
#include "base/types.h"
#include "core/client_state.h"
#include "core/device.h"
#include "core/node.h"
#include "core/request.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "free.h"
#include "observe/meter.h"
#include "pageout.h"
#include "peers/grants.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "peers/session.h"
#include "pure/slot_map.h"
#include "pure/wire.h"
#include "request_queue.h"
#include "tier.h"
#include "transport/conn.h"
#include "transport/transport.h"

/* waited this many store time-outs in all: tell the block layer */
#define GIVE_UP_AFTER	4

static void store_header(struct nswap_io *io)
{
	struct nswap_device *dev = io->dev;

	spin_lock(&dev->header_lock);
	copy_highpage(dev->header, io->page[0]);
	spin_unlock(&dev->header_lock);
}

/* unless another request has the slot, or a page is on its way home to it */
static bool pageout_slot_claimed(struct nswap_slot *s, struct nswap_device *dev,
				 u64 slot)
{
	if (s->state == NSWAP_SLOT_WRITING || nswap_return_under_way(dev, slot))
		return false;
	*s = (struct nswap_slot){
		.state = NSWAP_SLOT_WRITING,
		.gen = nswap_gen_next(s->gen),
	};
	return true;
}

/* WRITING, on its way to a peer */
static bool pageout_slot_placed(struct nswap_slot *s, u16 peer)
{
	s->peer = peer;
	return true;
}

/* WRITING, to be placed again: the copy of this generation is given up */
static bool pageout_slot_unplaced(struct nswap_slot *s)
{
	s->peer = 0;
	s->gen = nswap_gen_next(s->gen);
	return true;
}

/* WRITING -> where the page is now, if it was not freed meanwhile */
static bool pageout_slot_ended(struct nswap_slot *s, u8 state, u16 peer, u32 flash)
{
	if (s->freed) {
		state = state == NSWAP_SLOT_REMOTE ? NSWAP_SLOT_FREEING :
						     NSWAP_SLOT_EMPTY;
		flash = NSWAP_FLASH_NONE;
	}
	*s = (struct nswap_slot){
		.state = state, .peer = peer, .gen = s->gen, .flash = flash,
	};
	return true;
}

/* false if others have the slot now */
static bool pageout_claim_slot(struct nswap_io *io, unsigned int i)
{
	u64 slot = io->slot + i;

	if (!slot) {
		store_header(io);
		return true;
	}
	if (!nswap_slot_update(io->dev, slot, &io->old[i], pageout_slot_claimed,
			       io->dev, slot))
		return false;
	io->todo |= BIT(i);
	return true;
}

/* false if some slots are still to be claimed */
static bool pageout_claim_slots(struct nswap_io *io)
{
	while (io->unclaimed) {
		unsigned int i = __ffs(io->unclaimed);

		if (!pageout_claim_slot(io, i))
			return false;
		io->unclaimed &= ~BIT(i);
	}
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
		nswap_free_orphan(io->dev, io->slot + i, old->gen, old->peer);
}

/* the last change of a slot that this request has claimed; was it freed? */
static bool pageout_end_slot(struct nswap_io *io, unsigned int i, u8 state,
			     u16 peer, u32 flash)
{
	struct nswap_slot was;

	nswap_slot_update(io->dev, io->slot + i, &was, pageout_slot_ended,
			  state, peer, flash);
	forget_old_copy(io, i, peer);
	return was.freed;
}

static void pageout_at_peer(struct nswap_io *io, unsigned int i, u16 peer)
{
	if (pageout_end_slot(io, i, NSWAP_SLOT_REMOTE, peer, NSWAP_FLASH_NONE))
		nswap_free_told(io->dev, io->slot + i);
}

/**
 * nswap_pageout_at_home() - a page-out has reached home
 * @io: request
 * @i: its slot, counted from the request's
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_pageout_at_home(struct nswap_io *io, unsigned int i)
{
	pageout_end_slot(io, i, NSWAP_SLOT_HOME, 0, NSWAP_FLASH_NONE);
}

/**
 * nswap_pageout_at_flash() - a page-out has reached flash
 * @io: request
 * @i: its slot, counted from the request's
 * @flash: flash slot, the slot's from now on
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_pageout_at_flash(struct nswap_io *io, unsigned int i, u32 flash)
{
	if (pageout_end_slot(io, i, NSWAP_SLOT_FLASH, 0, flash))
		nswap_flash_put(io->dev->flash, flash);
}

/**
 * nswap_pageout_failed() - a page-out has failed: its bio gets an error
 * @io: request
 * @i: its slot, counted from the request's
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_pageout_failed(struct nswap_io *io, unsigned int i)
{
	pageout_end_slot(io, i, NSWAP_SLOT_LOST, 0, NSWAP_FLASH_NONE);
	nswap_request_fail(io, i, 1);
	nswap_stat_inc(io->dev->node, write_errors);
}

/* the peer did not take it, or nobody knows: place it again */
static void pageout_again(struct nswap_io *io, unsigned int i, bool may_be_held)
{
	struct nswap_slot was;

	nswap_slot_update(io->dev, io->slot + i, &was, pageout_slot_unplaced);
	if (may_be_held)
		nswap_free_orphan(io->dev, io->slot + i, was.gen, was.peer);
	else
		nswap_peer_slots(io->dev->node, was.peer, -1);
	nswap_stat_inc(io->dev->node, moved);
}

static int store_answered(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_conn *c = m->conn;
	struct nswap_wire_result *r = c->scratch;
	struct nswap_peer *peer = op->peer;
	struct nswap_node *node = peer->node;
	struct nswap_io *io = op->io;
	unsigned int i, refused;
	unsigned long again = 0;
	int ret;

	ret = c->rx.type == NSWAP_STORE_ACK &&
	      le32_to_cpu(c->rx.nr) == op->nr ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_recv_buf(c->t, c->l, r, op->nr * sizeof(*r));
	if (ret) {
		m->lost(m);
		return ret;
	}
	m->received_ns = nswap_stamp();
	nswap_place_ended(node, peer->index, op->nr, op->began);
	for (i = 0; i < op->nr; i++) {
		if (le32_to_cpu(r[i].status) == NSWAP_ST_OK) {
			pageout_at_peer(io, op->first + i, peer->index);
			continue;
		}
		pageout_again(io, op->first + i, false);
		again |= BIT(op->first + i);
	}
	refused = hweight_long(again);
	nswap_stat_add(node, pages_out, op->nr - refused);
	if (refused)
		nswap_peer_refused(peer, refused);
	nswap_peer_granted(peer, le32_to_cpu(c->rx.grants),
			     le64_to_cpu(c->rx.free));
	nswap_op_end(op, again);
	return 0;
}

static void store_unanswered(struct nswap_op *op, bool may_be_held)
{
	unsigned int i;

	nswap_place_ended(op->peer->node, op->peer->index, op->nr, op->began);
	for (i = 0; i < op->nr; i++)
		pageout_again(op->io, op->first + i, may_be_held);
	nswap_op_end(op, nswap_op_slots(op));
}

/* the session broke: comparison will find what the peer holds of it */
static void store_lost(struct nswap_msg *m)
{
	store_unanswered(container_of(m, struct nswap_op, m), false);
}

static void store_overdue(struct nswap_msg *m, bool unsent)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_peer *peer = op->peer;

	nswap_stat_add(peer->node, timeouts, op->nr);
	nswap_peer_back_off(peer);
	if (unsent)
		nswap_place_unspent(peer->node, peer->index, op->nr);
	store_unanswered(op, !unsent);
}

/**
 * nswap_pageout_build_store() - make the STORE of some slots
 * @op: of a request whose pages and generations are set
 *
 * Context: process, page-out path; does not sleep.
 */
void nswap_pageout_build_store(struct nswap_op *op)
{
	struct nswap_io *io = op->io;
	struct bio_vec *bv = &io->bv[3 * op->first];
	struct nswap_wire_hdr *h = &op->m.hdr;
	u32 bytes = op->nr * (sizeof(__le32) + PAGE_SIZE);
	unsigned int i;

	nswap_wire_init(h, NSWAP_STORE, op->nr, bytes);
	h->id = nswap_client_id(io->dev->node);
	h->flags = nswap_meter_flags(io, READ_ONCE(op->peer->features));
	h->slot = cpu_to_le64(io->slot + op->first);
	h->instance = cpu_to_le32(io->dev->instance);
	bvec_set_page(&bv[0], virt_to_page(h), sizeof(*h), offset_in_page(h));
	bvec_set_page(&bv[1], virt_to_page(&io->gen[op->first]),
		      op->nr * sizeof(__le32),
		      offset_in_page(&io->gen[op->first]));
	for (i = 0; i < op->nr; i++)
		bvec_set_page(&bv[2 + i], io->page[op->first + i], PAGE_SIZE, 0);
	iov_iter_bvec(&op->m.iter, ITER_SOURCE, bv, 2 + op->nr,
		      sizeof(*h) + bytes);
}

static void pageout_store(struct nswap_io *io, unsigned int first, unsigned int nr,
			  struct nswap_peer *peer)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_op *op = &io->op[first];
	struct nswap_slot was;
	unsigned int i;

	op->io = io;
	op->peer = peer;
	op->first = first;
	op->nr = nr;
	op->m.answer = store_answered;
	op->m.lost = store_lost;
	op->m.overdue = store_overdue;
	nswap_peer_slots(node, peer->index, nr);
	for (i = first; i < first + nr; i++) {
		nswap_slot_update(io->dev, io->slot + i, &was,
				  pageout_slot_placed, peer->index);
		io->gen[i] = cpu_to_le32(was.gen);
	}
	nswap_pageout_build_store(op);
	WRITE_ONCE(peer->used, jiffies);
	nswap_client_used(node);
	nswap_stat_inc(node, store_msgs);
	nswap_meter_begin(op);
	atomic_inc(&io->pending);
	if (nswap_conn_send(nswap_session_store_conn(peer), &op->m)) {
		nswap_place_rest(node, peer->index, true);
		store_lost(&op->m);
	}
}

/* what is under way at flash; negative if this slot cannot go there now */
static int flash_inflight(struct nswap_io *io, unsigned int first)
{
	struct nswap_flash *f = io->dev->flash;

	if (!f || test_bit(first, &io->no_flash) || !nswap_flash_room(f))
		return -1;
	return nswap_flash_inflight(f);
}

/**
 * nswap_pageout_to_peers() - bring slots that are to be placed to peers, or to
 *	flash, where the placement policy prefers that
 * @io: page-out the caller dispatches
 * @slots: which of them
 *
 * Context: process, page-out path: does not allocate, does not wait.
 * Return: 0; if some stay, -EAGAIN: grants may come; -ENOSPC: no room anywhere.
 */
int nswap_pageout_to_peers(struct nswap_io *io, unsigned long slots)
{
	struct nswap_node *node = io->dev->node;
	bool rather_peers = false;
	struct nswap_peer *peer;
	unsigned int first, nr;
	unsigned long may;
	u16 index;
	int n;

	while ((may = io->todo & slots)) {
		nswap_meter_turn(io);
		first = __ffs(may);
		nr = nswap_run_of(may, first);
		n = nswap_place_take(io->dev, nr, rather_peers ? -1 :
				     flash_inflight(io, first), &index);
		if (n == -EXDEV) {
			/* for lack of grants, perhaps: they are of use */
			nswap_client_used(node);
			nswap_tiers[NSWAP_TIER_FLASH]->store(io,
					GENMASK(first + nr - 1, first));
			/* it filled up, or fails, just now */
			rather_peers = io->todo & BIT(first);
			continue;
		}
		if (n < 0)
			return n;
		peer = nswap_peer_get(node, index);
		if (!peer) {
			nswap_place_remove(node, index);
			continue;
		}
		io->todo &= ~GENMASK(first + n - 1, first);
		pageout_store(io, first, n, peer);
	}
	return 0;
}

static void fail_rest(struct nswap_io *io)
{
	unsigned int i, n = hweight_long(io->todo);

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS)
		nswap_pageout_failed(io, i);
	io->todo = 0;
	if (n)
		nswap_warn(io->dev->node, "%s: no peer took %u pages in time, they stay in RAM",
			   io->dev->disk->disk_name, n);
}

static bool pageout_waited(const struct nswap_io *io, u32 ms)
{
	return time_after(jiffies, io->since + msecs_to_jiffies(ms));
}

/*
 * No peer takes it, or, if @full is not set, none does now: then each tier has
 * its own patience, and what none of them takes waits for grants.
 */
static void pageout_overflow(struct nswap_io *io, bool full)
{
	int ret = full ? -ENOSPC : -EAGAIN;
	unsigned int i;

	for (i = NSWAP_TIER_REMOTE + 1; i < NSWAP_TIERS; i++) {
		const struct nswap_tier_ops *t = nswap_tiers[i];

		if (nswap_tier_there(io->dev, i) &&
		    (full || pageout_waited(io, t->patience_ms)))
			ret = t->store(io, io->todo);
	}
	if (full && ret == -ENOSPC)
		fail_rest(io);
}

/**
 * nswap_pageout() - bring a page-out as far as it goes now
 * @io: request the caller dispatches
 *
 * Context: process, page-out path: does not allocate, does not wait.
 */
void nswap_pageout(struct nswap_io *io)
{
	u32 timeout = nswap_knob(io->dev->node, store_timeout_ms);
	bool claimed = pageout_claim_slots(io);
	int ret = -ENOSPC;

	if (!pageout_waited(io, timeout * GIVE_UP_AFTER))
		ret = nswap_tiers[NSWAP_TIER_REMOTE]->store(io, io->todo);
	if (ret)
		pageout_overflow(io, ret == -ENOSPC);
	if (io->todo || !claimed)
		nswap_request_wait(io);
	else
		nswap_request_put(io);
}
