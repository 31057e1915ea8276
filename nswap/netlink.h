/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink: netlink.c changes things, netlink_get.c shows them,
 * netlink_gen.[ch] are made from docs/netlink/nswap.yaml.
 */
#ifndef NSWAP_NETLINK_H
#define NSWAP_NETLINK_H

#include <net/genetlink.h>

#include "node.h"
#include "views.h"

int nswap_netlink_init(void);
void nswap_netlink_exit(void);

extern struct genl_family nswap_nl_family;

struct nswap_node *nswap_nl_find_node(struct net *net,
				      const struct nlattr *number,
				      struct netlink_ext_ack *ext);
int nswap_nl_put_device(struct sk_buff *skb, const struct nswap_device_view *v);

#endif
