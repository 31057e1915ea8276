// SPDX-License-Identifier: GPL-2.0
/*
 * Moves out: a batch of adjacent slots of a device whose pages home or flash
 * holds, and that peers get.
 *
 *   read into the batch's memory -> STORE at a peer, of the generation that the
 *   slot has taken for the move
 *   acknowledged: -> REMOTE(peer); what flash held of it is given up then, if
 *          flash is where it was
 *   refused, unanswered, session broken: it stays where it is
 *   the slot changed meanwhile: it stays as it is, the new copy is obsolete
 *
 * Invariants:
 *  - Whoever makes a batch has given each of its slots a generation that no
 *    attempt before had. A copy of one that was given up is an orphan.
 *  - One batch is under way; who waits for its end holds no lock that an answer
 *    needs. A peer that does not answer has store_timeout_ms.
 *  - Memory is made with the batch.
 */
#include "backing/flash.h"
#include "base/bits.h"
#include "base/stats.h"
#include "base/types.h"
#include "client/free.h"
#include "client/pageout.h"
#include "client/request_queue.h"
#include "core/device.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "move_batch.h"
#include "peers/grants.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "peers/session.h"
#include "promote.h"
#include "pure/slot_map.h"
#include "pure/wire.h"
#include "transport/conn.h"
#include "transport/transport.h"

static struct nswap_move_batch *of_op(struct nswap_op *op)
{
	return container_of(op->io, struct nswap_move_batch, io);
}

static void put_io(struct nswap_move_batch *mo)
{
	if (atomic_dec_and_test(&mo->io.pending))
		complete(&mo->over);
}

static void op_ended(struct nswap_op *op)
{
	struct nswap_move_batch *mo = of_op(op);

	if (op->peer)
		nswap_peer_put(op->peer);
	put_io(mo);
}

/**
 * nswap_move_batch_begin() - reads, writes or messages are about to be started
 * @mo: batch
 *
 * Context: process, does not sleep.
 */
void nswap_move_batch_begin(struct nswap_move_batch *mo)
{
	reinit_completion(&mo->over);
	atomic_set(&mo->io.pending, 1);
}

/**
 * nswap_move_batch_wait() - let all of them end
 * @mo: batch
 *
 * Context: process, sleeps.
 */
void nswap_move_batch_wait(struct nswap_move_batch *mo)
{
	put_io(mo);
	wait_for_completion(&mo->over);
}

static void block_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);

	if (op->flash)
		nswap_flash_ended(op->io->dev->flash, op->flash, h->failed);
	op_ended(op);
}

/**
 * nswap_move_batch_op() - a read or write of home or flash, to be submitted by
 *	the caller
 * @mo: batch
 * @first: first slot, counted from the batch's
 * @nr: slots
 *
 * Context: process, does not sleep.
 * Return: it; from where is the caller's to say, and whether it is a write.
 */
struct nswap_op *nswap_move_batch_op(struct nswap_move_batch *mo,
				     unsigned int first, unsigned int nr)
{
	struct nswap_op *op = nswap_request_op(&mo->io, first, nr);

	op->h.end = block_ended;
	atomic_inc(&mo->io.pending);
	return op;
}

/**
 * nswap_move_batch_valid() - has a slot of a batch not changed?
 * @io: of the batch
 * @i: slot, counted from the batch's first
 * @state: of struct nswap_move_batch
 * @old: result, its word
 * @s: result, its entry
 *
 * Context: any.
 * Return: true if it still has the state and generation of the batch.
 */
bool nswap_move_batch_valid(struct nswap_io *io, unsigned int i, u8 state,
			    u64 *old, struct nswap_slot *s)
{
	*old = nswap_slot_read(&io->dev->map, io->slot + i);
	*s = nswap_slot_unpack(*old);
	return s->state == state && !s->peer &&
	       s->gen == le32_to_cpu(io->gen[i]);
}

