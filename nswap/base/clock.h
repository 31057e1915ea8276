/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The monotonic millisecond clock for deadlines.
 */
#ifndef NSWAP_CLOCK_H
#define NSWAP_CLOCK_H

#include <linux/ktime.h>

static inline u64 nswap_now_ms(void)
{
	return ktime_get_ns() / NSEC_PER_MSEC;
}

#endif
