/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long an OOM notifier of the module waits, of the lender (server/cache_shrink.c) and of
 * the owner (client/pageout_oom.c).
 */
#ifndef NSWAP_OOM_H
#define NSWAP_OOM_H

#include <linux/jiffies.h>

#define NSWAP_OOM_POLL	(HZ / 50)
#define NSWAP_OOM_POLLS	5	/* then the allocation may be retried */
#define NSWAP_OOM_QUIET	(2 * HZ)	/* this long without a call: a new shortage */

#endif
