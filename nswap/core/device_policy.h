/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of a device: those set on the device itself, else its node's.
 *
 * A policy is one pointer, read once for each decision, so it can be switched
 * while the device is in use for swap.
 */
#ifndef NSWAP_DEVICE_POLICY_H
#define NSWAP_DEVICE_POLICY_H

#include "device.h"
#include "node.h"

/* the policy of a kind that a device uses */
static inline const struct nswap_policy *
nswap_device_policy(const struct nswap_device *dev, enum nswap_policy_kind kind)
{
	return READ_ONCE((dev->outer ?: dev)->policy[kind]) ?:
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
