// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own work queue, see workqueues.h.
 */
#include <linux/errno.h>

#include "workqueues.h"

struct workqueue_struct *nswap_io_wq;

/**
 * nswap_workqueues_init() - make the work queue
 *
 * Context: process, module init.
 * Return: 0, or -ENOMEM.
 */
int nswap_workqueues_init(void)
{
	nswap_io_wq = alloc_workqueue("nswap_io", WQ_MEM_RECLAIM | WQ_UNBOUND |
				      WQ_HIGHPRI, 0);
	return nswap_io_wq ? 0 : -ENOMEM;
}

/**
 * nswap_workqueues_exit() - undo nswap_workqueues_init()
 *
 * Context: process, module exit.
 */
void nswap_workqueues_exit(void)
{
	destroy_workqueue(nswap_io_wq);
}
