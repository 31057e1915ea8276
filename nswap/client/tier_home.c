// SPDX-License-Identifier: GPL-2.0
/*
 * Page-outs to home and page-ins from there.
 *
 *   no room at any peer:  WRITING(no peer) -> home -> HOME, or LOST
 *   HOME, or MOVING away from home: page-in from home
 *   REMOTE, and home has a copy: page-in from home if the peer does not answer
 *
 * Invariants:
 *  - Adjacent slots go in one read or write. If that fails they are tried one
 *    by one: a bad sector costs one page, not its neighbours.
 *  - A failed page-out leaves LOST, and its page stays in RAM. A failed page-in
 *    leaves HOME: the next may succeed.
 *  - A slot is WRITING while its page-out is under way, so no reader and no
 *    second page-out gets to its place at home meanwhile.
 *  - A success ends in the context of its completion, hard interrupts too.
 *  - A failed page-in is retried if the slot has changed since.
 */
#include "base/bits.h"
#include "core/devices.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "pageout.h"
#include "request_queue.h"
#include "tier.h"

static void store_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);
	struct nswap_io *io = op->io;
	unsigned long again = 0;
	unsigned int i;

	if (!h->failed) {
		for (i = 0; i < op->nr; i++)
			nswap_pageout_at_home(io, op->first + i);
		nswap_stat_add(io->dev->node, pages_home_out, op->nr);
	} else if (op->nr > 1) {
		WRITE_ONCE(io->one_by_one, true);
		again = nswap_op_slots(op);
	} else {
		nswap_device_complain(io->dev, h, "its page stays in RAM");
		nswap_pageout_failed(io, op->first);
	}
	nswap_op_end(op, again);
}

/* slots whose places at home an older page may be being written to */
static unsigned long home_io_marked(const struct nswap_io *io)
{
	unsigned long found = 0;
	unsigned int i;

	for_each_set_bit(i, &io->todo, NSWAP_REQ_SLOTS)
		if (nswap_return_under_way(io->dev, io->slot[i]))
			found |= BIT(i);
	return found;
}

/*
 * store() of tier.h. Slots that were marked just as they were claimed (returned.c)
 * stay in @todo: the end of the mark kicks the waiting requests.
 */
int nswap_tier_home_store(struct nswap_io *io, unsigned long slots)
{
	nswap_request_store(io, io->todo & slots & ~home_io_marked(io), false,
			    store_ended);
	return io->todo & slots ? -EAGAIN : 0;
}

/* is the slot no longer what this page-in asked home for, or does a peer have it too? */
static bool home_look_again(struct nswap_io *io, unsigned int i)
{
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

	if (nswap_slot_at_peer(&s))
		set_bit(i, &io->no_home);
	return !nswap_slot_at_home(&s) || s.gen != le32_to_cpu(io->gen[i]);
}

/* a program has read a page: it is referenced, and counted if it was prefetched */
static void home_page_read(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = io->dev;

	nswap_slot_reference(&dev->map, io->slot[i], le32_to_cpu(io->gen[i]));
	if (READ_ONCE(dev->demotes) && nswap_page_tag_hit(dev, io->slot[i]))
		nswap_stat_inc(dev->node, prefetch_disk_hits);
}

static void load_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);
	struct nswap_io *io = op->io;
	struct nswap_device *dev = io->dev;
	unsigned int i, first = op->first;
	unsigned long again = 0;

	if (!h->failed) {
		for (i = first; !io->ahead && i < first + op->nr; i++)
			home_page_read(io, i);
		if (!io->ahead)
			nswap_stat_add(dev->node, pages_home_in, op->nr);
	} else if (op->nr > 1) {
		WRITE_ONCE(io->one_by_one, true);
		again = nswap_op_slots(op);
	} else if (home_look_again(io, first)) {
		again = BIT(first);
	} else {
		nswap_device_complain(dev, h, "its page cannot be had");
		if (!io->ahead)
			nswap_stat_inc(dev->node, read_errors);
		nswap_request_fail(io, first, 1);
	}
	nswap_op_end(op, again);
}

/* can it be read from home? */
static bool home_has(struct nswap_io *io, unsigned int i,
		     const struct nswap_slot *s)
{
	return nswap_slot_at_home(s) ||
	       (nswap_slot_at_peer(s) && !test_bit(i, &io->no_home) &&
		nswap_home_copy_has(io->dev, io->slot[i]));
}

/* load() of tier.h */
unsigned int nswap_tier_home_load(struct nswap_io *io, unsigned int first)
{
	unsigned int i, nr = READ_ONCE(io->one_by_one) ? 1 :
			     nswap_io_run(io, io->todo, first);

	for (i = first; i < first + nr; i++) {
		struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

		if (!home_has(io, i, &s))
			break;
		io->gen[i] = cpu_to_le32(s.gen);
	}
	nr = i - first;
	if (nr)
		nswap_request_block(io, first, nr, NSWAP_FLASH_NONE, load_ended);
	return nr;
}
