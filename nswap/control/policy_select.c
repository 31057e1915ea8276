// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of a node: choosing one by its name.
 *
 * Invariant: a policy is a constant table that is never freed, so who reads the
 * pointer once may use it for as long as it likes; a change counts from the
 * next decision on. Changes come one after another, under the node's control
 * lock.
 */
#include "core/node.h"
#include "policy/policy.h"
#include "policy_select.h"
#include "prefetch/prefetch.h"
#include "server/cache.h"
#include "server/cache_size.h"
#include "server/sizing.h"
#include "tiering/prefetcher.h"

/**
 * nswap_node_set_place() - change the placement policy
 * @node: node
 * @name: its name
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOENT.
 */
int nswap_node_set_place(struct nswap_node *node, const char *name,
			 struct netlink_ext_ack *ext)
{
	const struct nswap_place_ops *ops = nswap_place_find(name);
	char names[NSWAP_POLICY_LIST];

	if (!ops) {
		NL_SET_ERR_MSG_FMT(ext, "placement policies are: %s",
				   nswap_place_names(READ_ONCE(node->place),
						     names, sizeof(names)));
		return -ENOENT;
	}
	mutex_lock(&node->control);
	WRITE_ONCE(node->place, ops);
	mutex_unlock(&node->control);
	return 0;
}

/**
 * nswap_node_no_such_size() - say which size policies there are
 * @current_one: the one in use, NULL for none
 * @ext: for one clear sentence
 *
 * Context: any.
 * Return: -ENOENT.
 */
int nswap_node_no_such_size(const struct nswap_size_ops *current_one,
			    struct netlink_ext_ack *ext)
{
	char names[NSWAP_POLICY_LIST];

	NL_SET_ERR_MSG_FMT(ext, "size policies are: %s",
			   nswap_size_names(current_one, names, sizeof(names)));
	return -ENOENT;
}

/**
 * nswap_node_set_size() - change the size policy
 * @node: node
 * @name: its name
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOENT.
 */
int nswap_node_set_size(struct nswap_node *node, const char *name,
			struct netlink_ext_ack *ext)
{
	const struct nswap_size_ops *ops = nswap_size_find(name);

	if (!ops)
		return nswap_node_no_such_size(READ_ONCE(node->size), ext);
	mutex_lock(&node->control);
	WRITE_ONCE(node->size, ops);
	nswap_cache_adapt(node->cache, ops->adaptive);
	nswap_sizing_now(node);
	mutex_unlock(&node->control);
	return 0;
}

/**
 * nswap_node_set_read() - change the reading policy
 * @node: node
 * @name: its name
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOENT.
 */
int nswap_node_set_read(struct nswap_node *node, const char *name,
			struct netlink_ext_ack *ext)
{
	const struct nswap_read_ops *ops = nswap_read_find(name);
	char names[NSWAP_POLICY_LIST];

	if (!ops) {
		NL_SET_ERR_MSG_FMT(ext, "reading policies are: %s",
				   nswap_read_names(READ_ONCE(node->read),
						    names, sizeof(names)));
		return -ENOENT;
	}
	mutex_lock(&node->control);
	WRITE_ONCE(node->read, ops);
	mutex_unlock(&node->control);
	return 0;
}

static int no_such_prefetch(struct nswap_node *node, unsigned int kind,
			    struct netlink_ext_ack *ext)
{
	char ways[NSWAP_PREFETCH_WAYS], names[NSWAP_PREFETCH_LIST];

	if (kind == NSWAP_PREFETCH_FROM || kind == NSWAP_PREFETCH_TO)
		NL_SET_ERR_MSG_FMT(ext, "prefetch goes from %s: set from, to follows",
				   nswap_prefetch_ways(ways, sizeof(ways)));
	else
		NL_SET_ERR_MSG_FMT(ext, "prefetch %s is one of: %s",
				   nswap_prefetch_kind_name(kind),
				   nswap_prefetch_names(kind, READ_ONCE(node->prefetch[kind]),
							names, sizeof(names)));
	return -EINVAL;
}

/* from says where to; so to can be set to what it is, and to nothing else */
static int policy_choose(struct nswap_node *node, unsigned int kind,
			 const struct nswap_prefetch_choice *choice,
			 struct netlink_ext_ack *ext)
{
	if (kind == NSWAP_PREFETCH_TO && choice != node->prefetch[kind])
		return no_such_prefetch(node, kind, ext);
	WRITE_ONCE(node->prefetch[kind], choice);
	if (kind == NSWAP_PREFETCH_FROM)
		WRITE_ONCE(node->prefetch[NSWAP_PREFETCH_TO],
			   nswap_prefetch_to_of(choice));
	if (kind == NSWAP_PREFETCH_ENABLE)
		nswap_prefetchers_kick(node);
	return 0;
}

/**
 * nswap_node_set_prefetch() - change what prefetchers do
 * @node: node
 * @kind: name of what is to be chosen
 * @name: name of the choice
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -EINVAL.
 */
int nswap_node_set_prefetch(struct nswap_node *node, const char *kind,
			    const char *name, struct netlink_ext_ack *ext)
{
	int k = nswap_prefetch_kind_find(kind);
	const struct nswap_prefetch_choice *choice;
	int ret;

	if (k < 0) {
		NL_SET_ERR_MSG(ext, "prefetch knows: enable period_ms pct when count which from to after");
		return -EINVAL;
	}
	choice = nswap_prefetch_find(k, name);
	if (!choice)
		return no_such_prefetch(node, k, ext);
	mutex_lock(&node->control);
	ret = policy_choose(node, k, choice, ext);
	mutex_unlock(&node->control);
	return ret;
}
