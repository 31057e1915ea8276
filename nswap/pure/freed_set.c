// SPDX-License-Identifier: GPL-2.0
/*
 * Freed slots: a bit for each slot, and one for each group of them, so that a large device
 * with few freed slots is not searched bit by bit.
 *
 * Any task adds slots, one takes them out.
 *
 * Invariants:
 *  - A slot's bit is set before its group's is looked at, and a group's bit is cleared
 *    before the slots' are: so a group without its bit has no slot in the set but those
 *    whose adder is about to set it.
 *  - A group's bit is cleared by the reader only, and only if all slots of the group are
 *    looked at next.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>

#include "freed_set.h"

#define GROUP_SHIFT	12
#define GROUP		(1ull << GROUP_SHIFT)	/* slots: their bits are 8 cache lines */

static u64 freed_groups(const struct nswap_freed_set *f)
{
	return DIV_ROUND_UP_ULL(f->nr, GROUP);
}

/**
 * nswap_freed_init() - an empty set
 * @f: result
 * @bit: a zero bit for each slot, the caller's
 * @nr: slots, 1 or more
 *
 * Context: process, sleeps; never on the reclaim path.
 * Return: 0, or -ENOMEM; nswap_freed_exit() may follow either way.
 */
int nswap_freed_init(struct nswap_freed_set *f, unsigned long *bit, u64 nr)
{
	f->bit = bit;
	f->nr = nr;
	atomic64_set(&f->count, 0);
	f->some = kvcalloc(BITS_TO_LONGS(freed_groups(f)), sizeof(long), GFP_KERNEL_ACCOUNT);
	return f->some ? 0 : -ENOMEM;
}

/* undo nswap_freed_init(), or nothing if @f is zero */
void nswap_freed_exit(struct nswap_freed_set *f)
{
	kvfree(f->some);
}

/**
 * nswap_freed_add() - add a slot
 * @f: the set
 * @slot: slot, perhaps in it
 *
 * Context: any, interrupts off too; does not sleep.
 * Return: true if it is the only one.
 */
bool nswap_freed_add(struct nswap_freed_set *f, u64 slot)
{
	u64 group = slot >> GROUP_SHIFT;

	/* a full barrier, as the reader's: one of them sees the other's bit */
	if (test_and_set_bit(slot, f->bit))
		return false;
	if (!test_bit(group, f->some))
		set_bit(group, f->some);
	return atomic64_inc_return(&f->count) == 1;
}

/**
 * nswap_freed_next() - find a slot of the set
 * @f: the set
 * @from: the first one to look at
 *
 * Context: any; does not sleep; one task at a time.
 * Return: the first at or after @from, or as many as there are slots.
 */
u64 nswap_freed_next(struct nswap_freed_set *f, u64 from)
{
	while (from < f->nr) {
		u64 group = from >> GROUP_SHIFT, end, found;
		bool whole = !(from % GROUP);

		if (whole) {
			group = find_next_bit(f->some, freed_groups(f), group);
			from = group << GROUP_SHIFT;
			if (from >= f->nr)
				break;
			test_and_clear_bit(group, f->some);
		}
		end = min(f->nr, (group + 1) << GROUP_SHIFT);
		found = find_next_bit(f->bit, end, from);
		if (found < end) {
			if (whole)
				set_bit(group, f->some);
			return found;
		}
		from = end;
	}
	return f->nr;
}
