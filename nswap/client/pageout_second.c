// SPDX-License-Identifier: GPL-2.0
/*
 * Page-out, second copy: a page of a mirrored device goes to another peer too, before
 * its page-out ends.
 *
 *   first ack: WRITING(a, g), the slot is one of io->halves
 *   place:     { g, -, b }, b is not a; STORE g at b
 *   ack:       { g, b, - }, then REMOTE(a, g)
 *   refused, timed out, session broken: { g, -, - }, placed again
 *   no room elsewhere, or no grant for two store_timeout_ms, longer if this node stood still:
 *          REMOTE(a, g), exposed (mirror_fill.c), if a is heard then, else a is asked; if a
 *          is not UP any more, which is so within seconds if it does not answer, the page is
 *          placed again in the next generation
 *
 * Invariants:
 *  - The slot is WRITING all the time, so no other task changes its word or puts a place
 *    into its entry; a free just sets the freed bit.
 *  - The page is recorded only after both are acknowledged, or it is known that there
 *    will be one; never on copies that are all known dead. A peer that died is UP until it
 *    has been silent for seconds, so one copy alone is recorded only while its peer is heard:
 *    when its message was received, which after a pause of this node is later than it came.
 *  - A peer that is UP is never given up here, however long ago it was heard: this node may
 *    have been paused.
 *  - A second copy that was given up may be at its peer, in the slot's present
 *    generation: comparison has it dropped, not a plain FREE (nswap_free_orphan()).
 */
#include "base/bits.h"
#include "core/client_state.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "free.h"
#include "observe/meter.h"
#include "pageout.h"
#include "pageout_second.h"
#include "peers/ctl.h"
#include "peers/loss.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "request_queue.h"
#include "store.h"

#define GIVE_UP_AFTER	3	/* time-outs, in which peers took no copy */
#define NO_GRANT_AFTER	2	/* one, in which a silent peer had it, and one for the next */
#define LIVES_MS	250	/* a peer that was heard within this has not died, but by chance */

/* the page-out of a slot ends */
static void second_end(struct nswap_io *io, unsigned int i, u16 first)
{
	clear_bit(i, &io->halves);
	nswap_pageout_at_peer(io, i, first);
	/* it may have passed over the slot while that was WRITING */
	nswap_loss_passed(io->dev->node, first);
}

static void second_stored(struct nswap_op *op, unsigned int i)
{
	struct nswap_io *io = op->io;
	struct nswap_device *dev = io->dev;
	u64 slot = io->slot[i];
	u16 first = nswap_slot_look(dev, slot).peer, none;

	if (!nswap_mirror_end(dev, slot, le32_to_cpu(io->gen[i]), op->peer->index,
			      &none))
		nswap_free_by_comparison(dev->node, op->peer->index);
	second_end(io, i, first);
}

/* it goes to another peer; what this one may have of it: nswap_free_orphan() */
static void second_given_up(struct nswap_op *op, unsigned int i)
{
	struct nswap_io *io = op->io;

	nswap_mirror_off(io->dev, io->slot[i], le32_to_cpu(io->gen[i]),
			 op->peer->index);
}

static void second_store_end(struct nswap_op *op, unsigned long given_up)
{
	nswap_stat_add(op->io->dev->node, pages_mirrored,
		       op->nr - hweight_long(given_up));
	nswap_op_end(op, given_up);
}

static const struct nswap_store_ops second_store_ops = {
	.stored = second_stored,
	.given_up = second_given_up,
	.end = second_store_end,
	.keeps_gen = true,
};

static void second_store(struct nswap_io *io, unsigned int first, unsigned int nr,
			 struct nswap_peer *peer)
{
	struct nswap_op *op = nswap_store_op(io, first, nr, peer,
					     &second_store_ops);
	unsigned int i;

	for (i = first; i < first + nr; i++)
		nswap_mirror_begin(io->dev, io->slot[i],
				   le32_to_cpu(io->gen[i]), peer->index);
	nswap_client_used(io->dev->node);
	nswap_meter_begin(op);
	nswap_store_send(op);
}

/* the first copy is given up: its peer is silent or dead */
static void second_again(struct nswap_io *io, unsigned int i)
{
	u64 slot = io->slot[i];
	struct nswap_slot s = nswap_slot_look(io->dev, slot);

	clear_bit(i, &io->halves);
	/* it has as much time as if it had come now: there was a peer that took it */
	io->since = jiffies;
	io->half_asked = 0;
	nswap_pageout_again(io, i);
	nswap_free_orphan(io->dev, slot, s.gen, s.peer);
}

