// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own work queues, see workqueues.h.
 */
#include <linux/errno.h>

#include "workqueues.h"

#define ASKED_AT_ONCE	64	/* a thread each: peers that do not answer hold up others */

struct workqueue_struct *nswap_io_wq;
struct workqueue_struct *nswap_ask_wq;

/* Returns 0, or -ENOMEM */
int nswap_workqueues_init(void)
{
	nswap_io_wq = alloc_workqueue("nswap_io", WQ_MEM_RECLAIM | WQ_UNBOUND |
				      WQ_HIGHPRI, 0);
	if (!nswap_io_wq)
		return -ENOMEM;
	nswap_ask_wq = alloc_workqueue("nswap_ask", WQ_UNBOUND, ASKED_AT_ONCE);
	if (nswap_ask_wq)
		return 0;
	destroy_workqueue(nswap_io_wq);
	return -ENOMEM;
}

void nswap_workqueues_exit(void)
{
	destroy_workqueue(nswap_ask_wq);
	destroy_workqueue(nswap_io_wq);
}