/* to a peer, or back; false if the slot has changed meanwhile */
static bool move_batch_settle(struct nswap_move_batch *mo, unsigned int i, u8 state,
			      u16 peer)
{
	struct nswap_io *io = &mo->io;
	struct nswap_slot s;
	u64 old;

	do {
		if (!nswap_move_batch_valid(io, i, mo->state, &old, &s))
			return false;
		if (peer && mo->state == NSWAP_SLOT_FLASH)
			s.flash = NSWAP_FLASH_NONE;
		s.state = state;
		s.peer = peer;
	} while (!nswap_device_slot_move(io->dev, io->slot + i, old, &s));
	return true;
}

/* the page stays where it is, unless the slot has changed */
static void move_batch_stay(struct nswap_move_batch *mo, unsigned int i)
{
	move_batch_settle(mo, i, mo->state == NSWAP_SLOT_MOVING ? NSWAP_SLOT_HOME :
						       mo->state, 0);
	nswap_stat_inc(mo->io.dev->node, moves_refused);
}

/**
 * nswap_move_batch_stay() - what has no new place stays where it is
 * @mo: batch
 *
 * Context: process, does not sleep.
 */
void nswap_move_batch_stay(struct nswap_move_batch *mo)
{
	unsigned int i;

	for_each_set_bit(i, &mo->io.todo, NSWAP_REQ_SLOTS)
		move_batch_stay(mo, i);
}

/* the peer has it: record that, or it is obsolete already */
static void move_batch_arrived(struct nswap_op *op, unsigned int i)
{
	struct nswap_move_batch *mo = of_op(op);
	struct nswap_io *io = op->io;
	struct nswap_node *node = io->dev->node;

	nswap_page_tag(io->dev, io->slot + i, mo->tag);
	if (move_batch_settle(mo, i, NSWAP_SLOT_REMOTE, op->peer->index)) {
		set_bit(i, &mo->moved);
		if (mo->state == NSWAP_SLOT_MOVING)
			nswap_stat_inc(node, pages_home_to_remote);
		if (mo->tag)
			nswap_stat_inc(node, pages_prefetched_ram);
		return;
	}
	nswap_page_tag(io->dev, io->slot + i, 0);
	nswap_free_orphan(io->dev, io->slot + i, le32_to_cpu(io->gen[i]),
			  op->peer->index);
	nswap_stat_inc(node, moves_met);
}

static int store_answered(struct nswap_msg *m)
{
	struct nswap_op *op = container_of(m, struct nswap_op, m);
	struct nswap_conn *c = m->conn;
	struct nswap_wire_result *r = c->scratch;
	struct nswap_peer *peer = op->peer;
	unsigned int i, refused = 0;
	int ret;

	ret = c->rx.type == NSWAP_STORE_ACK &&
	      le32_to_cpu(c->rx.nr) == op->nr ? 0 : -EPROTO;
	if (!ret)
		ret = nswap_recv_buf(c->t, c->l, r, op->nr * sizeof(*r));
	if (ret) {
		m->lost(m);
		return ret;
	}
	nswap_place_ended(peer->node, peer->index, op->nr, op->began);
	for (i = 0; i < op->nr; i++) {
		if (le32_to_cpu(r[i].status) == NSWAP_ST_OK) {
			move_batch_arrived(op, op->first + i);
			continue;
		}
		move_batch_stay(of_op(op), op->first + i);
		nswap_peer_slots(peer->node, peer->index, -1);
		refused++;
	}
	if (refused)
		nswap_peer_refused(peer, refused);
	nswap_peer_granted(peer, le32_to_cpu(c->rx.grants),
			     le64_to_cpu(c->rx.free));
	op_ended(op);
	return 0;
}

