// SPDX-License-Identifier: GPL-2.0
/*
 * Home copies: two bits a slot of a device with a home. @home_has: a peer holds the
 * page and home has it too. @home_due: it is being written home, or about to be, from
 * a copy in this node's RAM; or it is moving out from home, which keeps it.
 *
 *   begin -> due -> written: has, and no longer due
 *                \-> failed, or the slot has changed: no longer due
 *
 * Invariants:
 *  - A slot that is due has one writer, which began it: a page-out that holds the
 *    slot WRITING (follow.c), or a task that changes the slot's entry afterwards
 *    (home_fill.c, promote.c). A page-out claims no slot that is due, so home gets the pages of
 *    a slot in the order in which the kernel wrote them.
 *  - @home_has is set only while the slot is due. It is cleared when the slot leaves
 *    its peer for anything but another peer, and when it becomes WRITING. Its setter
 *    looks at the slot afterwards and clears it if it came too late; both changes
 *    are fully ordered, so one of the two sees the other.
 *  - So home has the page that the slot's entry names whenever the bit is set and the
 *    entry names a peer.
 */
#include "home_copy.h"
#include "slot_update.h"

/* Returns false if another task writes a copy of this slot; any, does not sleep. */
bool nswap_home_copy_begin(struct nswap_device *dev, u64 slot)
{
	if (test_and_set_bit(slot, dev->home_due))
		return false;
	atomic64_inc(&dev->nr_copied);
	return true;
}

/* home does not have the slot's page; any, does not sleep, page-out path */
void nswap_home_copy_drop(struct nswap_device *dev, u64 slot)
{
	if (test_bit(slot, dev->home_has) &&
	    test_and_clear_bit(slot, dev->home_has))
		atomic64_dec(&dev->nr_copied);
}

/* does a peer hold this generation of the slot's page? any, does not sleep */
bool nswap_home_copy_valid(const struct nswap_device *dev, u64 slot, u32 gen)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return nswap_slot_at_peer(&s) && s.gen == gen;
}

/**
 * nswap_home_copy_end() - the writer of a copy is done, and page-outs may claim the slot
 * @dev: device
 * @slot: slot that is due
 * @gen: generation of the copy
 * @written: home has it
 *
 * Context: any, does not sleep.
 */
void nswap_home_copy_end(struct nswap_device *dev, u64 slot, u32 gen,
			 bool written)
{
	if (written && !test_and_set_bit(slot, dev->home_has))
		atomic64_inc(&dev->nr_copied);
	/* after the bit, see above */
	if (written && !nswap_home_copy_valid(dev, slot, gen))
		nswap_home_copy_drop(dev, slot);
	atomic64_dec(&dev->nr_copied);
	/* fully ordered: after all that the writer did */
	test_and_clear_bit(slot, dev->home_due);
}

/**
 * nswap_home_copy_lost() - change an entry whose peer no longer has the page
 * @dev: device
 * @slot: slot
 * @s: its entry, REMOTE; changed to what is left: HOME, FLASH or LOST
 *
 * Context: any, does not sleep; part of a change of nswap_slot_update().
 * Return: false, with *@s unchanged, while a copy is being written home.
 */
bool nswap_home_copy_lost(struct nswap_device *dev, u64 slot,
			  struct nswap_slot *s)
{
	if (nswap_home_copy_due(dev, slot))
		return false;
	/* as in nswap_home_copy_any() */
	smp_rmb();
	*s = nswap_slot_lost(s, nswap_home_copy_has(dev, slot));
	return true;
}

/*
 * Pages that are at a peer and nowhere else, where home is to have them all. An
 * estimate: a page that moves away from home is one, too.
 */
u64 nswap_home_copy_exposed(const struct nswap_device *dev)
{
	s64 n = nswap_slot_count(dev, NSWAP_SLOT_REMOTE) +
		nswap_slot_count(dev, NSWAP_SLOT_MOVING) -
		atomic64_read(&dev->nr_copied);

	return max(n, 0ll);
}
