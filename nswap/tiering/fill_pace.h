/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast exposed pages get their copies: protect_mib_s MiB a second at most.
 */
#ifndef NSWAP_FILL_PACE_H
#define NSWAP_FILL_PACE_H

#include <linux/jiffies.h>

#include "core/device.h"
#include "core/node.h"

#define NSWAP_FILL_IDLE		(HZ / 2)	/* between looks for exposed pages */
#define NSWAP_FILL_ANYWAY	(10 * HZ)	/* likewise if none is counted, an estimate */
#define NSWAP_FILL_LOOK		262144u		/* slots, in one look at most */
#define NSWAP_FILL_BREATHE	16384u		/* slots between two cond_resched() */
#define NSWAP_FILL_PAGE_US	3906u		/* what a page takes at 1 MiB/s */

/* how many slots of a device to look at in one look */
static inline unsigned int nswap_fill_look(const struct nswap_device *dev)
{
	return min_t(u64, NSWAP_FILL_LOOK, nswap_slot_map_in_use(&dev->map));
}

/* jiffies that @n pages are worth; @owed_us: what was less than one, kept by the caller */
static inline unsigned long nswap_fill_pause(const struct nswap_device *dev,
					     unsigned int n, unsigned int *owed_us)
{
	u32 limit = nswap_knob(dev->node, protect_mib_s);
	unsigned long pause;

	if (!limit)
		return NSWAP_FILL_IDLE;
	*owed_us += n * NSWAP_FILL_PAGE_US / limit;
	pause = *owed_us / (USEC_PER_SEC / HZ);
	*owed_us %= USEC_PER_SEC / HZ;
	return pause;
}

#endif
