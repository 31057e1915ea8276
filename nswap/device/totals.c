// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of a node: adding them up.
 *
 * Invariant: nothing here allocates, or waits for what does: devices are found under RCU,
 * not under the node's control lock, which is held while a device is added.
 */
#include <linux/sched.h>

#include "base/views.h"
#include "client/tier.h"
#include "core/device.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "parity.h"
#include "protect.h"
#include "pure/totals.h"
#include "totals.h"

/* all of a device but what is in rows; inside rcu_read_lock() */
static void totals_device(struct nswap_device *dev, u64 *value)
{
	static const u8 where[NSWAP_TIERS] = {
		[NSWAP_TIER_REMOTE] = NSWAP_TOTAL_REMOTE,
		[NSWAP_TIER_FLASH] = NSWAP_TOTAL_FLASH,
		[NSWAP_TIER_HOME] = NSWAP_TOTAL_HOME,
	};
	struct nswap_tier_view v;
	unsigned int tier;

	value[NSWAP_TOTAL_DEVICES]++;
	value[NSWAP_TOTAL_SIZE] += dev->map.nr;
	value[NSWAP_TOTAL_EXPOSED] += nswap_protect_exposed(dev);
	value[NSWAP_TOTAL_LOST] += nswap_slot_count(dev, NSWAP_SLOT_LOST);
	for (tier = 0; tier < NSWAP_TIERS; tier++) {
		nswap_tier_look(dev, tier, &v);
		value[where[tier]] += v.pages;
	}
}

/*
 * Some rows of the first device that has any, from @instance on, which is moved on; false
 * if there is none. Inside rcu_read_lock().
 */
static bool totals_rows(struct nswap_node *node, u32 *instance, u32 *row, u64 *value)
{
	struct nswap_parity *p = NULL;
	struct nswap_device *dev;

	list_for_each_entry_rcu(dev, &node->devices, link) {
		if (nswap_is_cells(dev) || dev->instance < *instance)
			continue;
		p = nswap_parity_of(dev);
		if (p)
			break;
	}
	if (!p)
		return false;
	if (dev->instance != *instance)
		*row = 0;
	*instance = dev->instance;
	*row = nswap_parity_rows(p, *row, NSWAP_ROWS_AT_ONCE,
				 &value[NSWAP_TOTAL_EXPOSED], &value[NSWAP_TOTAL_LOST]);
	if (*row == p->nr_rows)
		++*instance;
	return true;
}

/*
 * Fill in what a node lends, holds and swaps. Context: process, see above; 10 ms for each
 * GiB of devices with parity.
 */
void nswap_totals_look(struct nswap_node *node, struct nswap_totals *t)
{
	struct nswap_cache_view c = {};
	struct nswap_device *dev;
	u32 instance = 0, row = 0;
	struct nswap_stats sum;
	bool more;

	memset(t, 0, sizeof(*t));
	strscpy(t->software, NSWAP_VERSION, sizeof(t->software));
	t->nr = NSWAP_TOTAL_NR;
	nswap_cache_get_view(node, &c);
	t->value[NSWAP_TOTAL_LENT] = c.target;
	t->value[NSWAP_TOTAL_HELD] = c.ram;
	t->value[NSWAP_TOTAL_FREE] = c.free;
	t->value[NSWAP_TOTAL_OWNERS] = c.owners;
	nswap_stats_sum(node->stats, &sum);
	t->value[NSWAP_TOTAL_OUT] = sum.pages_out + sum.pages_flash_out + sum.pages_home_out;
	t->value[NSWAP_TOTAL_IN] = sum.pages_in + sum.pages_flash_in + sum.pages_home_in;
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &node->devices, link)
		if (!nswap_is_cells(dev))
			totals_device(dev, t->value);
	rcu_read_unlock();
	do {
		rcu_read_lock();
		more = totals_rows(node, &instance, &row, t->value);
		rcu_read_unlock();
		cond_resched();
	} while (more && !READ_ONCE(node->going));
}
