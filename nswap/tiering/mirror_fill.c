// SPDX-License-Identifier: GPL-2.0
/*
 * Repair: pages of a mirrored device that have one good place get another. A place is
 * good while its peer is neither dead nor LOST.
 *
 *   REMOTE(a, g) -> MOVING(a, g) -> read through the device -> { g, b, c }, STORE g at c
 *   acknowledged, and the second place was missing or bad: { g, c, - }, REMOTE(a, g)
 *   acknowledged, and the first was bad: { g, b, - }, REMOTE(c, g)
 *   both were bad, and home has the page (promote.c): likewise, and b is next
 *   refused, unanswered, session broken: as it was; tried again later
 *   rewritten or freed meanwhile: the new copy is obsolete
 *
 * Protection turned off, or changed to another: see mirror_strip.c.
 *
 * Invariants:
 *  - A place is replaced only after the new copy is acknowledged, and only the one that
 *    was bad when the repair began.
 *  - Pages for whose second copy no peer has room keep no others from theirs: while all
 *    room is at one peer, those that are there alone are passed over.
 *  - The peer that holds the good copy is never chosen for the other, and moves that a
 *    peer reports are refused while the slot is MOVING: two copies never meet.
 *  - A copy that was given up, or has been replaced, has the slot's present generation:
 *    comparison has it dropped, never a plain FREE.
 *  - Nothing waits for this. It runs on a queue without a rescuer, uses memory
 *    allocated when protection is turned on, and copies no more than protect_mib_s.
 *  - Stopped before the disk is removed.
 */
#include <linux/bio.h>
#include <linux/slab.h>

#include "base/bits.h"
#include "client/batch.h"
#include "client/free.h"
#include "client/store.h"
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/inject.h"
#include "core/mirror.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "fill_pace.h"
#include "mirror_fill.h"
#include "mirror_strip.h"
#include "peers/place.h"
#include "peers/peer.h"
#include "pure/peer_state.h"
#include "read_through.h"

#define QUIET	20	/* idle runs before it ends, with protection off */
#define NOWHERE	U16_MAX

/**
 * struct nswap_mirror_fill - repairs one device
 * @work: one batch a run
 * @stop: it is not to run again
 * @cursor: slot where the search continues
 * @left: slots to be looked at in this round
 * @looked: jiffies when the last round began
 * @owed_us: for nswap_fill_pause()
 * @quiet: runs since protection was turned off in which there was nothing to do
 * @b: the batch: adjacent slots whose good place is one peer, or home
 * @good: that peer; 0 for home
 * @full: likewise one beside which no peer has room, so that its pages wait; or NOWHERE
 * @held: of each slot of the batch, its word when it became MOVING
 * @first: slots whose first place was bad
 * @made: slots that have got their copy
 * @read: of its pages, see nswap_read_through()
 */
struct nswap_mirror_fill {
	struct delayed_work work;
	bool stop;
	u64 cursor;
	u64 left;
	unsigned long looked;
	unsigned int owed_us;
	unsigned int quiet;
	struct nswap_batch b;
	u16 good;
	u16 full;
	struct nswap_slot held[NSWAP_REQ_SLOTS];
	unsigned long first;
	unsigned long made;
	struct bio *read;
};

static struct nswap_mirror_fill *repair_of(struct nswap_op *op)
{
	return container_of(op->io, struct nswap_mirror_fill, b.io);
}

/* has the page of a slot fewer than two good places? @good: the one it has, 0 for none */
static bool repair_exposed(struct nswap_device *dev, u64 slot,
			   const struct nswap_slot *s, u16 *good)
{
	u16 second = nswap_mirror_of(dev, slot, s);
	bool first_bad = nswap_peer_gone(dev->node, s->peer);
	bool second_bad = nswap_peer_gone(dev->node, second);

	*good = !first_bad ? s->peer : !second_bad ? second : 0;
	return first_bad || second_bad;
}

/**
 * nswap_mirror_exposed() - count the pages that would not survive one more death, in part
 * @dev: device with a mirror
 * @from: slot to begin at; moved on to the end of the next chunk that is used, or of the map
 *
 * Context: any; the device is kept. All of it takes about 5 ms for each GiB that is in use.
 * Return: how many pages of that chunk at peers have fewer than two good places.
 */
