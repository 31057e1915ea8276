/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Picking pages to be moved: the least recently used first.
 */
#ifndef NSWAP_PICK_H
#define NSWAP_PICK_H

#include "cache.h"

u32 nswap_held_pick(struct nswap_owner *o, u32 attempt, u32 n, u32 not_of,
		    bool one_device, struct nswap_entry **entry, u64 *epoch);
bool nswap_held_moved(struct nswap_cache *c, struct nswap_owner *o,
		      struct nswap_entry *e, u32 attempt,
		      enum nswap_moved_how how);
bool nswap_owner_homeless(const struct nswap_owner *o);

#endif
