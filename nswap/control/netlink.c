// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the family, and the requests that change something.
 *
 * Invariants: a request is checked as a whole before anything is done, so one
 * that is refused has changed nothing; every refusal carries one sentence.
 * Permissions are checked by the genetlink core: requests that change something are
 * marked admin-perm in the spec, that is CAP_NET_ADMIN in the initial user namespace;
 * those that may set RAM aside ask for CAP_SYS_ADMIN there as well (nswap_nl_may()): a
 * container may have the first one for its interfaces.
 * A node is found by the caller's network namespace, or by its number: the initial
 * namespace may name any node, others only their own.
 *
 * Handlers run in process context, several at a time (parallel_ops), and take
 * no lock: the functions they call serialise on the node.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "core/nodes.h"
#include "lifecycle.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "netlink_keys.h"
#include "policy_select.h"
#include "server/weights.h"

static_assert(NSWAP_DEFAULT_PORT == NSWAP_PORT);

struct genl_family nswap_nl_family __ro_after_init = {
	.name		= NSWAP_FAMILY_NAME,
	.version	= NSWAP_FAMILY_VERSION,
	.maxattr	= ARRAY_SIZE(nswap_nl_policy) - 1,
	.policy		= nswap_nl_policy,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.small_ops	= nswap_nl_ops,
	.n_small_ops	= ARRAY_SIZE(nswap_nl_ops),
};

/*
 * Find the node of a request; @net: namespace of the caller; @number: NSWAP_A_NODE or
 * NULL. Returns the node, to be put by the caller; ERR_PTR(-ENODEV) if there is none
 * visible to the caller.
 */
struct nswap_node *nswap_nl_find_node(struct net *net,
				      const struct nlattr *number,
				      struct netlink_ext_ack *ext)
{
	struct nswap_node *node;

	if (!number) {
		node = nswap_node_get(net);
		if (node)
			return node;
		NL_SET_ERR_MSG(ext, "no node is up in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	node = nswap_node_get_number(nla_get_u32(number));
	if (node && (net_eq(net, node->net) || net_eq(net, &init_net)))
		return node;
	if (node)
		nswap_node_put(node);
	NL_SET_ERR_MSG(ext, "no node of that number can be seen from here");
	return ERR_PTR(-ENODEV);
}

/**
 * nswap_nl_may() - may the sender set RAM of the machine aside?
 * @skb: its request
 * @info: the same, parsed
 *
 * Context: process context, a handler.
 * Return: 0, or -EPERM, with a sentence.
 */
int nswap_nl_may(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack, "this needs CAP_SYS_ADMIN in the initial user namespace (run it as root of the host)");
	return -EPERM;
}

struct nswap_node *nswap_nl_node_of(struct genl_info *info)
{
	return nswap_nl_find_node(genl_info_net(info),
				  info->attrs[NSWAP_A_NODE], info->extack);
}

static int parse_addr(const struct nlattr *nest, struct nswap_addr *addr,
		      struct netlink_ext_ack *ext)
{
	struct nlattr *tb[NSWAP_ADDR_A_MAX + 1];
	int err;

	err = nla_parse_nested(tb, ARRAY_SIZE(nswap_addr_nl_policy) - 1, nest,
			       nswap_addr_nl_policy, ext);
	if (err)
		return err;
	if (!tb[NSWAP_ADDR_A_FAMILY] || !tb[NSWAP_ADDR_A_IP]) {
		NL_SET_ERR_MSG(ext, "an address needs a family and 16 bytes");
		return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	addr->family = nla_get_u16(tb[NSWAP_ADDR_A_FAMILY]);
	memcpy(addr->ip, nla_data(tb[NSWAP_ADDR_A_IP]), sizeof(addr->ip));
	if (tb[NSWAP_ADDR_A_PORT])
		addr->port = nla_get_u16(tb[NSWAP_ADDR_A_PORT]);
	if (tb[NSWAP_ADDR_A_SCOPE])
		addr->scope = nla_get_u32(tb[NSWAP_ADDR_A_SCOPE]);
	if (addr->family != AF_INET && addr->family != AF_INET6) {
		NL_SET_ERR_MSG(ext, "an address is IPv4 or IPv6");
		return -EAFNOSUPPORT;
	}
	if (addr->family == AF_INET &&
	    (memchr_inv(addr->ip + 4, 0, sizeof(addr->ip) - 4) ||
	     addr->scope)) {
		NL_SET_ERR_MSG(ext, "an IPv4 address is 4 bytes, then zeros");
		return -EINVAL;
	}
	return 0;
}

/* name and value of a knob; the netlink policy has checked that the name ends in NUL */
static int parse_knob(const struct nlattr *nest, const char **name, u32 *value,
		      struct netlink_ext_ack *ext)
{
	struct nlattr *tb[NSWAP_KNOB_A_MAX + 1];
	int err;

