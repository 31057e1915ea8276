/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tick: everything the client does because time has passed.
 */
#ifndef NSWAP_TIMERS_H
#define NSWAP_TIMERS_H

#include <linux/workqueue.h>

void nswap_timers_tick(struct work_struct *work);

#endif
