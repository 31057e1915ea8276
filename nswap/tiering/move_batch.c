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
#include "client/request_queue.h"
#include "client/store.h"
#include "core/device.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "move_batch.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "promote.h"
#include "pure/slot_map.h"

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
	struct nswap_op *op = nswap_op_block(&mo->io, first, nr,
					     NSWAP_FLASH_NONE, block_ended);

	atomic_inc(&mo->io.pending);
	return op;
}

/* from the state of a batch to a peer, or back, if it has not changed meanwhile */
static bool move_batch_slot_settled(struct nswap_slot *s, u8 from, u32 gen, u8 to,
				    u16 peer)
{
	if (!nswap_slot_is(s, from, 0, gen))
		return false;
	if (peer && from == NSWAP_SLOT_FLASH)
		s->flash = NSWAP_FLASH_NONE;
	s->state = to;
	s->peer = peer;
	return true;
}

/* to a peer, or back; false if the slot has changed meanwhile */
static bool move_batch_settle(struct nswap_move_batch *mo, unsigned int i, u8 state,
			      u16 peer)
{
	struct nswap_io *io = &mo->io;
	struct nswap_slot was;

	return nswap_slot_update(io->dev, io->slot + i, &was,
				 move_batch_slot_settled, mo->state,
				 le32_to_cpu(io->gen[i]), state, peer);
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
static void move_batch_stored(struct nswap_op *op, unsigned int i)
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

static void move_batch_given_up(struct nswap_op *op, unsigned int i)
{
	move_batch_stay(of_op(op), i);
}

static void move_batch_store_end(struct nswap_op *op, unsigned long given_up)
{
	op_ended(op);
}

static const struct nswap_store_ops move_batch_store_ops = {
	.stored = move_batch_stored,
	.given_up = move_batch_given_up,
	.end = move_batch_store_end,
};

static void move_batch_store(struct nswap_io *io, unsigned int first, unsigned int nr,
			     struct nswap_peer *peer)
{
	struct nswap_op *op = nswap_store_op(io, first, nr, peer,
					     &move_batch_store_ops);

	op->began = ktime_get_ns();
	nswap_store_send(op);
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
		n = nswap_place_take_spare(node, *nr, &index);
	else
		n = nswap_place_take(node, *nr, -1, &index);
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

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS) {
		struct nswap_slot s = nswap_slot_look(io->dev, io->slot + i);

		if (nswap_slot_is(&s, mo->state, 0, le32_to_cpu(io->gen[i])))
			continue;
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
