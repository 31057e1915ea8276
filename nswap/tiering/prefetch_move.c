// SPDX-License-Identifier: GPL-2.0
/*
 * Carrier: moves a batch of adjacent pages from one tier to another, for the prefetcher
 * or where a user wants them (bring.c). For the prefetcher the copier (prefetch_copy.c)
 * brings pages from peers to flash; from home to peers they move out (promote.c).
 *
 *   picked -> read through the device, and then
 *
 *   disk to flash: written to flash: HOME(g) -> FLASH(g)
 *   ram to flash:  written to flash: REMOTE(peer, g) -> FLASH(g)
 *   flash to ram:  FLASH(g, f) -> FLASH(g+1, f), STORE g+1 at a peer
 *                  -> REMOTE(peer, g+1), and f is put back, or kept as a copy
 *   flash to disk: marked, FLASH(g, f) -> FLASH(g+1, f), written home -> HOME(g+1)
 *   ram to disk:   marked, REMOTE(peer, g) -> MOVING(peer, g), written home -> HOME(g)
 *
 * Invariants:
 *  - A page is recorded at its new place only if the slot's entry is the one that was
 *    picked, but for the reference bit, or the one that this file has made of it. A
 *    rewrite, a free, a move or a loss in between cancels that; what was written on
 *    flash or at a peer is given up, what was written home is named by no entry.
 *  - Until then the old place is valid, and page-ins read there. A peer's copy is an
 *    orphan once the page is at home.
 *  - Home has no generations. A slot is marked, and its entry changed, before its page
 *    is written there, and until that has ended no page-out claims it (return_mark.h). No
 *    page-out waits for anything else here: pages are read before.
 *  - A page whose copy is on its way home behind its peer (home_copy.h) does not go home
 *    itself. If home has it already, nothing is written.
 *  - A copy that flash had already of a page that a user wants elsewhere is given up when
 *    the page is there: it was perhaps not what was read.
 *  - A page goes to peers under a generation that no earlier attempt had, and only to
 *    one with more room than page-outs need.
 *  - One batch at a time, without allocating; nothing is under way between batches.
 */
#include <linux/bio.h>
#include <linux/slab.h>

#include "base/bits.h"
#include "client/free.h"
#include "core/client_state.h"
#include "core/device_policy.h"
#include "core/home_copy.h"
#include "core/page_tag.h"
#include "core/return_mark.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "move_batch.h"
#include "prefetch_move.h"
#include "prefetch_scan.h"
#include "read_through.h"

/**
 * struct nswap_carrier - the carrier of one device
 * @mo: the batch
 * @asked: a user says where pages go: they are no prefetches
 * @read: of its pages, see nswap_read_through()
 * @entry: of each slot: as it was picked, then as it was begun
 */
struct nswap_carrier {
	struct nswap_move_batch mo;
	bool asked;
	struct bio *read;
	struct nswap_slot entry[NSWAP_REQ_SLOTS];
};

/* HOME(g), REMOTE(peer, g) -> FLASH(g) */
static bool carrier_slot_linked(struct nswap_slot *s, const struct nswap_slot *picked,
				u32 flash)
{
	if (!nswap_slot_same(s, picked))
		return false;
	s->state = NSWAP_SLOT_FLASH;
	s->flash = flash;
	s->referenced &= !s->peer;
	s->peer = 0;
	return true;
}

/* FLASH(g, f) -> FLASH(g+1, f), REMOTE(peer, g) -> MOVING(peer, g) */
static bool carrier_slot_begun(struct nswap_slot *s, const struct nswap_slot *picked,
			       struct nswap_device *dev, u64 slot)
{
	if (!nswap_slot_same(s, picked))
		return false;
	if (s->state == NSWAP_SLOT_FLASH) {
		s->gen = nswap_gen_next(s->gen);
		return true;
	}
	s->state = NSWAP_SLOT_MOVING;
	return !nswap_home_copy_due(dev, slot);
}

/* -> HOME */
static bool carrier_slot_at_home(struct nswap_slot *s, const struct nswap_slot *begun)
{
	if (!nswap_slot_is(s, begun->state, begun->peer, begun->gen))
		return false;
	s->state = NSWAP_SLOT_HOME;
	s->referenced &= !s->peer;
	s->peer = 0;
	s->flash = NSWAP_FLASH_NONE;
	return true;
}

/* the slot's entry is changed, and @entry is what it is now */
static bool carrier_begin(struct nswap_carrier *c, unsigned int i)
{
	struct nswap_io *io = &c->mo.b.io;
	struct nswap_slot was, *now = &c->entry[i];

	if (!nswap_slot_update(io->dev, io->slot[i], &was, carrier_slot_begun, now,
			       io->dev, io->slot[i]))
		return false;
	if (was.state == NSWAP_SLOT_FLASH)
		now->gen = nswap_gen_next(was.gen);
	else
		now->state = NSWAP_SLOT_MOVING;
	return true;
}

