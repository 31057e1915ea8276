// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of a node, and of one device: adding them up.
 *
 * Invariants:
 *  - Nothing here allocates, or waits for what does: devices are found under RCU, not under
 *    the node's control lock, which is held while a device is added.
 *  - No section of RCU is longer than a part: a chunk of slots, or some rows.
 */
#include <linux/delay.h>
#include <linux/sched.h>

#include "base/views.h"
#include "client/tier.h"
#include "core/device.h"
#include "core/devices.h"
#include "core/inject.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "parity.h"
#include "protect.h"
#include "pure/totals.h"
#include "totals.h"

#define INJECT_MS	3000

/* all of a device that counters say; inside rcu_read_lock() */
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
	value[NSWAP_TOTAL_LOST] += nswap_slot_count(dev, NSWAP_SLOT_LOST);
	for (tier = 0; tier < NSWAP_TIERS; tier++) {
		nswap_tier_look(dev, tier, &v);
		value[where[tier]] += v.pages;
	}
}

/* exposed pages that are not in rows, a part; false after the last; inside rcu_read_lock() */
static bool totals_exposed(struct nswap_node *node, struct nswap_device_part *part,
			   u64 *value)
{
	struct nswap_device *dev = nswap_device_part(node, part);

	if (!dev)
		return false;
	if (nswap_is_cells(dev))
		part->at = dev->map.nr;
	else
		value[NSWAP_TOTAL_EXPOSED] += nswap_protect_exposed(dev, &part->at);
	nswap_device_part_over(part, dev->map.nr);
	return true;
}

/* what is in rows, likewise */
static bool totals_rows(struct nswap_node *node, struct nswap_device_part *part, u64 *value)
{
	struct nswap_device *dev = nswap_device_part(node, part);
	struct nswap_parity *p;

	if (!dev)
		return false;
	p = nswap_is_cells(dev) ? NULL : nswap_parity_of(dev);
	if (p)
		part->at = nswap_parity_rows(p, part->at, NSWAP_ROWS_AT_ONCE,
					     &value[NSWAP_TOTAL_EXPOSED],
					     &value[NSWAP_TOTAL_LOST]);
	nswap_device_part_over(part, p ? p->nr_rows : 0);
	return true;
}

/* add up part after part, until the node goes down */
static void totals_in_parts(struct nswap_node *node, u64 *value,
			    bool (*add)(struct nswap_node *node, struct nswap_device_part *part,
					u64 *value))
{
	struct nswap_device_part part = {};
	bool more;

	do {
		rcu_read_lock();
		more = add(node, &part, value);
		rcu_read_unlock();
		cond_resched();
	} while (more && !READ_ONCE(node->going));
}

/* exposed pages of a device that are not in rows, from *@at on; false after the last */
static bool count_exposed(struct nswap_device *dev, u64 *at, struct nswap_device_view *v)
{
	v->exposed += nswap_protect_exposed(dev, at);
	return *at < dev->map.nr;
}

/* what is in rows, likewise */
static bool count_rows(struct nswap_device *dev, u64 *at, struct nswap_device_view *v)
{
	struct nswap_parity *p = nswap_parity_of(dev);

	if (p)
		*at = nswap_parity_rows(p, *at, NSWAP_ROWS_AT_ONCE, &v->exposed, &v->lost);
	return p && *at < p->nr_rows;
}

/* part after part, as long as the device is there */
static void count_in_parts(struct nswap_node *node, struct nswap_device_view *v,
			   bool (*count)(struct nswap_device *dev, u64 *at,
					 struct nswap_device_view *v))
{
	struct nswap_device *dev;
	bool more;
	u64 at = 0;

	do {
		rcu_read_lock();
		dev = nswap_device_find(node, v->instance);
		more = dev && count(dev, &at, v);
		rcu_read_unlock();
		cond_resched();
	} while (more);
}

/**
 * nswap_device_count() - count the exposed pages of a device, and those that are lost in rows
 * @node: node
 * @v: view of one of its devices; @exposed and @lost grow
 *
 * Any user may list devices, over and over: no lock is held, and no task waits for it.
 *
 * Context: process, see above; sleeps; 10 ms for each GiB of a device with parity, 5 with a
 * mirror.
 */
void nswap_device_count(struct nswap_node *node, struct nswap_device_view *v)
{
	nswap_inject_look();
	if (nswap_inject_slow_look())
		msleep(INJECT_MS);
	count_in_parts(node, v, count_exposed);
	count_in_parts(node, v, count_rows);
}

/*
 * Fill in what a node lends, holds and swaps. Context: process, see above; sleeps; 10 ms for each
 * GiB of devices with parity, 5 with a mirror.
 */
void nswap_totals_look(struct nswap_node *node, struct nswap_totals *t)
{
	struct nswap_cache_view c = {};
	struct nswap_device *dev;
	struct nswap_stats sum;

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
	totals_in_parts(node, t->value, totals_exposed);
	totals_in_parts(node, t->value, totals_rows);
}
