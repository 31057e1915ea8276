// SPDX-License-Identifier: GPL-2.0
/*
 * Device, its slots: one entry of the shadow slot map changes, and with it what
 * is kept and counted by the entries.
 *
 * Invariants:
 *  - The counts follow an entry, after it has changed and not at once with it:
 *    a moment's sum may be wrong by the entries that are changing.
 *  - A flash slot that an entry gives up is put back here, by whoever changed
 *    the entry. Where the page lives on without it, page-ins that may be reading
 *    it are told first, since it may be another page's as soon as it is put back.
 *  - A page's tag of moves out from home ends when its slot is written again.
 */
#include <linux/sched.h>

#include "backing/flash.h"
#include "device.h"
#include "inject.h"
#include "node.h"
#include "page_tag.h"
#include "pure/slot_map.h"
#include "slot_update.h"

/* is it the same page, which can still be had? */
static bool lives_on(const struct nswap_slot *was, const struct nswap_slot *to)
{
	return was->gen == to->gen && to->state != NSWAP_SLOT_EMPTY &&
	       to->state != NSWAP_SLOT_FREEING;
}

/**
 * nswap_device_slot_move() - nswap_slot_move() and count the states
 * @dev: device
 * @slot: slot
 * @old: the word the decision was made on
 * @to: the new entry
 *
 * A flash slot that the new entry has not got any more is put back.
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: as nswap_slot_move().
 */
bool nswap_device_slot_move(struct nswap_device *dev, u64 slot, u64 old,
			    const struct nswap_slot *to)
{
	struct nswap_slot was = nswap_slot_unpack(old);
	u8 from = was.state;

	if (!nswap_slot_move(&dev->map, slot, old, to))
		return false;
	nswap_inject_count(from, to->state);
	if (was.flash && was.flash != to->flash) {
		if (lives_on(&was, to))
			nswap_flash_unlinked(dev->flash, was.flash);
		nswap_flash_put(dev->flash, was.flash);
	}
	if (from != to->state) {
		if (from != NSWAP_SLOT_EMPTY)
			atomic64_dec(&dev->count[from]);
		if (to->state != NSWAP_SLOT_EMPTY)
			atomic64_inc(&dev->count[to->state]);
		/* from now on it is another page's */
		if (to->state == NSWAP_SLOT_WRITING)
			nswap_page_tag(dev, slot, 0);
	}
	return true;
}
