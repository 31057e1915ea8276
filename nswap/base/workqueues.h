/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's own work queues. The first is for everything a page-out or page-in may
 * wait for. It has a rescuer, so work runs even when no worker can be created. Work
 * queued there does not allocate memory or wait for other work.
 *
 * The second is for questions to peers that a user waits for, and no page.
 */
#ifndef NSWAP_WORKQUEUES_H
#define NSWAP_WORKQUEUES_H

#include <linux/workqueue.h>

extern struct workqueue_struct *nswap_io_wq;
extern struct workqueue_struct *nswap_ask_wq;

int nswap_workqueues_init(void);
void nswap_workqueues_exit(void);

#endif