	err = nla_parse_nested(tb, ARRAY_SIZE(nswap_knob_nl_policy) - 1, nest,
			       nswap_knob_nl_policy, ext);
	if (err)
		return err;
	if (!tb[NSWAP_KNOB_A_NAME] || !tb[NSWAP_KNOB_A_VALUE]) {
		NL_SET_ERR_MSG(ext, "a knob needs a name and a value");
		return -EINVAL;
	}
	*name = nla_data(tb[NSWAP_KNOB_A_NAME]);
	*value = nla_get_u32(tb[NSWAP_KNOB_A_VALUE]);
	return 0;
}

static int set_initial_knob(const struct nlattr *nest,
			    struct nswap_knobs *knobs,
			    struct netlink_ext_ack *ext)
{
	const struct nswap_knob *k;
	const char *name;
	u32 value;
	int err;

	err = parse_knob(nest, &name, &value, ext);
	if (err)
		return err;
	k = nswap_knob_find(name, value, ext);
	if (IS_ERR(k))
		return PTR_ERR(k);
	*nswap_knob_at(knobs, k) = value;
	return 0;
}

/* attributes that may occur more than once in a request */
static int parse_lists(struct genl_info *info, struct nswap_node_config *cfg)
{
	const struct nlattr *a;
	int rem, err = 0;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		switch (nla_type(a)) {
		case NSWAP_A_LISTED:
			err = parse_addr(a, &cfg->peers[cfg->nr_peers],
					 info->extack);
			cfg->nr_peers++;
			break;
		case NSWAP_A_KNOB:
			err = set_initial_knob(a, &cfg->knobs, info->extack);
			break;
		}
		if (err)
			return err;
	}
	return 0;
}

static int alloc_listed(struct genl_info *info, struct nswap_node_config *cfg)
{
	const struct nlattr *a;
	unsigned int nr = 0;
	int rem;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		nr += nla_type(a) == NSWAP_A_LISTED;
	if (!nr)
		return 0;
	if (nr > NSWAP_MAX_PEERS) {
		NL_SET_ERR_MSG(info->extack, "a node knows 1023 peers at most");
		return -E2BIG;
	}
	cfg->peers = kvcalloc(nr, sizeof(*cfg->peers), GFP_KERNEL);
	return cfg->peers ? 0 : -ENOMEM;
}

/* a request stays in memory after it has been answered, and a refusal repeats it */
static void forget_keys(struct genl_info *info)
{
	struct nlattr *a;
	int rem;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(a) == NSWAP_A_CLUSTER_KEY ||
		    nla_type(a) == NSWAP_A_NODE_KEY)
			memzero_explicit(nla_data(a), nla_len(a));
}

