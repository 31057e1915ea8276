// SPDX-License-Identifier: GPL-2.0
/*
 * Page-outs to flash and page-ins from there.
 *
 *   no room at any peer:  WRITING(no peer) -> flash -> FLASH
 *   a slot with a flash slot, in any state: page-in from flash
 *
 * Invariants:
 *  - A flash slot may be given to another page while a page-in reads it. So
 *    what was read counts only if the slot still has that generation and that
 *    flash slot afterwards, and had them all the time: no flash slot of a live
 *    page was given up meanwhile (nswap_flash_links()), or else it may have been
 *    used for another page and come back. If not, the page-in is retried.
 *  - Adjacent slots go in one read or write. If that fails they are tried one
 *    by one; a page that fails alone is written or read elsewhere.
 *  - A flash device may be removed. Between seeing one of its slots in the slot
 *    map and holding it for a read a page-in stays in rcu_read_lock().
 *  - A success ends in the context of its completion, hard interrupts too.
 *  - A page-out owns the flash slots it took until they are recorded in its slots.
 */
#include "base/bits.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "pagein_copy.h"
#include "pageout.h"
#include "request_queue.h"
#include "tier.h"

static void put_back(struct nswap_op *op)
{
	unsigned int i;

	for (i = 0; i < op->nr; i++)
		nswap_flash_put(op->io->dev->flash, op->flash + i);
}

static void store_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);
	struct nswap_io *io = op->io;
	unsigned long again = 0;
	unsigned int i;

	nswap_flash_ended(io->dev->flash, op->flash, h->failed);
	if (!h->failed) {
		for (i = 0; i < op->nr; i++)
			nswap_pageout_at_flash(io, op->first + i, op->flash + i);
		nswap_stat_add(io->dev->node, pages_flash_out, op->nr);
	} else {
		put_back(op);
		again = nswap_op_slots(op);
		if (op->nr > 1) {
			WRITE_ONCE(io->one_by_one, true);
		} else {
			nswap_device_complain(io->dev, h,
					      "its page goes elsewhere");
			set_bit(op->first, &io->no_flash);
		}
	}
	nswap_op_end(op, again);
}

/* store() of tier.h; what flash has no room for or failed to write stays in @todo */
int nswap_tier_flash_store(struct nswap_io *io, unsigned long slots)
{
	nswap_request_store(io, io->todo & slots & ~READ_ONCE(io->no_flash),
			    true, store_ended);
	return io->todo & slots ? -ENOSPC : 0;
}

/* is what was read still the slot's page? */
static bool still_there(struct nswap_op *op, unsigned int i)
{
	struct nswap_io *io = op->io;
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

	return s.flash == op->flash + i - op->first &&
	       s.gen == le32_to_cpu(io->gen[i]) &&
	       nswap_flash_links(io->dev->flash) == op->links;
}

static void load_ended(struct nswap_home_io *h)
{
	struct nswap_op *op = container_of(h, struct nswap_op, h);
	struct nswap_io *io = op->io;
	unsigned int i, n = 0, end = op->first + op->nr;
	unsigned long again = 0;

	nswap_flash_ended(io->dev->flash, op->flash, h->failed);
	nswap_read_ended(&io->dev->times, NSWAP_READ_FLASH, op->nr,
			 op->read_began, !h->failed);
	if (h->failed && op->nr > 1)
		WRITE_ONCE(io->one_by_one, true);
	for (i = op->first; i < end; i++) {
		if (h->failed || !still_there(op, i)) {
			again |= BIT(i);
			continue;
		}
		if (io->ahead)
			continue;
		nswap_slot_reference(&io->dev->map, io->slot[i],
				     le32_to_cpu(io->gen[i]));
		if (nswap_flash_hit(io->dev->flash, op->flash + i - op->first))
			nswap_stat_inc(io->dev->node, prefetch_hits);
		n++;
	}
	if (h->failed && op->nr == 1 && still_there(op, op->first)) {
		nswap_device_complain(io->dev, h, "another copy is looked for");
		set_bit(op->first, &io->no_flash);
	}
	nswap_stat_add(io->dev->node, pages_flash_in, n);
	nswap_op_end(op, again);
}

/* load() of tier.h */
unsigned int nswap_tier_flash_load(struct nswap_io *io, unsigned int first)
{
	unsigned int i, nr = READ_ONCE(io->one_by_one) ? 1 :
			     nswap_run_of(io->todo, first);
	u32 links = nswap_flash_links(io->dev->flash);
	u32 flash = 0;

	rcu_read_lock();
	for (i = first; i < first + nr; i++) {
		struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

		if (!nswap_copy_on_flash(io, i, &s) ||
		    (flash && s.flash != flash + i - first))
			break;
		if (!flash) {
			flash = s.flash;
			nr = min(nr, nswap_flash_run(io->dev->flash, flash));
		}
		io->gen[i] = cpu_to_le32(s.gen);
		clear_bit(i, &io->no_flash);
		WRITE_ONCE(io->flash_at[i], s.flash);
		WRITE_ONCE(io->flash_gen[i], s.gen);
	}
	nr = i - first;
	if (nr)
		nswap_flash_hold(io->dev->flash, flash);
	rcu_read_unlock();
	if (!nr)
		return 0;
	io->op[first].links = links;
	io->op[first].read_began = nswap_read_began(&io->dev->times,
						    NSWAP_READ_FLASH, nr);
	nswap_request_block(io, first, nr, flash, load_ended);
	return nr;
}