/* record that a page is on flash; false if the slot has changed */
static bool carrier_link(struct nswap_carrier *c, unsigned int i, u32 flash)
{
	struct nswap_io *io = &c->mo.b.io;
	struct nswap_slot was;

	if (!nswap_slot_update(io->dev, io->slot[i], &was, carrier_slot_linked,
			       &c->entry[i], flash))
		return false;
	if (was.peer)
		nswap_free_orphan(io->dev, io->slot[i], was.gen, was.peer);
	/* flash has tags of its own */
	nswap_page_tag(io->dev, io->slot[i], 0);
	return true;
}

/* to flash; returns how many pages are recorded there */
static unsigned int carrier_to_flash(struct nswap_carrier *c, unsigned long pages, u8 arm)
{
	struct nswap_batch *b = &c->mo.b;
	struct nswap_device *dev = b->io.dev;
	unsigned int i, n = 0;

	pages &= ~nswap_batch_write_flash(b, pages);
	for_each_set_bit(i, &pages, NSWAP_REQ_SLOTS) {
		nswap_flash_tag(dev->flash, b->flash[i], arm);
		if (carrier_link(c, i, b->flash[i]))
			n++;
		else
			nswap_flash_put(dev->flash, b->flash[i]);
	}
	/* a page-in that found its copy on flash gone waits for this to read again */
	if (c->asked && n)
		nswap_client_kick(dev->node);
	return n;
}

/* from flash to peers; returns how many pages are recorded there */
static unsigned int carrier_to_ram(struct nswap_carrier *c, unsigned long pages, u8 arm)
{
	struct nswap_move_batch *mo = &c->mo;
	struct nswap_io *io = &mo->b.io;
	unsigned int i;

	io->todo = 0;
	mo->moved = 0;
	mo->tag = arm;
	mo->copy = !c->asked && nswap_device_policy(io->dev, NSWAP_PREFETCH_AFTER) ==
		   &nswap_prefetch_copy;
	for_each_set_bit(i, &pages, NSWAP_REQ_SLOTS) {
		if (!carrier_begin(c, i))
			continue;
		io->gen[i] = cpu_to_le32(c->entry[i].gen);
		mo->b.flash[i] = c->entry[i].flash;
		io->todo |= BIT(i);
	}
	nswap_move_batch_store(mo);
	return hweight_long(mo->moved);
}

/* which of these slots are marked, begun, and to be written home? */
static unsigned long carrier_mark(struct nswap_carrier *c, unsigned long *pages)
{
	struct nswap_io *io = &c->mo.b.io;
	struct nswap_device *dev = io->dev;
	unsigned long write = 0, begun = 0;
	unsigned int i;

	for_each_set_bit(i, pages, NSWAP_REQ_SLOTS) {
		if (!nswap_return_mark(dev, io->slot[i]))
			continue;
		if (!carrier_begin(c, i)) {
			nswap_return_unmark(dev, io->slot[i]);
			continue;
		}
		begun |= BIT(i);
		if (!c->entry[i].peer || !nswap_home_copy_has(dev, io->slot[i]))
			write |= BIT(i);
	}
	*pages = begun;
	return write;
}

/* home has the page of a slot: record that; false if the slot has changed */
static bool carrier_settle(struct nswap_carrier *c, unsigned int i, u8 arm)
{
	const struct nswap_slot *begun = &c->entry[i];
	struct nswap_io *io = &c->mo.b.io;
	struct nswap_device *dev = io->dev;
	struct nswap_slot was;

	nswap_page_tag(dev, io->slot[i], arm);
	if (!nswap_slot_update(dev, io->slot[i], &was, carrier_slot_at_home, begun)) {
		nswap_page_tag(dev, io->slot[i], 0);
		nswap_stat_inc(dev->node, moves_met);
		return false;
	}
	if (begun->peer)
		nswap_free_orphan(dev, io->slot[i], begun->gen, begun->peer);
	return true;
}

/* from peers or flash to home; returns how many pages are recorded there */
static unsigned int carrier_to_disk(struct nswap_carrier *c, unsigned long pages, u8 arm)
{
	struct nswap_io *io = &c->mo.b.io;
	unsigned long failed = 0, write = carrier_mark(c, &pages);
	unsigned int i, n = 0;

	if (write)
		failed = nswap_batch_home(&c->mo.b, write, true);
	for_each_set_bit(i, &pages, NSWAP_REQ_SLOTS) {
		if (!(failed & BIT(i)))
			n += carrier_settle(c, i, arm);
		else if (c->entry[i].peer)
			nswap_slot_release(io->dev, io->slot[i], &c->entry[i],
					   c->entry[i].peer);
		nswap_return_unmark(io->dev, io->slot[i]);
	}
	return n;
}