static int node_up(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	struct nswap_node_config cfg = {
		.broadcast = !tb[NSWAP_A_NO_BROADCAST],
	};
	struct nswap_identity_config keys = {};
	int err = nswap_nl_may(skb, info);

	if (err)
		return err;
	nswap_knobs_default(&cfg.knobs);
	if (!tb[NSWAP_A_ADDR]) {
		NL_SET_ERR_MSG(info->extack, "a node needs an address");
		return -EINVAL;
	}
	err = parse_addr(tb[NSWAP_A_ADDR], &cfg.addr, info->extack);
	if (err)
		return err;
	if (tb[NSWAP_A_LEND_PAGES])
		cfg.lend_pages = nla_get_u64(tb[NSWAP_A_LEND_PAGES]);
	if (tb[NSWAP_A_CONNS])
		cfg.conns = nla_get_u32(tb[NSWAP_A_CONNS]);
	if (tb[NSWAP_A_SIZE_POLICY])
		cfg.size = nla_data(tb[NSWAP_A_SIZE_POLICY]);
	err = alloc_listed(info, &cfg);
	if (err)
		return err;
	err = parse_lists(info, &cfg);
	if (!err)
		err = nswap_nl_keys_parse(info, &keys);
	if (err > 0)
		cfg.keys = &keys;
	if (err >= 0)
		err = nswap_node_up(genl_info_net(info), &cfg, info->extack);
	memzero_explicit(&keys, sizeof(keys));
	kvfree(cfg.peers);
	return err;
}

/*
 * NSWAP_CMD_NODE_UP. Context: process context. Returns 0; -EPERM; -EINVAL, -E2BIG,
 * -ENOENT or -ERANGE for a bad request; what nswap_node_up() returns.
 */
int nswap_nl_node_up_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = node_up(skb, info);

	forget_keys(info);
	return err;
}

/*
 * NSWAP_CMD_NODE_DOWN. Context: process context; waits until the node is down. Returns
 * 0; -ENODEV if there is no such node; what nswap_node_down() returns.
 */
int nswap_nl_node_down_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nswap_node *node = nswap_nl_node_of(info);
	int err;

	if (IS_ERR(node))
		return PTR_ERR(node);
	err = nswap_node_down(node, info->attrs[NSWAP_A_NOW],
			      info->attrs[NSWAP_A_REBOOT], info->extack);
	nswap_node_put(node);
	return err;
}

static int set_policy(struct nswap_node *node, const char *device,
		      const struct nlattr *nest, struct netlink_ext_ack *ext)
{
	struct nlattr *tb[NSWAP_POLICY_A_MAX + 1];
	int err;

	err = nla_parse_nested(tb, ARRAY_SIZE(nswap_policy_nl_policy) - 1, nest,
			       nswap_policy_nl_policy, ext);
	if (err)
		return err;
	if (!tb[NSWAP_POLICY_A_KIND] || !tb[NSWAP_POLICY_A_NAME]) {
		NL_SET_ERR_MSG(ext, "a policy needs a kind and a name");
		return -EINVAL;
	}
	return nswap_node_set_policy(node, device,
				     nla_data(tb[NSWAP_POLICY_A_KIND]),
				     nla_data(tb[NSWAP_POLICY_A_NAME]), ext);
}

static int set_weight(struct nswap_node *node, const struct nlattr *nest,
		      struct netlink_ext_ack *ext)
{
	struct nlattr *tb[NSWAP_WEIGHT_A_MAX + 1];
	u64 id;
	u32 weight;
	int err;

	err = nla_parse_nested(tb, ARRAY_SIZE(nswap_weight_nl_policy) - 1, nest,
			       nswap_weight_nl_policy, ext);
	if (err)
		return err;
	if (!tb[NSWAP_WEIGHT_A_ID] || !tb[NSWAP_WEIGHT_A_VALUE]) {
		NL_SET_ERR_MSG(ext, "a weight needs the node id of an owner and a value");
		return -EINVAL;
	}
	id = nla_get_u64(tb[NSWAP_WEIGHT_A_ID]);
	weight = nla_get_u32(tb[NSWAP_WEIGHT_A_VALUE]);
	if (!id) {
		NL_SET_ERR_MSG(ext, "no node has the id 0");
		return -EINVAL;
	}
	if (weight < NSWAP_WEIGHT_LEAST || weight > NSWAP_WEIGHT_MOST) {
		NL_SET_ERR_MSG_FMT(ext, "a weight must be between %u and %u",
				   NSWAP_WEIGHT_LEAST, NSWAP_WEIGHT_MOST);
		return -ERANGE;
	}
	/* nodes may share one file of weights: its own means nothing */
	err = id == node->id ? 0 : nswap_weight_set(node, id, weight);
	if (err == -ENOSPC)
		NL_SET_ERR_MSG_FMT(ext, "a node keeps %u weights at most, see: nswapctl weight",
				   NSWAP_MAX_PEERS);
	return err;
}

