/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys, as users give and change them.
 */
#ifndef NSWAP_NETLINK_KEYS_H
#define NSWAP_NETLINK_KEYS_H

#include <net/genetlink.h>

#include "keys/identity.h"

struct nswap_node;

int nswap_nl_keys_parse(struct genl_info *info, struct nswap_identity_config *keys);
int nswap_nl_keys_trust(struct nswap_node *node, const struct nlattr *members,
			struct netlink_ext_ack *ext);
int nswap_nl_keys_put(struct sk_buff *skb, struct nswap_node *node);

#endif
