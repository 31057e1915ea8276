/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of everything that is due some milliseconds later.
 */
#ifndef NSWAP_CLOCK_H
#define NSWAP_CLOCK_H

#include <linux/ktime.h>

/* a monotonic clock */
static inline u64 nswap_now_ms(void)
{
	return ktime_get_ns() / NSEC_PER_MSEC;
}

#endif
