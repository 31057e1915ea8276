/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A moment in the past in 32 bits, even and not 0: what a bio has room for.
 *
 * Invariant: it is never later than the moment it stands for, and earlier by three jiffies
 * at most; also where the 32 bits wrap, which jiffies do five minutes after boot.
 */
#ifndef NSWAP_SHORT_TIME_H
#define NSWAP_SHORT_TIME_H

#include <linux/types.h>

/* @since: jiffies; any context. Returns what stands for it */
static inline u32 nswap_short_time(unsigned long since)
{
	return ((u32)since & ~1u) ?: ~1u;
}

/* @now: jiffies, less than 2^32 later; any context. Returns jiffies */
static inline unsigned long nswap_short_time_was(u32 mark, unsigned long now)
{
	return now - (u32)((u32)now - mark);
}

#endif
