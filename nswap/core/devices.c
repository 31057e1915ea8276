// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of a node: naming and finding one, and logging its errors.
 */
#include <linux/rculist.h>

#include "devices.h"
#include "node.h"

/* inside rcu_read_lock(), which keeps the device */
struct nswap_device *nswap_device_find(struct nswap_node *node, u32 instance)
{
	struct nswap_device *dev;

	list_for_each_entry_rcu(dev, &node->devices, link)
		if (dev->instance == instance)
			return dev;
	return NULL;
}

/* the device that the next part is of, visible or of cells; NULL after the last; likewise */
struct nswap_device *nswap_device_part(struct nswap_node *node, struct nswap_device_part *part)
{
	struct nswap_device *dev, *found = NULL;

	list_for_each_entry_rcu(dev, &node->devices, link)
		if (dev->instance >= part->instance &&
		    (!found || dev->instance < found->instance))
			found = dev;
	if (found && found->instance != part->instance)
		*part = (struct nswap_device_part){ .instance = found->instance };
	return found;
}

/* @part has been moved on; was it the last of its device, whose parts end at @end? */
void nswap_device_part_over(struct nswap_device_part *part, u64 end)
{
	if (part->at >= end)
		*part = (struct nswap_device_part){ .instance = part->instance + 1 };
}

/* the next instance number, before any task or peer finds it; the node's control lock is held */
void nswap_device_name(struct nswap_device *dev)
{
	struct nswap_node *node = dev->node;

	dev->instance = ++node->last_instance;
	WRITE_ONCE(node->slots_named, node->slots_named + dev->map.nr);
}

/* the node's control lock is held */
struct nswap_device *nswap_device_named(struct nswap_node *node,
					const char *name)
{
	struct nswap_device *dev;

	list_for_each_entry(dev, &node->devices, link)
		if (!dev->outer && !strcmp(dev->disk->disk_name, name))
			return dev;
	return NULL;
}

/* has any device of a node a key? any context */
bool nswap_device_any_sealed(struct nswap_node *node)
{
	struct nswap_device *dev;
	bool sealed = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &node->devices, link)
		sealed = sealed || dev->sealer;
	rcu_read_unlock();
	return sealed;
}

/**
 * nswap_device_complain() - log a failed read or write of home or flash
 * @dev: device
 * @h: the read or write
 * @then: what that means for its page
 *
 * Rate-limited: not once a page.
 *
 * Context: process; does not sleep, on the page-out path.
 */
void nswap_device_complain(struct nswap_device *dev,
			   const struct nswap_home_io *h, const char *then)
{
	struct nswap_home *home = h->home;

	if (__ratelimit(&home->errors))
		pr_warn("node %u: %s: %s %s: %s sector %llu failed, %s; is the disk failing? (smartctl -a /dev/%s)\n",
			dev->node->number, dev->disk->disk_name, home->what,
			home->name, h->write ? "writing" : "reading",
			h->slot * NSWAP_SECTORS_PER_SLOT, then, home->name);
}