/* is a page with this entry where pages of this way come from? */
static bool carrier_may(const struct nswap_carrier *c, enum nswap_prefetch_way way,
			const struct nswap_slot *s)
{
	if (c->asked && (way == NSWAP_RAM_FLASH || way == NSWAP_RAM_DISK))
		return s->state == NSWAP_SLOT_REMOTE;
	return nswap_hand_may(way, s);
}

/* read those of these slots whose page may go; their entries are remembered */
static unsigned long carrier_read(struct nswap_carrier *c, enum nswap_prefetch_way way,
				  u64 first, unsigned long slots)
{
	struct nswap_batch *b = &c->mo.b;
	unsigned int i;

	nswap_batch_at(b, first);
	for_each_set_bit(i, &slots, NSWAP_REQ_SLOTS) {
		c->entry[i] = nswap_slot_look(b->io.dev, b->io.slot[i]);
		if (!carrier_may(c, way, &c->entry[i]))
			slots &= ~BIT(i);
		else if (c->asked && c->entry[i].peer && !c->entry[i].flash)
			nswap_stat_inc(b->io.dev->node, brought_net);
	}
	return slots ? nswap_read_through(b, c->read, slots) : 0;
}

static void carrier_count(struct nswap_carrier *c, enum nswap_prefetch_way way,
			  unsigned int n, unsigned int called_off)
{
	struct nswap_node *node = c->mo.b.io.dev->node;

	if (c->asked) {
		if (way == NSWAP_FLASH_RAM)
			nswap_stat_add(node, brought_net, n);
		return;
	}
	nswap_stat_add(node, prefetch_called_off, called_off);
	switch (way) {
	case NSWAP_DISK_FLASH:
		nswap_stat_add(node, prefetched_disk_flash, n);
		break;
	case NSWAP_FLASH_RAM:
		nswap_stat_add(node, prefetched_flash_ram, n);
		break;
	case NSWAP_FLASH_DISK:
		nswap_stat_add(node, prefetched_flash_disk, n);
		break;
	default:
		nswap_stat_add(node, prefetched_ram_disk, n);
		break;
	}
}

/**
 * nswap_carrier_run() - move a batch of pages
 * @c: carrier
 * @way: any but NSWAP_DISK_RAM, and for the prefetcher NSWAP_RAM_FLASH; the device has
 *	both tiers
 * @first: a slot
 * @slots: bitmap of slots from it on
 * @arm: the policy that picked them, or another tag (page_tag.h)
 *
 * Context: process, sleeps for page-ins, flash, home and peers; one batch at a time.
 * Return: how many pages were moved.
 */
unsigned int nswap_carrier_run(struct nswap_carrier *c, enum nswap_prefetch_way way,
			       u64 first, unsigned long slots, u8 arm)
{
	unsigned long pages = carrier_read(c, way, first, slots);
	unsigned int n = 0;

	c->mo.b.then = nswap_prefetch_down(way) ? "its page stays where it is" : NULL;
	if (pages && (way == NSWAP_DISK_FLASH || way == NSWAP_RAM_FLASH))
		n = carrier_to_flash(c, pages, arm);
	else if (pages && way == NSWAP_FLASH_RAM)
		n = carrier_to_ram(c, pages, arm);
	else if (pages)
		n = carrier_to_disk(c, pages, arm);
	carrier_count(c, way, n, hweight_long(slots) - n);
	return n;
}

/*
 * Allocates all memory that batches need; NULL without memory. @asked: a user says where
 * pages go, so they move, and are not counted as prefetched.
 */
struct nswap_carrier *nswap_carrier_make(struct nswap_device *dev, bool asked)
{
	struct nswap_carrier *c = kzalloc_obj(*c);

	if (!c)
		return NULL;
	c->mo.state = NSWAP_SLOT_FLASH;
	c->mo.spare = true;
	c->asked = asked;
	c->read = kzalloc_objs(*c->read, NSWAP_REQ_SLOTS);
	if (c->read && nswap_batch_init(&c->mo.b, dev, NSWAP_REQ_SLOTS))
		return c;
	nswap_carrier_free(c);
	return NULL;
}

/* @c runs no batch, or is NULL */
void nswap_carrier_free(struct nswap_carrier *c)
{
	if (!c)
		return;
	nswap_batch_exit(&c->mo.b);
	kfree(c->read);
	kfree(c);
}