u64 nswap_mirror_exposed(struct nswap_device *dev, u64 *from)
{
	u64 slot = nswap_slot_map_next(&dev->map, *from), n = 0;
	struct nswap_slot s;
	u16 good;

	*from = nswap_slot_chunk_end(&dev->map, slot);
	for (; slot < *from; slot++) {
		s = nswap_slot_look(dev, slot);
		n += nswap_slot_at_peer(&s) && repair_exposed(dev, slot, &s, &good);
	}
	return n;
}

/* can it be read from its good place @good, or, without one, from home? a snapshot */
static bool repair_source(struct nswap_device *dev, u64 slot, u16 good)
{
	return good ? nswap_peer_state(dev->node, good) == NSWAP_PEER_UP :
		      nswap_home_copy_has(dev, slot);
}

/* is it to be repaired in the present batch, or, if @any, in one that it begins? */
static bool repair_wants(struct nswap_device *dev, u64 slot, bool any)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);
	struct nswap_mirror_fill *f = dev->repair;
	u16 good;

	if (s.state != NSWAP_SLOT_REMOTE || !repair_exposed(dev, slot, &s, &good) ||
	    !repair_source(dev, slot, good))
		return false;
	if (any)
		f->good = good;
	return f->good == good;
}

/* the slot is MOVING, and in the batch */
static void repair_hold(struct nswap_device *dev, unsigned int i)
{
	struct nswap_mirror_fill *f = dev->repair;
	struct nswap_slot *s = &f->held[i];
	u64 slot = f->b.io.slot[i];
	u16 good;

	if (!nswap_slot_hold(dev, slot, s))
		return;
	if (!repair_exposed(dev, slot, s, &good) || good != f->good ||
	    (!good && !nswap_home_copy_has(dev, slot))) {
		nswap_slot_release(dev, slot, s, s->peer);
		return;
	}
	f->b.io.gen[i] = cpu_to_le32(s->gen);
	f->b.io.todo |= BIT(i);
	if (s->peer != good)
		f->first |= BIT(i);
}

/* has any peer but this one room? if not, grants are of use */
static bool repair_room(struct nswap_device *dev, u16 good)
{
	bool any = nswap_place_any(dev->node, good);

	if (!any)
		nswap_client_used(dev->node);
	return any;
}

/* the next slots that are to be repaired; false if none was found in this look */
static bool repair_search(struct nswap_device *dev)
{
	struct nswap_mirror_fill *f = dev->repair;
	unsigned int i, looked;
	bool found = false;

	if (f->full != NOWHERE && repair_room(dev, f->full))
		f->full = NOWHERE;
	for (looked = 0; f->left && looked < NSWAP_FILL_LOOK && !found; looked++) {
		f->left--;
		f->cursor = nswap_slot_map_turn(&dev->map, f->cursor);
		found = repair_wants(dev, f->cursor, true) && f->good != f->full;
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	if (!found)
		return false;
	if (!repair_room(dev, f->good)) {
		/* none beside two of them, or beside home: none anywhere */
		if (f->full != NOWHERE || !f->good)
			f->left = 0;
		f->full = f->good;
		return false;
	}
	nswap_batch_at(&f->b, f->cursor);
	f->first = 0;
	f->made = 0;
	for (i = 0; i < NSWAP_REQ_SLOTS && f->cursor + i < dev->map.nr; i++)
		if (repair_wants(dev, f->cursor + i, false))
			repair_hold(dev, i);
	return true;
}

/* the new copy is recorded; false if the slot has left its generation */
static bool repair_record(struct nswap_mirror_fill *f, unsigned int i, u16 peer)
{
	struct nswap_device *dev = f->b.io.dev;
	const struct nswap_slot *s = &f->held[i];
	u64 slot = f->b.io.slot[i];
	u16 replaced = s->peer;

	if (f->first & BIT(i)) {
		if (!nswap_mirror_off(dev, slot, s->gen, peer))
			return false;
		/* bad when the repair began: then no task takes it for the word's own */
		if (nswap_mirror_replace(dev, slot, s->gen, peer, 0))
			nswap_peer_slots(dev->node, peer, -1);
		if (!nswap_slot_release(dev, slot, s, peer))
			return false;
	} else {
		if (!nswap_mirror_end(dev, slot, s->gen, peer, &replaced))
			return false;
		nswap_slot_release(dev, slot, s, s->peer);
	}
	if (replaced)
		nswap_free_by_comparison(dev->node, replaced);
	return true;
}

static void repair_stored(struct nswap_op *op, unsigned int i)
{
	struct nswap_mirror_fill *f = repair_of(op);
	struct nswap_io *io = op->io;

	set_bit(i, &f->made);
	if (repair_record(f, i, op->peer->index)) {
		nswap_stat_inc(io->dev->node, pages_mirrored);
		return;
	}
	nswap_slot_release(io->dev, io->slot[i], &f->held[i], f->held[i].peer);
	nswap_free_orphan(io->dev, io->slot[i], f->held[i].gen, op->peer->index);
}

static void repair_given_up(struct nswap_op *op, unsigned int i)
{
	struct nswap_mirror_fill *f = repair_of(op);

	nswap_mirror_off(op->io->dev, op->io->slot[i], f->held[i].gen,
			 op->peer->index);
}

static void repair_store_end(struct nswap_op *op, unsigned long given_up)
{
	nswap_peer_put(op->peer);
	nswap_batch_put(&repair_of(op)->b);
}

static const struct nswap_store_ops repair_store_ops = {
	.stored = repair_stored,
	.given_up = repair_given_up,
	.end = repair_store_end,
	.keeps_gen = true,
};

/* how many adjacent slots of the batch, from @first on, have not changed? */
static unsigned int repair_run(struct nswap_mirror_fill *f, unsigned int first)
{
	unsigned int i, end = first + nswap_run_of(f->b.io.todo, first);

	for (i = first; i < end; i++)
		if (!nswap_slot_held(f->b.io.dev, f->b.io.slot[i], &f->held[i]))
			break;
	return i - first;
}

/* their copies are in the making, but of those that change just now */
static void repair_mark(struct nswap_mirror_fill *f, unsigned int first,
			unsigned int nr, u16 peer)
{
	struct nswap_device *dev = f->b.io.dev;
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		const struct nswap_slot *s = &f->held[i];
		u64 slot = f->b.io.slot[i];

		/* it may have been claimed before its entry was changed */
		if (nswap_mirror_begin(dev, slot, s->gen, peer) &&
		    !nswap_slot_held(dev, slot, s))
			nswap_mirror_off(dev, slot, s->gen, peer);
	}
}