static int set_one(struct nswap_node *node, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	const char *name, *device = NULL;
	u32 value;
	int err;

	if (tb[NSWAP_A_DEVICE_NAME])
		device = nla_data(tb[NSWAP_A_DEVICE_NAME]);
	if (device && (tb[NSWAP_A_LEND_PAGES] || tb[NSWAP_A_KNOB] || tb[NSWAP_A_WEIGHT])) {
		NL_SET_ERR_MSG(info->extack, "this is the node's: only policies and the profile are a device's");
		return -EINVAL;
	}
	if (tb[NSWAP_A_LEND_PAGES])
		return nswap_node_lend(node,
				       nla_get_u64(tb[NSWAP_A_LEND_PAGES]),
				       info->extack);
	if (tb[NSWAP_A_PLACE])
		return nswap_node_set_policy(node, device, "place",
					     nla_data(tb[NSWAP_A_PLACE]),
					     info->extack);
	if (tb[NSWAP_A_PROFILE_RESET]) {
		err = nswap_profile_reset(node, device);
		if (err)
			NL_SET_ERR_MSG(info->extack, "this node has no such device, see: nswapctl device list");
		return err;
	}
	if (tb[NSWAP_A_SIZE_POLICY])
		return nswap_node_set_policy(node, device, "size",
					     nla_data(tb[NSWAP_A_SIZE_POLICY]),
					     info->extack);
	if (tb[NSWAP_A_POLICY])
		return set_policy(node, device, tb[NSWAP_A_POLICY],
				  info->extack);
	if (tb[NSWAP_A_MEMBERS])
		return nswap_nl_keys_trust(node, tb[NSWAP_A_MEMBERS], info->extack);
	if (tb[NSWAP_A_WEIGHT])
		return set_weight(node, tb[NSWAP_A_WEIGHT], info->extack);
	err = parse_knob(tb[NSWAP_A_KNOB], &name, &value, info->extack);
	if (err)
		return err;
	return nswap_node_set_knob(node, name, value, info->extack);
}

/*
 * NSWAP_CMD_NODE_SET. One thing at a time, so that a refusal leaves nothing half done.
 * Context: process context. Returns 0; -EPERM; -ENODEV if there is no such node; -EINVAL if
 * not exactly one thing is to be changed; what the function of that thing returns.
 */
int nswap_nl_node_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nswap_node *node;
	const struct nlattr *a;
	int rem, err = nswap_nl_may(skb, info);
	unsigned int nr = 0;

	if (err)
		return err;
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		nr += nla_type(a) == NSWAP_A_LEND_PAGES ||
		      nla_type(a) == NSWAP_A_PLACE ||
		      nla_type(a) == NSWAP_A_SIZE_POLICY ||
		      nla_type(a) == NSWAP_A_PROFILE_RESET ||
		      nla_type(a) == NSWAP_A_POLICY ||
		      nla_type(a) == NSWAP_A_MEMBERS ||
		      nla_type(a) == NSWAP_A_WEIGHT ||
		      nla_type(a) == NSWAP_A_KNOB;
	if (nr != 1) {
		NL_SET_ERR_MSG(info->extack, "one request changes exactly one thing");
		return -EINVAL;
	}
	node = nswap_nl_node_of(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	err = set_one(node, info);
	nswap_node_put(node);
	return err;
}

/*
 * Register the family; process, at module load, after everything that handlers use.
 */
int __init nswap_netlink_init(void)
{
	return genl_register_family(&nswap_nl_family);
}

/*
 * Unregister it; no handler runs afterwards. Process, before anything that handlers
 * use is gone.
 */
void nswap_netlink_exit(void)
{
	genl_unregister_family(&nswap_nl_family);
}
