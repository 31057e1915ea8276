/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attached devices: what an owner said of its devices, their class and reserve.
 */
#ifndef NSWAP_ATTACHED_H
#define NSWAP_ATTACHED_H

#include "cache.h"

/**
 * struct nswap_attached - a device of an owner
 * @link: in the owner's list; under the owner's lock
 * @instance: device instance
 * @class: enum nswap_device_class
 * @session: of the owner, in which it was said last; under the owner's lock
 * @reserve: pages that are to be here, or set aside, in any case; under the cache's lock
 * @held: pages of it in the owner's tree and pending; likewise
 * @ram: pages of RAM that these take; likewise
 */
struct nswap_attached {
	struct list_head link;
	u32 instance;
	u8 class;
	u64 session;
	u32 reserve;
	u64 held;
	u64 ram;
};

struct nswap_attached *nswap_attached_find(const struct nswap_owner *o, u32 instance);
u8 nswap_attached_class(const struct nswap_owner *o, u32 instance);
void nswap_attached_free(struct list_head *attached);

#endif
