// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own work queue, see workqueues.h.
 */
#include <linux/errno.h>

#include "workqueues.h"

struct workqueue_struct *nswap_io_wq;

/* Returns 0, or -ENOMEM */
int nswap_workqueues_init(void)
{
	nswap_io_wq = alloc_workqueue("nswap_io", WQ_MEM_RECLAIM | WQ_UNBOUND |
				      WQ_HIGHPRI, 0);
	return nswap_io_wq ? 0 : -ENOMEM;
}

void nswap_workqueues_exit(void)
{
	destroy_workqueue(nswap_io_wq);
}
