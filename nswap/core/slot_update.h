/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading an entry of a device's shadow slot map, and the one way to change it.
 *
 * A change is a small function named for its transition, such as
 * pageout_slot_claimed(): it is given the current entry, decides, and edits it or
 * leaves it.
 *
 * Invariants:
 *  - The entry a change decided on is the one that is exchanged. If any bit of it
 *    has changed in between, even the reference bit, the change decides again. So
 *    it fails only when its own condition no longer holds, and must check again
 *    whatever was true at an earlier look.
 *  - A change may be called several times: it has no effect but on its entry.
 *    What follows from it (counts, frees, the copy elsewhere) is up to the caller,
 *    once, after nswap_slot_update() has returned true, based on @was.
 */
#ifndef NSWAP_SLOT_UPDATE_H
#define NSWAP_SLOT_UPDATE_H

#include "device.h"

int nswap_slot_try(struct nswap_device *dev, u64 slot, struct nswap_slot *was,
		   const struct nswap_slot *to);

u64 nswap_slot_count(const struct nswap_device *dev, u8 state);
void nswap_slot_tidy(struct nswap_device *dev, u64 slot);

/* a snapshot of an entry */
static inline struct nswap_slot nswap_slot_look(const struct nswap_device *dev,
						u64 slot)
{
	return nswap_slot_unpack(nswap_slot_read(&dev->map, slot));
}

/**
 * nswap_slot_update() - change an entry and the counts that depend on it
 * @dev: device
 * @slot: below the number of its slots
 * @was: result, a struct nswap_slot: the entry that @change saw last
 * @change: bool change(struct nswap_slot *s, ...), true: *s is the new entry
 * @...: its other arguments, without side effects
 *
 * A macro, so that the change is inlined and its arguments are type-checked.
 *
 * Context: any that @change allows; does not sleep, on the page-out path.
 * Return: true if *@was was replaced by the entry @change made; false if it made none.
 */
#define nswap_slot_update(dev, slot, was, change, ...)			\
({									\
	struct nswap_device *__dev = (dev);				\
	u64 __slot = (slot);						\
	struct nswap_slot *__was = (was), __to;				\
	int __ret;							\
									\
	*__was = nswap_slot_look(__dev, __slot);			\
	do {								\
		__to = *__was;						\
		__ret = change(&__to, ##__VA_ARGS__) ?			\
			nswap_slot_try(__dev, __slot, __was, &__to) : 0; \
	} while (__ret < 0);						\
	__ret > 0;							\
})

#endif
