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
static bool slot_lives_on(const struct nswap_slot *was,
			  const struct nswap_slot *to)
{
	return was->gen == to->gen && to->state != NSWAP_SLOT_EMPTY &&
	       to->state != NSWAP_SLOT_FREEING;
}

/**
 * nswap_slot_try() - one try of nswap_slot_update(), for it alone
 * @dev: device
 * @slot: slot
 * @was: the entry the decision was made on; the present one after -EAGAIN
 * @to: the new entry
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: 1 if the entry was *@was and now is *@to; -EAGAIN if it was another;
 * 0 if there is no such transition: that warns once, and changes nothing.
 */
int nswap_slot_try(struct nswap_device *dev, u64 slot, struct nswap_slot *was,
		   const struct nswap_slot *to)
{
	u8 from = was->state;

	if (!nswap_slot_move(&dev->map, slot, nswap_slot_pack(was), to)) {
		if (from != to->state && !nswap_slot_legal(from, to->state))
			return 0;
		*was = nswap_slot_look(dev, slot);
		return -EAGAIN;
	}
	nswap_inject_count(from, to->state);
	if (was->flash && was->flash != to->flash) {
		if (slot_lives_on(was, to))
			nswap_flash_unlinked(dev->flash, was->flash);
		nswap_flash_put(dev->flash, was->flash);
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
	return 1;
}
