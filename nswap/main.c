// SPDX-License-Identifier: GPL-2.0
/*
 * nswap: swap to the idle RAM of other nodes.
 *
 * Module load and unload only. Loading opens no port: nodes are brought up by
 * netlink. A node that is up holds the module.
 */
#include <linux/module.h>

#include "base/workqueues.h"
#include "control/lifecycle.h"
#include "control/netlink.h"
#include "control/reboot.h"
#include "device/disk.h"
#include "peers/place_snapshot.h"
#include "proc/proc.h"
#include "server/cache.h"

static int __init nswap_init(void)
{
	int ret;

	ret = nswap_policy_validate();
	if (ret)
		return ret;
	ret = nswap_workqueues_init();
	if (ret)
		return ret;
	ret = nswap_cache_init();
	if (ret)
		goto destroy_wq;
	ret = nswap_cache_shrink_init();
	if (ret)
		goto exit_cache;
	ret = nswap_place_snapshot_init();
	if (ret)
		goto exit_shrink;
	ret = nswap_device_init();
	if (ret)
		goto exit_place;
	ret = nswap_proc_init();
	if (ret)
		goto exit_device;
	ret = nswap_reboot_init();
	if (ret)
		goto exit_proc;
	ret = nswap_netlink_init();
	if (ret)
		goto exit_leave;
	return 0;

exit_leave:
	nswap_reboot_exit();
exit_proc:
	nswap_proc_exit();
exit_device:
	nswap_device_exit();
exit_place:
	nswap_place_snapshot_exit();
exit_shrink:
	nswap_cache_shrink_exit();
exit_cache:
	nswap_cache_exit();
destroy_wq:
	nswap_workqueues_exit();
	return ret;
}

static void __exit nswap_exit(void)
{
	nswap_netlink_exit();
	nswap_reboot_exit();
	nswap_proc_exit();
	nswap_node_exit();
	nswap_device_exit();
	nswap_place_snapshot_exit();
	nswap_cache_shrink_exit();
	nswap_cache_exit();
	nswap_workqueues_exit();
	rcu_barrier();
}

module_init(nswap_init);
module_exit(nswap_exit);

MODULE_DESCRIPTION("Swap to the idle RAM of other nodes");
MODULE_VERSION(NSWAP_VERSION);
MODULE_LICENSE("GPL");
