/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mirror: the second place of a page that a peer holds, one entry a slot.
 *
 *   generation 20 | held 10 | making 10
 */
#ifndef NSWAP_MIRROR_H
#define NSWAP_MIRROR_H

#include "device.h"
#include "pure/mirror_entry.h"

int nswap_mirror_init(struct nswap_device *dev);
struct nswap_mirror nswap_mirror_look(const struct nswap_device *dev, u64 slot);
struct nswap_slot nswap_mirror_both(const struct nswap_device *dev, u64 slot,
				    struct nswap_mirror *m);
u16 nswap_mirror_of(const struct nswap_device *dev, u64 slot,
		    const struct nswap_slot *s);
bool nswap_mirror_set(struct nswap_device *dev, u64 slot,
		      const struct nswap_mirror *was,
		      const struct nswap_mirror *to);
bool nswap_mirror_begin(struct nswap_device *dev, u64 slot, u32 gen, u16 peer);
bool nswap_mirror_off(struct nswap_device *dev, u64 slot, u32 gen, u16 peer);
bool nswap_mirror_end(struct nswap_device *dev, u64 slot, u32 gen, u16 peer,
		      u16 *replaced);
bool nswap_mirror_replace(struct nswap_device *dev, u64 slot, u32 gen, u16 from,
			  u16 to);
void nswap_mirror_drop(struct nswap_device *dev, u64 slot,
		       const struct nswap_slot *was, bool rewritten);

/* are pages to have two places? */
static inline bool nswap_mirror_wanted(const struct nswap_device *dev)
{
	/* pairs with nswap_protect_set(): then there is a table */
	return smp_load_acquire(&dev->protect) == NSWAP_PROTECT_MIRROR;
}

#endif
