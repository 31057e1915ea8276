// SPDX-License-Identifier: GPL-2.0
/*
 * Keys, as users give and change them. A secret goes in and never comes out.
 */
#include "core/node.h"
#include "netlink_gen.h"
#include "netlink_keys.h"
#include "peers/peer_table.h"
#include "server/server.h"

static int check_members(const struct nlattr *members, struct netlink_ext_ack *ext)
{
	u32 bytes = nla_len(members);

	if (!bytes || bytes % NSWAP_KEY_BYTES ||
	    bytes / NSWAP_KEY_BYTES > NSWAP_MAX_PEERS + 1) {
		NL_SET_ERR_MSG(ext, "members are 1 to 1024 keys of 32 bytes");
		return -EINVAL;
	}
	return 0;
}

/**
 * nswap_nl_keys_parse() - the keys of a node to be
 * @info: NODE_UP
 * @keys: result; points into the request
 *
 * Context: process context.
 * Return: 1; 0: there are none, and that is meant; -EINVAL.
 */
int nswap_nl_keys_parse(struct genl_info *info, struct nswap_identity_config *keys)
{
	struct nlattr **tb = info->attrs;
	bool half = tb[NSWAP_A_NODE_KEY] || tb[NSWAP_A_MEMBERS];

	if (!tb[NSWAP_A_CLUSTER_KEY]) {
		if (!half && tb[NSWAP_A_OPEN])
			return 0;
		if (half)
			NL_SET_ERR_MSG(info->extack, "a node with a key, or members, needs the key of the cluster as well");
		else
			NL_SET_ERR_MSG(info->extack, "without keys anyone on the subnet can take part: a node comes up with keys, or is told to be open");
		return -EINVAL;
	}
	if (tb[NSWAP_A_OPEN]) {
		NL_SET_ERR_MSG(info->extack, "a node with keys is not open");
		return -EINVAL;
	}
	if (tb[NSWAP_A_MEMBERS] && check_members(tb[NSWAP_A_MEMBERS], info->extack))
		return -EINVAL;
	nla_memcpy(keys->cluster, tb[NSWAP_A_CLUSTER_KEY], sizeof(keys->cluster));
	keys->has_secret = tb[NSWAP_A_NODE_KEY];
	if (keys->has_secret)
		nla_memcpy(keys->secret, tb[NSWAP_A_NODE_KEY], sizeof(keys->secret));
	if (tb[NSWAP_A_MEMBERS]) {
		keys->member = nla_data(tb[NSWAP_A_MEMBERS]);
		keys->nr = nla_len(tb[NSWAP_A_MEMBERS]) / NSWAP_KEY_BYTES;
	}
	return 1;
}

/**
 * nswap_nl_keys_trust() - from now on these are the members
 * @node: node
 * @members: their keys
 * @ext: for a sentence
 *
 * All connections begin again, since each was let in under the old list: those of
 * members are back at once.
 *
 * Context: process, sleeps.
 * Return: 0; -EINVAL, -ENOMEM; -EKEYREJECTED if this node would be none.
 */
int nswap_nl_keys_trust(struct nswap_node *node, const struct nlattr *members,
			struct netlink_ext_ack *ext)
{
	int ret = check_members(members, ext);

	if (ret)
		return ret;
	if (!node->identity) {
		NL_SET_ERR_MSG(ext, "this node is open: take it down, and up again with keys");
		return -EINVAL;
	}
	mutex_lock(&node->control);
	ret = nswap_identity_trust(node->identity, nla_data(members),
				   nla_len(members) / NSWAP_KEY_BYTES);
	mutex_unlock(&node->control);
	if (ret == -EINVAL)
		NL_SET_ERR_MSG(ext, "this node's key is made from the secret of the cluster: all that know it are members");
	if (ret == -EKEYREJECTED)
		NL_SET_ERR_MSG(ext, "this node's own key is not among those of the members");
	if (ret)
		return ret;
	nswap_server_again(node);
	nswap_peers_rebind(node);
	return 0;
}

/* what others may know of them; 0, or -EMSGSIZE */
int nswap_nl_keys_put(struct sk_buff *skb, struct nswap_node *node)
{
	struct nswap_identity *id = node->identity;
	u32 nr;

	if (!id)
		return 0;
	nr = nswap_identity_members(id);
	if (nla_put(skb, NSWAP_NODE_INFO_A_PUBLIC_KEY, sizeof(id->public), id->public) ||
	    (nr && nla_put_u32(skb, NSWAP_NODE_INFO_A_MEMBERS, nr)))
		return -EMSGSIZE;
	return 0;
}