/* have its slots been waiting for a second copy for that many time-outs? */
static bool second_waited(const struct nswap_io *io, unsigned int timeouts)
{
	u32 ms = nswap_knob(io->dev->node, store_timeout_ms) * timeouts;

	return time_after(jiffies, READ_ONCE(io->half_since) +
				   msecs_to_jiffies(ms));
}

/* did this node run for so long? if not, its peers may be well though they were not heard */
static bool second_ran(const struct nswap_io *io, unsigned int timeouts)
{
	struct nswap_node *node = io->dev->node;

	return nswap_client_may_expire(node, nswap_knob(node, store_timeout_ms) * timeouts);
}

/*
 * Is the peer of the only copy heard? If not it is asked, and the page-out comes by again,
 * which on a node that is short of processor time may always be late: after some time-outs
 * it is enough that it was heard since it was first asked.
 */
static bool second_peer_lives(struct nswap_io *io, struct nswap_peer *peer)
{
	unsigned long heard = READ_ONCE(peer->heard);

	if (!time_after(jiffies, heard + msecs_to_jiffies(LIVES_MS)))
		return true;
	if (!io->half_asked)
		io->half_asked = jiffies | 1;
	if (second_waited(io, GIVE_UP_AFTER) && time_after(heard, io->half_asked))
		return true;
	if (nswap_ctl_claim(&peer->ping))
		nswap_ctl_ping(peer);
	return false;
}

/* no other peer takes them */
static void second_exposed(struct nswap_io *io, unsigned int first, unsigned int nr, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(io->dev->node, index);
	bool up = peer && READ_ONCE(peer->state) == NSWAP_PEER_UP;
	bool lives = up && second_peer_lives(io, peer);
	unsigned int i;

	if (peer)
		nswap_peer_put(peer);
	for (i = first; i < first + nr && up == lives; i++) {
		if (!up) {
			second_again(io, i);
		} else {
			io->todo &= ~BIT(i);
			second_end(io, i, index);
		}
	}
}

/* adjacent slots of @half whose first copy is at one peer; those of a batch may not be adjacent */
static unsigned int second_run(struct nswap_io *io, unsigned long half,
			       unsigned int first, u16 *peer)
{
	unsigned int n = 1, nr = nswap_io_run(io, half, first);

	*peer = nswap_slot_look(io->dev, io->slot[first]).peer;
	while (n < nr &&
	       nswap_slot_look(io->dev, io->slot[first + n]).peer == *peer)
		n++;
	return n;
}

/* one run, or a part of it; returns how many slots are done with, or wait */
static unsigned int second_place(struct nswap_io *io, unsigned long half)
{
	struct nswap_node *node = io->dev->node;
	unsigned int first = __ffs(half), nr;
	struct nswap_peer *peer;
	u16 avoid, index;
	int n;

	nr = second_run(io, half, first, &avoid);
	n = second_waited(io, GIVE_UP_AFTER) && second_ran(io, GIVE_UP_AFTER) ? -ENOSPC :
	    nswap_place_take(io->dev, nr, avoid, -1, &index);
	if (n > 0) {
		peer = nswap_peer_get(node, index);
		if (!peer)
			return 0;
		io->todo &= ~GENMASK(first + n - 1, first);
		second_store(io, first, n, peer);
		return n;
	}
	if ((n == -ENOSPC || second_waited(io, NO_GRANT_AFTER)) && second_ran(io, 1))
		second_exposed(io, first, nr, avoid);
	return nr;
}

/**
 * nswap_pageout_seconds() - bring slots that one peer holds to another
 * @io: page-out the caller dispatches; those that have to wait, and those whose first
 *	copy is given up, stay in @todo
 *
 * Context: process, page-out path: does not allocate, does not wait.
 */
void nswap_pageout_seconds(struct nswap_io *io)
{
	unsigned long half = io->todo & READ_ONCE(io->halves);
	unsigned int n;

	while (half) {
		nswap_meter_turn(io);
		n = second_place(io, half);
		if (n)
			half &= ~GENMASK(__ffs(half) + n - 1, __ffs(half));
	}
}
