// SPDX-License-Identifier: GPL-2.0
/*
 * Reboot, suspend and hibernation: announce that the nodes leave, and refuse
 * hibernation while it cannot work.
 *
 * Invariant: nothing here waits for a peer.
 */
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "announce.h"
#include "base/log.h"
#include "core/device.h"
#include "core/nodes.h"
#include "reboot.h"

static void announce_leaving(const char *what)
{
	struct nswap_cache_view v;
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		after = node->number;
		nswap_cache_get_view(node, &v);
		if (v.held)
			nswap_warn(node, "%s while %llu pages of other nodes are held here: their programs will wait for them or fail",
				   what, v.held);
		WRITE_ONCE(node->leaving, true);
		nswap_announce_now(node);
		nswap_node_put(node);
	}
}

static void announce_back(void)
{
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		after = node->number;
		WRITE_ONCE(node->leaving, false);
		nswap_announce_now(node);
		nswap_node_put(node);
	}
}

static int on_reboot(struct notifier_block *nb, unsigned long event, void *data)
{
	announce_leaving(event == SYS_RESTART ? "reboot" : "shutdown");
	return NOTIFY_DONE;
}

static int on_power(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
		if (nswap_device_any_open()) {
			pr_warn("hibernation refused: a device is swapped on, its pages are in other nodes; swapoff first\n");
			return NOTIFY_BAD;
		}
		announce_leaving("hibernation");
		break;
	case PM_SUSPEND_PREPARE:
		announce_leaving("suspend");
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
		announce_back();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block reboot_block = { .notifier_call = on_reboot };
static struct notifier_block power_block = { .notifier_call = on_power };

/* register the notifiers. Returns 0, or the error of a notifier chain */
int nswap_reboot_init(void)
{
	int ret = register_reboot_notifier(&reboot_block);

	if (ret)
		return ret;
	ret = register_pm_notifier(&power_block);
	if (ret)
		unregister_reboot_notifier(&reboot_block);
	return ret;
}

void nswap_reboot_exit(void)
{
	unregister_pm_notifier(&power_block);
	unregister_reboot_notifier(&reboot_block);
}
