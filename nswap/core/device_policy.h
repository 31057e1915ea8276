/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of a device: those it has chosen itself, and else its node's.
 *
 * A choice is one word, read once for each decision; so it is switched while
 * the device swaps.
 */
#ifndef NSWAP_DEVICE_POLICY_H
#define NSWAP_DEVICE_POLICY_H

#include "device.h"
#include "node.h"

/* what a device uses */
static inline const struct nswap_policy *
nswap_device_policy(const struct nswap_device *dev, enum nswap_policy_kind kind)
{
	return READ_ONCE(dev->policy[kind]) ?:
	       READ_ONCE(dev->node->policy[kind]);
}

/* the placement policy of a device */
static inline const struct nswap_place_ops *
nswap_device_place(const struct nswap_device *dev)
{
	return container_of(nswap_device_policy(dev, NSWAP_PLACE),
			    struct nswap_place_ops, is);
}

/* the reading policy of a device */
static inline const struct nswap_read_ops *
nswap_device_read(const struct nswap_device *dev)
{
	return container_of(nswap_device_policy(dev, NSWAP_READ),
			    struct nswap_read_ops, is);
}

#endif
