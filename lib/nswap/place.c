// SPDX-License-Identifier: GPL-2.0
/*
 * Placing: where the pages of a region are to be, among the tiers of the device.
 *
 * No lock is held while they move. A region that is freed meanwhile, and its pages given to
 * another one, costs nothing but a move: what a page has is the same on each tier.
 */
#include <errno.h>
#include <linux/nswap_place.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib.h"

static const uint32_t place_tiers[] = {
	[NSWAP_PLACE_RAM] = NSWAP_AT_RAM,
	[NSWAP_PLACE_FLASH] = NSWAP_AT_FLASH,
	[NSWAP_PLACE_HOME] = NSWAP_AT_HOME,
};

#define NR_TIERS (sizeof(place_tiers) / sizeof(*place_tiers))

/* A run of pages; how many are elsewhere or lost, or -1. Only a signal ends it before its end. */
static int64_t place_run(const struct extent *e, uint32_t tier)
{
	uint64_t length = (uint64_t)e->pages * PAGE;
	struct nswap_place p = {
		.offset = (uint64_t)e->first * PAGE,
		.length = length,
		.tier = tier,
	};

	if (ioctl(lib.dev, NSWAP_IOC_PLACE, &p))
		return -1;
	if (p.length < length) {
		errno = EINTR;
		return -1;
	}
	return p.left + p.lost;
}

NSWAP_API ssize_t nswap_place(int region, int tier)
{
	const struct dir_region *r;
	struct extent extent[EXTENTS];
	int64_t left = 0, n;
	struct desc d;
	int i;

	if (tier < 0 || (size_t)tier >= NR_TIERS) {
		errno = EINVAL;
		return -1;
	}
	r = desc_get(region, &d) ? region_look(&d) : NULL;
	if (!r) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(extent, r->extent, sizeof(extent));
	dir_unlock();
	if (lib.is_file) {
		errno = ENODEV;
		return -1;
	}
	for (i = 0; i < EXTENTS; i++) {
		n = extent[i].pages ? place_run(&extent[i], place_tiers[tier]) : 0;
		if (n < 0)
			return -1;
		left += n;
	}
	return left;
}
