// SPDX-License-Identifier: GPL-2.0
/*
 * Reboot, suspend and hibernation: announce that the nodes leave, and refuse the latter
 * two while pages are out or held, the last while there are keys (pure/power.c says why).
 *
 * Invariants:
 *  - Nothing here waits for a peer.
 *  - Between the check and the sleep nothing is taken in: the nodes lend nothing from
 *    then on, which also frees the pages set aside, and are checked again after that.
 *  - Known gap: all programs run until they are frozen, after that. So pages may go out yet,
 *    of a device that had none out; "nswapctl lend" is obeyed; and pages that were being
 *    received when the nodes were checked are taken in.
 */
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "announce.h"
#include "base/log.h"
#include "core/devices.h"
#include "core/nodes.h"
#include "peers/peer.h"
#include "pure/power.h"
#include "reboot.h"
#include "server/cache.h"
#include "server/sizing.h"

static void announce_leaving(bool reboots)
{
	struct nswap_cache_view v;
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		after = node->number;
		nswap_cache_get_view(node, &v);
		if (v.held)
			nswap_warn(node, "%s while %llu pages of other nodes are held here: their programs will wait for them or fail; before the next time: nswapctl down",
				   reboots ? "reboot" : "shutdown", v.held);
		WRITE_ONCE(node->reboots, reboots);
		WRITE_ONCE(node->leaving, true);
		nswap_announce_now(node);
		nswap_node_put(node);
	}
}

/* lend nothing, and say so; undone by power_back() */
static void power_leave(void)
{
	struct nswap_cache_view v;
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		after = node->number;
		nswap_cache_get_view(node, &v);
		node->lent_awake = v.lent;
		nswap_cache_lend(node->cache, 0);
		nswap_sizing_now(node);
		WRITE_ONCE(node->leaving, true);
		nswap_announce_now(node);
		nswap_node_put(node);
	}
}

static void power_back(void)
{
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		after = node->number;
		/* 0: it lent nothing, or came up meanwhile */
		if (node->lent_awake)
			nswap_cache_lend(node->cache, node->lent_awake);
		nswap_sizing_now(node);
		node->lent_awake = 0;
		WRITE_ONCE(node->leaving, false);
		nswap_announce_now(node);
		nswap_node_put(node);
	}
}

static void tell_refusal(struct nswap_node *node, const char *what, u8 why,
			 u64 out, u64 held)
{
	switch (why) {
	case NSWAP_POWER_OUT:
		nswap_warn(node, "%s refused: %llu pages of this machine are in other nodes, which drop them after lease_s; swapoff first",
			   what, out);
		break;
	case NSWAP_POWER_HELD:
		nswap_warn(node, "%s refused: %llu pages of other nodes are held here; nswapctl drain first",
			   what, held);
		break;
	case NSWAP_POWER_OPEN:
		nswap_warn(node, "%s refused: a device is swapped on, its pages go to other nodes; swapoff first",
			   what);
		break;
	case NSWAP_POWER_KEYS:
		nswap_warn(node, "%s refused: keys would be written to this machine's disk; nswapctl down first, which wipes them",
			   what);
		break;
	}
}

/* is there a node that keeps the machine from sleeping? logs the reason */
static bool power_refused(bool hibernation)
{
	const char *what = hibernation ? "hibernation" : "suspend";
	bool open = nswap_device_any_open(), refused = false;
	struct nswap_cache_view v;
	struct nswap_node *node;
	u32 after = 0;

	while ((node = nswap_node_next(NULL, after))) {
		u64 out = nswap_peers_slots(node);
		u8 why;

		after = node->number;
		nswap_cache_get_view(node, &v);
		why = nswap_power_refuses(hibernation, open,
					  node->identity || nswap_device_any_sealed(node),
					  out, v.held);
		tell_refusal(node, what, why, out, v.held);
		refused = refused || why != NSWAP_POWER_MAY;
		nswap_node_put(node);
	}
	return refused;
}

static int on_reboot(struct notifier_block *nb, unsigned long event, void *data)
{
	announce_leaving(event == SYS_RESTART);
	return NOTIFY_DONE;
}

static int power_prepare(bool hibernation)
{
	if (power_refused(hibernation))
		return NOTIFY_BAD;
	power_leave();
	if (!power_refused(hibernation))
		return NOTIFY_DONE;
	power_back();
	return NOTIFY_BAD;
}

static int on_power(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
		return power_prepare(true);
	case PM_SUSPEND_PREPARE:
		return power_prepare(false);
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
		power_back();
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
