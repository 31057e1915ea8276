// SPDX-License-Identifier: GPL-2.0
/*
 * Attached devices of an owner: their class and reserve, as its ATTACH said.
 *
 *   ATTACH(instance, class, pages) -> attached -> FREE_DEVICE, a session without an ATTACH of
 *                                                 it, a new epoch, the end of the owner's lease
 *
 * Invariants:
 *  - A device that was not attached is of class normal and has no reserve.
 *  - An instance keeps its class; its reserve may be changed by another ATTACH. Both
 *    outlive a session, as the pages held do: the owner says them again in the next. What it
 *    has not said there for twice SAID_S (attach.c), and of which no page is held, is gone.
 *  - Held pages of an instance are on its owner's lru of its class: those that were
 *    here before the ATTACH are put there by it (attach.c).
 *
 * Nothing here sleeps.
 */
#include <linux/slab.h>

#include "attached.h"

/* what is known of a device, NULL for nothing; @o: owner, its lock held */
struct nswap_attached *nswap_attached_find(const struct nswap_owner *o, u32 instance)
{
	struct nswap_attached *a;

	list_for_each_entry(a, &o->attached, link)
		if (a->instance == instance)
			return a;
	return NULL;
}

/* enum nswap_device_class of a device; @o: owner, its lock held */
u8 nswap_attached_class(const struct nswap_owner *o, u32 instance)
{
	const struct nswap_attached *a = nswap_attached_find(o, instance);

	return a ? a->class : NSWAP_DEV_NORMAL;
}

/* free devices that were taken off their owner */
void nswap_attached_free(struct list_head *attached)
{
	struct nswap_attached *a, *next;

	list_for_each_entry_safe(a, next, attached, link) {
		list_del(&a->link);
		kfree(a);
	}
}
