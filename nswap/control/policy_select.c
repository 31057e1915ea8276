// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of a node and its devices: choosing one by name.
 *
 * Invariant: a policy is a constant table that is never freed, so a pointer read once
 * stays valid; a change takes effect with the next decision. Changes are serialised by
 * the node's control lock.
 */
#include "core/devices.h"
#include "policy_select.h"
#include "server/cache.h"
#include "server/sizing.h"
#include "tiering/prefetcher.h"

/*
 * List the policies in the error message, the one in use, @now or NULL, in brackets.
 * Returns -ENOENT, for prefetch -EINVAL.
 */
int nswap_no_such_policy(enum nswap_policy_kind kind,
			 const struct nswap_policy *now,
			 struct netlink_ext_ack *ext)
{
	char names[NSWAP_POLICY_LIST];

	NL_SET_ERR_MSG_FMT(ext, "one of: %s",
			   nswap_policy_names(kind, now, names, sizeof(names)));
	return kind < NSWAP_PREFETCH_ENABLE ? -ENOENT : -EINVAL;
}

static int policy_no_kind(const char *name, struct netlink_ext_ack *ext)
{
	if (str_has_prefix(name, NSWAP_POLICY_PREFETCH)) {
		NL_SET_ERR_MSG(ext, "prefetch knows: enable period_ms pct when count which from to after");
		return -EINVAL;
	}
	NL_SET_ERR_MSG(ext, "kinds of policies are: place size read, and those of prefetch");
	return -ENOENT;
}

/*
 * "from" and "to" are chosen together: a new "from" brings its first "to", and a "to"
 * is refused that is no other tier than "from". A device has both of its own, or neither;
 * @policy NULL: its "to" is the first of its "from".
 */
static int policy_choose_to(const struct nswap_policy **of,
			    const struct nswap_policy *from,
			    const struct nswap_policy *policy,
			    struct netlink_ext_ack *ext)
{
	if (!policy && !of[NSWAP_PREFETCH_FROM])
		return 0;
	policy = policy ?: nswap_prefetch_to_of(from);
	if (nswap_prefetch_way(from, policy) < 0) {
		NL_SET_ERR_MSG_FMT(ext, "from %s pages can go to %s",
				   from->name, nswap_prefetch_to_names(from));
		return -EINVAL;
	}
	WRITE_ONCE(of[NSWAP_PREFETCH_FROM], from);
	WRITE_ONCE(of[NSWAP_PREFETCH_TO], policy);
	return 0;
}

/* @dev: device, or NULL for the node; @policy: NULL to follow the node */
static int policy_choose(struct nswap_node *node, struct nswap_device *dev,
			 enum nswap_policy_kind kind,
			 const struct nswap_policy *policy,
			 struct netlink_ext_ack *ext)
{
	const struct nswap_policy **of = dev ? dev->policy : node->policy;
	int ret;

	if (kind == NSWAP_PREFETCH_TO) {
		ret = policy_choose_to(of, of[NSWAP_PREFETCH_FROM] ?:
				       node->policy[NSWAP_PREFETCH_FROM], policy, ext);
		if (ret)
			return ret;
	} else {
		WRITE_ONCE(of[kind], policy);
	}
	if (kind == NSWAP_PREFETCH_FROM)
		WRITE_ONCE(of[NSWAP_PREFETCH_TO],
			   policy ? nswap_prefetch_to_of(policy) : NULL);
	if (kind == NSWAP_PREFETCH_ENABLE || kind == NSWAP_PREFETCH_FROM ||
	    kind == NSWAP_PREFETCH_TO) {
		if (dev)
			nswap_prefetcher_start(dev);
		else
			nswap_prefetchers_kick(node);
	}
	if (kind == NSWAP_SIZE) {
		nswap_cache_adapt(node->cache, nswap_node_size(node)->adaptive);
		nswap_sizing_now(node);
	}
	return 0;
}

static int policy_set(struct nswap_node *node, const char *device,
		      enum nswap_policy_kind kind,
		      const struct nswap_policy *policy,
		      struct netlink_ext_ack *ext)
{
	struct nswap_device *dev = NULL;

	if (device) {
		dev = nswap_device_named(node, device);
		if (!dev) {
			NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
			return -ENODEV;
		}
		if (kind == NSWAP_SIZE) {
			NL_SET_ERR_MSG(ext, "what lends is the node, a device has no size policy");
			return -EINVAL;
		}
	}
	return policy_choose(node, dev, kind, policy, ext);
}

/**
 * nswap_node_set_policy() - change a policy
 * @node: node
 * @device: device to change; NULL for the node, and thereby all devices without a
 *	policy of their own
 * @kind: kind of policy
 * @name: its name; for a device NSWAP_POLICY_FOLLOW: the node's policy
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0; -ENOENT, for prefetch -EINVAL: there is no such kind or policy;
 * -ENODEV: there is no such device; -EINVAL: conflicts with other settings.
 */
int nswap_node_set_policy(struct nswap_node *node, const char *device,
			  const char *kind, const char *name,
			  struct netlink_ext_ack *ext)
{
	int ret, k = nswap_policy_kind(kind);
	const struct nswap_policy *policy;

	if (k < 0)
		return policy_no_kind(kind, ext);
	policy = nswap_policy_find(k, name);
	if (!policy && !(device && !strcmp(name, NSWAP_POLICY_FOLLOW)))
		return nswap_no_such_policy(k, READ_ONCE(node->policy[k]), ext);
	mutex_lock(&node->control);
	ret = policy_set(node, device, k, policy, ext);
	mutex_unlock(&node->control);
	return ret;
}

/**
 * nswap_device_policies() - what is set on a device itself
 * @node: node
 * @name: the device, as in /dev
 * @own: result, of each kind; NULL where it follows its node
 *
 * Nothing else of the device is looked at, however large it is.
 *
 * Context: process, sleeps.
 * Return: false if there is no such device.
 */
bool nswap_device_policies(struct nswap_node *node, const char *name,
			   const struct nswap_policy *own[NSWAP_POLICY_KINDS])
{
	const struct nswap_device *dev;

	mutex_lock(&node->control);
	dev = nswap_device_named(node, name);
	if (dev)
		memcpy(own, dev->policy, sizeof(dev->policy));
	mutex_unlock(&node->control);
	return dev;
}
