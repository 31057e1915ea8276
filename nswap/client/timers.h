/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tick: everything of the client that is due to time passing.
 */
#ifndef NSWAP_TIMERS_H
#define NSWAP_TIMERS_H

#include <linux/workqueue.h>

void nswap_timers_tick(struct work_struct *work);

#endif
