/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Share: how much of what a node lends one owner may have.
 */
#ifndef NSWAP_SHARE_H
#define NSWAP_SHARE_H

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#define NSWAP_NO_SHARE	U64_MAX		/* all that is lent */

/* the share in pages, rounded down; @lent: pages lent now; @pct: 100 or more for no limit */
static inline u64 nswap_share_limit(u64 lent, u32 pct)
{
	return pct >= 100 ? NSWAP_NO_SHARE : div_u64(lent * pct, 100);
}

/* what is left of a share; 0 for an owner that has as much, or more since it became less */
static inline u64 nswap_share_left(u64 limit, u64 has)
{
	return limit == NSWAP_NO_SHARE ? limit : limit > has ? limit - has : 0;
}

/*
 * Pages that may be promised to an owner at a time: with others there all of them have half
 * of what is free, so that one that comes finds some. @free: pages without content; @weight:
 * the owner's; @all: that of all of them; @least: at any rate
 */
static inline u32 nswap_share_window(u64 free, u32 weight, u32 all, u32 least, u32 most)
{
	return all > weight ? clamp_t(u64, div_u64(free * weight, 2 * all), least, most) : most;
}

/* the fair part of one owner of what is free, everything if it is alone; likewise */
static inline u64 nswap_share_fair(u64 free, u32 weight, u32 all)
{
	return all > weight ? div_u64(free * weight, all) : free;
}

#endif
