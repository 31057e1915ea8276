// SPDX-License-Identifier: GPL-2.0
/*
 * Moves of a batch of adjacent slots of a device whose pages are at home or on
 * flash, to peers if they have room.
 *
 *   read into the batch's memory -> STORE at a peer, with the generation that the
 *   slot has taken for the move
 *   acknowledged: -> REMOTE(peer); the flash slot is put back, if the page was on
 *          flash, unless a copy is to be kept there
 *   refused, unanswered, session broken: it stays where it is
 *   the slot changed meanwhile: it stays as it is, the new copy is obsolete
 *
 * Invariants:
 *  - The caller has given each slot of the batch a generation that no earlier
 *    attempt had. A copy with a generation that was given up is an orphan.
 *  - One batch is under way; the task that waits for its end holds no lock that an
 *    answer needs. A peer has store_timeout_ms to answer.
 *  - A slot may be rewritten, freed, or lost at any moment. Each update checks the
 *    state and generation of the batch within the compare and exchange: the first
 *    that does not find them cancels the move of that slot.
 *  - A copy that a peer has of a page of flash counts as recorded while it may be
 *    (nswap_flash_stores()).
 *  - No page-out waits for a batch, except one whose slot is being written to home.
 *    A batch sleeps but does not allocate, so it ends even without free memory.
 */
#include "base/bits.h"
#include "client/free.h"
#include "client/store.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "move_batch.h"
#include "peers/peer.h"
#include "peers/place.h"

static struct nswap_move_batch *move_batch_of(struct nswap_op *op)
{
	return container_of(op->io, struct nswap_move_batch, b.io);
}

/* is the slot unchanged? @s: its entry; may be outdated at once */
bool nswap_move_batch_valid(const struct nswap_move_batch *mo, unsigned int i,
			    struct nswap_slot *s)
{
	const struct nswap_io *io = &mo->b.io;

	*s = nswap_slot_look(io->dev, io->slot[i]);
	return nswap_slot_is(s, mo->state, 0, le32_to_cpu(io->gen[i]));
}

static bool move_batch_slot_settled(struct nswap_slot *s, u8 from, u32 gen, u8 to,
				    u16 peer, u32 flash)
{
	if (!nswap_slot_is(s, from, 0, gen))
		return false;
	/* a page that moved has left its flash slot; one that stays has not */
	if (from == NSWAP_SLOT_FLASH && (flash || to != from))
		s->flash = flash;
	s->state = to;
	s->peer = peer;
	return true;
}

/*
 * Record where a page is now. Returns false, with nothing changed, if the slot has
 * changed meanwhile.
 */
bool nswap_move_batch_settle(struct nswap_move_batch *mo, unsigned int i,
			     u8 state, u16 peer, u32 flash)
{
	struct nswap_io *io = &mo->b.io;
	struct nswap_slot was;

	return nswap_slot_update(io->dev, io->slot[i], &was,
				 move_batch_slot_settled, mo->state,
				 le32_to_cpu(io->gen[i]), state, peer, flash);
}

/* the page stays where it is, unless the slot has changed */
static void move_batch_stay(struct nswap_move_batch *mo, unsigned int i)
{
	nswap_move_batch_settle(mo, i, mo->state == NSWAP_SLOT_MOVING ?
				NSWAP_SLOT_HOME : mo->state, 0, NSWAP_FLASH_NONE);
	nswap_stat_inc(mo->b.io.dev->node, moves_refused);
}

/* pages still in @todo stay where they are */
void nswap_move_batch_stay(struct nswap_move_batch *mo)
{
	unsigned int i;

	for_each_set_bit(i, &mo->b.io.todo, NSWAP_REQ_SLOTS)
		move_batch_stay(mo, i);
}

/* the peer has the page: record that, or free it as obsolete */
static void move_batch_stored(struct nswap_op *op, unsigned int i)
{
	struct nswap_move_batch *mo = move_batch_of(op);
	struct nswap_io *io = op->io;
	struct nswap_node *node = io->dev->node;

	nswap_page_tag(io->dev, io->slot[i], mo->tag);
	if (nswap_move_batch_settle(mo, i, NSWAP_SLOT_REMOTE, op->peer->index,
				    mo->copy ? mo->b.flash[i] : NSWAP_FLASH_NONE)) {
		set_bit(i, &mo->moved);
		if (mo->state == NSWAP_SLOT_MOVING) {
			nswap_stat_inc(node, pages_home_to_remote);
			if (mo->tag)
				nswap_stat_inc(node, pages_prefetched_ram);
		}
		return;
	}
	nswap_page_tag(io->dev, io->slot[i], 0);
	nswap_free_orphan(io->dev, io->slot[i], le32_to_cpu(io->gen[i]),
			  op->peer->index);
	nswap_stat_inc(node, moves_met);
}

static void move_batch_given_up(struct nswap_op *op, unsigned int i)
{
	move_batch_stay(move_batch_of(op), i);
}

static void move_batch_store_end(struct nswap_op *op, unsigned long given_up)
{
	nswap_peer_put(op->peer);
	nswap_batch_put(&move_batch_of(op)->b);
}

static const struct nswap_store_ops move_batch_store_ops = {
	.stored = move_batch_stored,
	.given_up = move_batch_given_up,
	.end = move_batch_store_end,
};

/* a referenced peer for up to @nr slots, or NULL; @nr: grants taken */
static struct nswap_peer *move_batch_choose(struct nswap_move_batch *mo, unsigned int *nr)
{
	struct nswap_node *node = mo->b.io.dev->node;
	u16 index;
	int n;

	if (mo->spare)
		n = nswap_place_take_spare(mo->b.io.dev, *nr, &index);
	else
		n = nswap_place_take(mo->b.io.dev, *nr, 0, -1, &index);
	if (n <= 0)
		return NULL;
	*nr = n;
	return nswap_peer_get(node, index);
}

/* store the slots unchanged since they were read at peers, and wait for the answers */
void nswap_move_batch_store(struct nswap_move_batch *mo)
{
	struct nswap_io *io = &mo->b.io;
	unsigned int i, first, nr;
	struct nswap_peer *peer;
	struct nswap_slot s;
	struct nswap_op *op;

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS) {
		if (nswap_move_batch_valid(mo, i, &s))
			continue;
		io->todo &= ~BIT(i);
		nswap_stat_inc(io->dev->node, moves_met);
	}
	if (mo->state == NSWAP_SLOT_FLASH)
		nswap_flash_stores_begin(io->dev);
	nswap_batch_begin(&mo->b);
	while (io->todo) {
		first = __ffs(io->todo);
		nr = nswap_run_of(io->todo, first);
		peer = move_batch_choose(mo, &nr);
		if (!peer)
			break;
		io->todo &= ~GENMASK(first + nr - 1, first);
		op = nswap_store_op(io, first, nr, peer, &move_batch_store_ops);
		op->began = ktime_get_ns();
		nswap_store_send(op);
	}
	nswap_batch_wait(&mo->b);
	if (mo->state == NSWAP_SLOT_FLASH)
		nswap_flash_stores_end(io->dev);
}
