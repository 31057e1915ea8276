// SPDX-License-Identifier: GPL-2.0
/*
 * Page-in, copies: a page that a peer holds may be on flash, at home, or on a second
 * peer as well.
 *
 * Invariant: what is known of a copy is read before the slot's entry, and the bits of
 * home's copy in the order in which they change. So if there is none, and the entry
 * then still names the peer, there is none.
 */
#include "core/client_state.h"
#include "core/device_policy.h"
#include "core/home_copy.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "pagein_cell.h"
#include "pagein_copy.h"
#include "peers/peer.h"
#include "policy/policy.h"
#include "pure/peer_state.h"
#include "pure/read_latency.h"
#include "rebuild.h"

/**
 * nswap_copy_on_flash() - is a page on flash, in a flash slot that has not failed?
 * @io: page-in
 * @i: slot, counted from the request's
 * @s: its entry
 *
 * A flash slot that failed says nothing of another one that the page may be given later,
 * or of another page there.
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: true if it is to be read there; a snapshot.
 */
bool nswap_copy_on_flash(const struct nswap_io *io, unsigned int i,
			 const struct nswap_slot *s)
{
	return s->flash &&
	       (!test_bit(i, &io->no_flash) || s->flash != READ_ONCE(io->flash_at[i]) ||
		s->gen != READ_ONCE(io->flash_gen[i]));
}

/* does home have it too, or will it soon, and has not failed for this request? */
static bool copied_home(struct nswap_io *io, unsigned int i)
{
	return io->dev->home_has && !test_bit(i, &io->no_home) &&
	       nswap_home_copy_any(io->dev, io->slot[i]);
}

/* the slot's entry, and whether its page is on flash or at home too */
static struct nswap_slot copy_look(struct nswap_io *io, unsigned int i, bool *copied)
{
	struct nswap_slot s;
	bool home = copied_home(io, i);

	/* a copy ends after its slot's entry has changed */
	smp_rmb();
	s = nswap_slot_look(io->dev, io->slot[i]);
	*copied = home || nswap_copy_on_flash(io, i, &s);
	return s;
}

/* is it on flash or at home as well, and has not failed there? any context; a snapshot */
bool nswap_copy_besides(struct nswap_io *io, unsigned int i)
{
	bool copied;

	copy_look(io, i, &copied);
	return copied;
}

#define RANK_SILENT	3	/* and worse: it is not to answer at all, for now */

/* how soon a peer is to answer, the less the better; 1: a connection is slow, 2: late */
static unsigned int peer_rank(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer;
	unsigned int rank = RANK_SILENT + 1;
	u8 state;

	rcu_read_lock();
	peer = rcu_dereference(node->peers[index]);
	state = peer ? READ_ONCE(peer->state) : NSWAP_PEER_LOST;
	if (state == NSWAP_PEER_UP)
		rank = READ_ONCE(peer->late) ? 2 : !!READ_ONCE(peer->slow);
	else if (!nswap_peer_hopeless(state))
		rank = RANK_SILENT;
	rcu_read_unlock();
	return rank;
}

/* has a peer not answered for longer than usual? any context; a snapshot */
bool nswap_copy_slow(struct nswap_node *node, u16 index)
{
	return peer_rank(node, index);
}

/* the place that is to answer sooner; @second: 0 for none */
static u16 copy_pick(struct nswap_node *node, u16 first, u16 second)
{
	unsigned int rank;

	if (!second)
		return first;
	rank = peer_rank(node, first);
	return rank && peer_rank(node, second) < rank ? second : first;
}

/* likewise for a page of a request; what came from a peer may not have opened */
static u16 copy_choose(const struct nswap_io *io, unsigned int i, u16 first, u16 second)
{
	struct nswap_node *node = io->dev->node;
	u16 other;

	/* what was doubted may have moved away */
	if (!second || !test_bit(i, &io->doubted) ||
	    (io->doubted_at[i] != first && io->doubted_at[i] != second))
		return copy_pick(node, first, second);
	other = io->doubted_at[i] == second ? first : second;
	return peer_rank(node, other) < RANK_SILENT ? other : io->doubted_at[i];
}

/**
 * nswap_copy_place() - which of the peers that hold a page to ask for it
 * @io: page-in
 * @i: slot, counted from the request's
 * @s: its word, which names a peer
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: index of the one that is to answer sooner; of the first if there is no
 * second one, or no difference.
 */
u16 nswap_copy_place(struct nswap_io *io, unsigned int i,
		     const struct nswap_slot *s)
{
	return copy_choose(io, i, s->peer, nswap_mirror_of(io->dev, io->slot[i], s));
}

/* may a MOVING page be read from its old place? if not, wait for its claim */
bool nswap_copy_usable(struct nswap_io *io, unsigned int i, const struct nswap_slot *s)
{
	return !nswap_peer_gone(io->dev->node, nswap_copy_place(io, i, s));
}