static void store_unanswered(struct nswap_op *op, bool may_be_held)
{
	struct nswap_peer *peer = op->peer;
	struct nswap_io *io = op->io;
	unsigned int i;

	nswap_place_ended(peer->node, peer->index, op->nr, op->began);
	for (i = op->first; i < op->first + op->nr; i++) {
		move_batch_stay(of_op(op), i);
		if (may_be_held)
			nswap_free_orphan(io->dev, io->slot + i,
					  le32_to_cpu(io->gen[i]), peer->index);
		else
			nswap_peer_slots(peer->node, peer->index, -1);
	}
	op_ended(op);
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

static void move_batch_store(struct nswap_io *io, unsigned int first, unsigned int nr,
			     struct nswap_peer *peer)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_op *op = &io->op[first];

	op->io = io;
	op->peer = peer;
	op->first = first;
	op->nr = nr;
	op->m.answer = store_answered;
	op->m.lost = store_lost;
	op->m.overdue = store_overdue;
	nswap_peer_slots(node, peer->index, nr);
	nswap_pageout_build_store(op);
	WRITE_ONCE(peer->used, jiffies);
	nswap_stat_inc(node, store_msgs);
	op->began = ktime_get_ns();
	atomic_inc(&io->pending);
	if (nswap_conn_send(nswap_session_store_conn(peer), &op->m)) {
		nswap_place_rest(node, peer->index);
		store_lost(&op->m);
	}
}

/* a peer for up to @nr slots, a reference to it is the caller's; NULL: nobody */
static struct nswap_peer *move_batch_choose(struct nswap_move_batch *mo, unsigned int *nr)
{
	struct nswap_node *node = mo->io.dev->node;
	struct nswap_peer *peer;
	u16 index;
	int n;

	/* pages that are well where they are only go where there is plenty */
	if (mo->state == NSWAP_SLOT_MOVING)
		n = nswap_place_take_spare(mo->io.dev, *nr, &index);
	else
		n = nswap_place_take(mo->io.dev, *nr, -1, &index);
	if (n <= 0)
		return NULL;
	*nr = n;
	peer = nswap_peer_get(node, index);
	if (!peer)
		nswap_place_remove(node, index);
	return peer;
}

/**
 * nswap_move_batch_store() - bring to peers what has not changed since it was
 *	read, and wait for the answers
 * @mo: batch; what nobody takes stays in its @todo
 *
 * Context: process, sleeps.
 */
void nswap_move_batch_store(struct nswap_move_batch *mo)
{
	struct nswap_io *io = &mo->io;
	unsigned int i, first, nr;
	struct nswap_peer *peer;
	struct nswap_slot s;
	u64 old;

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS)
		if (!nswap_move_batch_valid(io, i, mo->state, &old, &s)) {
			io->todo &= ~BIT(i);
			nswap_stat_inc(io->dev->node, moves_met);
		}
	nswap_move_batch_begin(mo);
	while (io->todo) {
		first = __ffs(io->todo);
		nr = nswap_run_of(io->todo, first);
		peer = move_batch_choose(mo, &nr);
		if (!peer)
			break;
		io->todo &= ~GENMASK(first + nr - 1, first);
		move_batch_store(io, first, nr, peer);
	}
	nswap_move_batch_wait(mo);
}

/**
 * nswap_move_batch_init() - make a batch
 * @mo: zeroed
 * @dev: device
 * @state: of struct nswap_move_batch
 *
 * Context: process, sleeps.
 * Return: false without memory; nothing is left behind then.
 */
bool nswap_move_batch_init(struct nswap_move_batch *mo, struct nswap_device *dev,
			   u8 state)
{
	unsigned int i;

	mo->io.dev = dev;
	mo->state = state;
	init_completion(&mo->over);
	for (i = 0; i < NSWAP_REQ_SLOTS; i++) {
		mo->io.page[i] = alloc_page(GFP_KERNEL);
		if (!mo->io.page[i]) {
			nswap_move_batch_exit(mo);
			return false;
		}
	}
	return true;
}

/**
 * nswap_move_batch_exit() - undo nswap_move_batch_init()
 * @mo: batch, at rest
 *
 * Context: process, sleeps.
 */
void nswap_move_batch_exit(struct nswap_move_batch *mo)
{
	unsigned int i;

	for (i = 0; i < NSWAP_REQ_SLOTS; i++)
		if (mo->io.page[i])
			__free_page(mo->io.page[i]);
}
