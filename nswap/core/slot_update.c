// SPDX-License-Identifier: GPL-2.0
/*
 * Changing one entry of a device's shadow slot map, and with it what is kept and
 * counted for the entries.
 *
 * Invariants:
 *  - The counts are updated after an entry has changed, not atomically with it:
 *    a snapshot of them may be wrong by the entries that are changing. Each processor
 *    has its own, so that no two tasks write one.
 *  - A flash slot that an entry gives up is put back here, by the task that
 *    changed the entry. Where the page lives on without it, page-ins that may be
 *    reading it are told first, since another page may get it once it is put back.
 *  - The page's tag (page_tag.c) is cleared when its slot is written again, the bit
 *    for its copy at home (home_copy.c) also when it leaves its peer, and so is the
 *    entry of its second place (mirror.c).
 *  - With rows a chunk of slots is in use from when one of them was first in a cell: its
 *    word says nothing about that.
 */
#include <linux/sched.h>

#include "home_copy.h"
#include "inject.h"
#include "mirror.h"
#include "page_tag.h"
#include "parity.h"
#include "reserve.h"
#include "slot_update.h"

/* is it the same page, and does a copy of it exist? */
static bool slot_lives_on(const struct nswap_slot *was,
			  const struct nswap_slot *to)
{
	return was->gen == to->gen && to->state != NSWAP_SLOT_EMPTY &&
	       to->state != NSWAP_SLOT_FREEING;
}

/* does home no longer have a copy beside that of a peer? */
static bool slot_home_copy_ends(const struct nswap_slot *was,
				const struct nswap_slot *to)
{
	return to->state == NSWAP_SLOT_WRITING ||
	       (nswap_slot_at_peer(was) && !nswap_slot_at_peer(to));
}

/* does no peer hold the page any more? those of a freed slot are told by free.c */
static bool slot_mirror_ends(const struct nswap_slot *was,
			     const struct nswap_slot *to)
{
	return to->state == NSWAP_SLOT_WRITING ||
	       (nswap_slot_at_peer(was) && !nswap_slot_at_peer(to) &&
		to->state != NSWAP_SLOT_FREEING);
}

/**
 * nswap_slot_try() - one attempt of nswap_slot_update(), not for other callers
 * @dev: device
 * @slot: slot
 * @was: the entry the decision was based on; the present one after -EAGAIN
 * @to: the new entry
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: 1 if the entry was *@was and now is *@to; -EAGAIN if it had changed;
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
	if (dev->reserve && was->peer != to->peer)
		nswap_reserve_named(dev, was->peer, to->peer);
	if (from != to->state) {
		this_cpu_dec(dev->counts->of[from]);
		this_cpu_inc(dev->counts->of[to->state]);
		/* from now on the slot has another page */
		if (to->state == NSWAP_SLOT_WRITING)
			nswap_page_tag(dev, slot, 0);
		if (dev->home_has && slot_home_copy_ends(was, to))
			nswap_home_copy_drop(dev, slot);
		if (dev->mirror && slot_mirror_ends(was, to))
			nswap_mirror_drop(dev, slot, was,
					  to->state == NSWAP_SLOT_WRITING);
	}
	return 1;
}

/* how many slots are in a state, not EMPTY; any context: an estimate, see above */
u64 nswap_slot_count(const struct nswap_device *dev, u8 state)
{
	s64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(dev->counts, cpu)->of[state]);
	return max(n, 0ll);
}

/**
 * nswap_slot_tidy() - some slots have become EMPTY: is their chunk still in use?
 * @dev: device
 * @slot: one of them, or any
 *
 * What goes from home or flash alone is only seen to by discards.
 *
 * Context: any; does not sleep.
 */
void nswap_slot_tidy(struct nswap_device *dev, u64 slot)
{
	/* pairs with nswap_parity_init(): no cell is mapped while one tidies that saw no rows */
	rcu_read_lock();
	if (dev->outer || !nswap_parity_of(dev))
		nswap_slot_map_tidy(&dev->map, slot);
	rcu_read_unlock();
}