/* does a page with these places, in this generation, have one at a peer, and rest there? */
bool nswap_copy_rests(const struct nswap_slot *s, u16 second, u16 peer, u32 gen)
{
	return s->state == NSWAP_SLOT_REMOTE && s->gen == gen &&
	       (s->peer == peer || second == peer);
}

/* are two slots of a request at a peer copied to the same places? any context */
bool nswap_copy_alike(struct nswap_io *io, unsigned int i, unsigned int k)
{
	struct nswap_slot a = nswap_slot_look(io->dev, io->slot[i]);
	struct nswap_slot b = nswap_slot_look(io->dev, io->slot[k]);

	return nswap_copy_on_flash(io, i, &a) == nswap_copy_on_flash(io, k, &b) &&
	       copied_home(io, i) == copied_home(io, k) &&
	       nswap_mirror_of(io->dev, io->slot[i], &a) ==
	       nswap_mirror_of(io->dev, io->slot[k], &b);
}

/*
 * Slots to retry: they are, or soon may be, elsewhere than where they were looked
 * for. Those that flash or home has are read from there from now on.
 */
unsigned long nswap_copy_elsewhere(struct nswap_op *op)
{
	struct nswap_io *io = op->io;
	unsigned long again = 0;
	unsigned int i;

	for (i = op->first; i < op->first + op->nr; i++) {
		bool copied;
		struct nswap_slot s = copy_look(io, i, &copied);
		struct nswap_mirror m = { };
		u16 second;

		if (io->dev->mirror)
			s = nswap_mirror_both(io->dev, io->slot[i], &m);
		second = nswap_mirror_second(&m, &s);
		if (!nswap_copy_rests(&s, second, op->peer->index,
				      le32_to_cpu(io->gen[i])) ||
		    copy_choose(io, i, s.peer, second) != op->peer->index) {
			again |= BIT(i);
		} else if (copied) {
			set_bit(i, &io->no_peer);
			again |= BIT(i);
		}
	}
	return again;
}

/*
 * Does flash, home, or a peer that answers sooner have every page of it, or its groups? Or
 * is it to fail early, for its reader to try something else?
 */
bool nswap_copy_dispensable(struct nswap_op *op)
{
	unsigned int i;

	if (nswap_io_own(op->io) && op->io->ahead && !op->io->patient &&
	    nswap_parity_of(op->io->dev))
		return true;
	if (nswap_pagein_hasty(op->io))
		return op->io->ahead ||
		       nswap_cell_rebuildable(op->io->dev->parity,
					      op->io->slot[op->first]);
	for (i = op->first; i < op->first + op->nr; i++) {
		bool copied;
		struct nswap_slot s = copy_look(op->io, i, &copied);

		if (!copied && (!nswap_slot_at_peer(&s) ||
				nswap_copy_place(op->io, i, &s) == op->peer->index))
			return false;
	}
	return true;
}

/* has every page of it a second place? */
static bool copy_twofold(struct nswap_op *op)
{
	struct nswap_device *dev = op->io->dev;
	unsigned int i;

	for (i = op->first; i < op->first + op->nr; i++) {
		struct nswap_slot s = nswap_slot_look(dev, op->io->slot[i]);

		if (!nswap_mirror_of(dev, op->io->slot[i], &s))
			return false;
	}
	return true;
}

/**
 * nswap_copy_overdue() - has it been waited long enough for pages that peers have?
 * @op: the part of a page-in that its peer has not answered, or cannot be asked for
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: true after dead_after_ms for each place of theirs: the first one may have been
 * silent for all of it. A peer that is dead is not waited for, whatever this returns.
 */
bool nswap_copy_overdue(struct nswap_op *op)
{
	struct nswap_node *node = op->io->dev->node;
	u32 ms = nswap_knob(node, dead_after_ms);
	unsigned long since = op->io->since;

	if (time_after(jiffies, since + msecs_to_jiffies(ms)) && copy_twofold(op))
		since += msecs_to_jiffies(ms);
	return nswap_client_expired(node, since, ms);
}

/* is the copy on flash the one to read? */
bool nswap_copy_from_flash(struct nswap_io *io, unsigned int i,
			   const struct nswap_slot *s)
{
	struct nswap_node *node = io->dev->node;
	struct nswap_read_view view;

	if (!nswap_copy_on_flash(io, i, s))
		return false;
	if (!nswap_slot_at_peer(s) || test_bit(i, &io->no_peer))
		return true;
	nswap_read_look(&io->dev->times, &view);
	return nswap_device_read(io->dev)->pick(&view) == NSWAP_READ_FLASH ||
	       nswap_peer_state(node, nswap_copy_place(io, i, s)) !=
	       NSWAP_PEER_UP;
}

/* is the copy at home the one to read, or to wait for? */
bool nswap_copy_from_home(struct nswap_io *io, unsigned int i,
			  const struct nswap_slot *s)
{
	return nswap_slot_at_peer(s) && copied_home(io, i) &&
	       (test_bit(i, &io->no_peer) ||
		nswap_peer_state(io->dev->node, nswap_copy_place(io, i, s)) !=
		NSWAP_PEER_UP);
}