/* one run of the batch, from @first on; false if no peer takes any now */
static bool repair_send(struct nswap_mirror_fill *f, unsigned int first)
{
	struct nswap_io *io = &f->b.io;
	unsigned int nr = repair_run(f, first);
	struct nswap_peer *peer;
	struct nswap_op *op;
	u16 index;
	int n;

	if (!nr) {
		io->todo &= ~BIT(first);
		return true;
	}
	n = nswap_place_take(io->dev, nr, f->good, -1, &index);
	if (n <= 0)
		return false;
	peer = nswap_peer_get(io->dev->node, index);
	if (!peer)
		return false;
	io->todo &= ~GENMASK(first + n - 1, first);
	op = nswap_store_op(io, first, n, peer, &repair_store_ops);
	repair_mark(f, first, n, index);
	nswap_inject_point(io->dev->node->id, NSWAP_POINT_REPAIRING);
	op->began = ktime_get_ns();
	nswap_store_send(op);
	return true;
}

/* store what was read, and wait for the answers */
static void repair_store(struct nswap_mirror_fill *f)
{
	struct nswap_io *io = &f->b.io;

	nswap_batch_begin(&f->b);
	while (io->todo && repair_send(f, __ffs(io->todo)))
		;
	nswap_batch_wait(&f->b);
}

/* repair one batch; returns how many pages were read for it */
static unsigned int repair_batch(struct nswap_device *dev)
{
	struct nswap_mirror_fill *f = dev->repair;
	unsigned long begun, read;
	unsigned int i;

	if (!repair_search(dev))
		return 0;
	begun = f->b.io.todo;
	read = nswap_read_through(&f->b, f->read, begun);
	f->b.io.todo = read;
	repair_store(f);
	begun &= ~f->made;
	for_each_set_bit(i, &begun, NSWAP_REQ_SLOTS)
		nswap_slot_release(dev, f->b.io.slot[i], &f->held[i],
				   f->held[i].peer);
	nswap_client_kick(dev->node);
	f->cursor += NSWAP_REQ_SLOTS - 1;
	f->left -= min_t(u64, f->left, NSWAP_REQ_SLOTS - 1);
	/* those that no peer took are read again in the next round */
	return hweight_long(read);
}

