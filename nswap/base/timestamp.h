/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time stamps of page-outs and page-ins, taken only while measuring is on.
 */
#ifndef NSWAP_TIMESTAMP_H
#define NSWAP_TIMESTAMP_H

#include <linux/jump_label.h>
#include <linux/timekeeping.h>

/* on while any node measures latency or traces slots; defined in meter.c */
DECLARE_STATIC_KEY_FALSE(nswap_meter_key);

/* the time in ns, 0 while nothing is measured; any context but NMI */
static inline u64 nswap_stamp(void)
{
	return static_branch_unlikely(&nswap_meter_key) ? ktime_get_ns() : 0;
}

#endif
