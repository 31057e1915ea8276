// SPDX-License-Identifier: GPL-2.0
/*
 * nswap: swap to the idle RAM of other nodes.
 *
 * Loading and unloading, nothing else. Loading opens no port: nodes come up by
 * netlink. A node that is up holds the module.
 */
#include <linux/module.h>

#include "../proc/proc.h"
#include "cache.h"
#include "device.h"
#include "leave.h"
#include "netlink.h"
#include "node.h"
#include "workqueues.h"

struct workqueue_struct *nswap_io_wq;

static int __init nswap_init(void)
{
	int ret;

	ret = nswap_policy_validate();
	if (ret)
		return ret;
	nswap_io_wq = alloc_workqueue("nswap_io", WQ_MEM_RECLAIM | WQ_UNBOUND |
				      WQ_HIGHPRI, 0);
	if (!nswap_io_wq)
		return -ENOMEM;
	ret = nswap_cache_init();
	if (ret)
		goto destroy_wq;
	ret = nswap_cache_shrink_init();
	if (ret)
		goto exit_cache;
	ret = nswap_device_init();
	if (ret)
		goto exit_shrink;
	ret = nswap_node_init();
	if (ret)
		goto exit_device;
	ret = nswap_proc_init();
	if (ret)
		goto exit_node;
	ret = nswap_leave_init();
	if (ret)
		goto exit_proc;
	ret = nswap_netlink_init();
	if (ret)
		goto exit_leave;
	return 0;

exit_leave:
	nswap_leave_exit();
exit_proc:
	nswap_proc_exit();
exit_node:
	nswap_node_exit();
exit_device:
	nswap_device_exit();
exit_shrink:
	nswap_cache_shrink_exit();
exit_cache:
	nswap_cache_exit();
destroy_wq:
	destroy_workqueue(nswap_io_wq);
	return ret;
}

static void __exit nswap_exit(void)
{
	nswap_netlink_exit();
	nswap_leave_exit();
	nswap_proc_exit();
	nswap_node_exit();
	nswap_device_exit();
	nswap_cache_shrink_exit();
	nswap_cache_exit();
	destroy_workqueue(nswap_io_wq);
	rcu_barrier();
}

module_init(nswap_init);
module_exit(nswap_exit);

MODULE_DESCRIPTION("Swap to the idle RAM of other nodes");
MODULE_VERSION(NSWAP_VERSION);
MODULE_LICENSE("GPL");