/* may any page be exposed? true now and then anyway: this is an estimate */
static bool repair_due(struct nswap_device *dev)
{
	s64 single = nswap_slot_count(dev, NSWAP_SLOT_REMOTE) +
		     nswap_slot_count(dev, NSWAP_SLOT_MOVING) -
		     atomic64_read(&dev->nr_mirrored);
	struct nswap_peer *peer;
	bool due = single > 0 || time_after(jiffies, dev->repair->looked +
						     NSWAP_FILL_ANYWAY);
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		due = due || (nswap_peer_hopeless(READ_ONCE(peer->state)) &&
			      atomic64_read(&peer->slots));
		nswap_peer_put(peer);
	}
	return due;
}

/* one batch, or a look for one; returns jiffies until the next */
static unsigned long repair_step(struct nswap_device *dev)
{
	struct nswap_mirror_fill *f = dev->repair;
	unsigned int n;

	if (!nswap_knob(dev->node, protect_mib_s) || (!f->left && !repair_due(dev)))
		return NSWAP_FILL_IDLE;
	if (!f->left) {
		f->left = nswap_slot_map_in_use(&dev->map);
		f->looked = jiffies;
	}
	n = repair_batch(dev);
	if (n)
		return nswap_fill_pause(dev, n, &f->owed_us);
	return f->left && f->full == NOWHERE ? 1 : NSWAP_FILL_IDLE;
}

static void repair_work(struct work_struct *work)
{
	struct nswap_mirror_fill *f = container_of(to_delayed_work(work),
						   struct nswap_mirror_fill, work);
	struct nswap_device *dev = f->b.io.dev;
	unsigned long pause = NSWAP_FILL_IDLE;

	if (READ_ONCE(dev->protect) == NSWAP_PROTECT_MIRROR)
		pause = repair_step(dev);
	else if (nswap_mirror_strip(dev, &f->cursor))
		/* to make room for groups, they go until there is some */
		pause = READ_ONCE(dev->protect) == NSWAP_PROTECT_PARITY ? NSWAP_FILL_IDLE : 1;
	/* page-outs that began before may end with a second place */
	else if (!atomic64_read(&dev->nr_mirrored) && f->quiet++ > QUIET)
		return;
	if (!READ_ONCE(f->stop))
		queue_delayed_work(system_dfl_wq, &f->work, pause);
}

/**
 * nswap_mirror_fill_init() - make what a device needs to be mirrored
 * @dev: new, or under the node's control lock; nothing happens if it has it
 *
 * Context: process, sleeps. Allocates 8 bytes a slot and 140 KiB, freed with the device.
 * Return: 0 or -ENOMEM.
 */
int nswap_mirror_fill_init(struct nswap_device *dev)
{
	struct nswap_mirror_fill *f = dev->repair;

	if (f)
		return 0;
	f = kzalloc_obj(*f);
	if (!f)
		return -ENOMEM;
	f->full = NOWHERE;
	INIT_DELAYED_WORK(&f->work, repair_work);
	f->read = kzalloc_objs(*f->read, NSWAP_REQ_SLOTS);
	if (f->read && nswap_batch_init(&f->b, dev, NSWAP_REQ_SLOTS) &&
	    !nswap_mirror_init(dev)) {
		dev->repair = f;
		return 0;
	}
	nswap_batch_exit(&f->b);
	kfree(f->read);
	kfree(f);
	return -ENOMEM;
}

/* protection was switched, and the disk exists: process, does not sleep */
void nswap_mirror_fill_start(struct nswap_device *dev)
{
	if (!dev->repair)
		return;
	WRITE_ONCE(dev->repair->quiet, 0);
	mod_delayed_work(system_dfl_wq, &dev->repair->work, 0);
}

/* the device is dying, its disk still exists; process, sleeps for peers */
void nswap_mirror_fill_stop(struct nswap_device *dev)
{
	if (!dev->repair)
		return;
	WRITE_ONCE(dev->repair->stop, true);
	cancel_delayed_work_sync(&dev->repair->work);
}

/* undo nswap_mirror_fill_init(), if it ran; after nswap_mirror_fill_stop() */
void nswap_mirror_fill_exit(struct nswap_device *dev)
{
	struct nswap_mirror_fill *f = dev->repair;

	if (!f)
		return;
	nswap_batch_exit(&f->b);
	kfree(f->read);
	kfree(f);
	dev->repair = NULL;
}
