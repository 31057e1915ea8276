/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink: netlink.c has the requests that change something, netlink_get.c
 * those that show something, netlink_put.c encodes attributes,
 * netlink_gen.[ch] are generated from docs/netlink/nswap.yaml.
 */
#ifndef NSWAP_NETLINK_H
#define NSWAP_NETLINK_H

#include <net/genetlink.h>

#include "base/views.h"
#include "knobs.h"

int nswap_netlink_init(void);
void nswap_netlink_exit(void);

extern struct genl_family nswap_nl_family;

struct genl_info;
struct nswap_totals;

int nswap_nl_may(struct sk_buff *skb, struct genl_info *info);
struct nswap_node *nswap_nl_node_of(struct genl_info *info);
struct nswap_node *nswap_nl_find_node(struct net *net,
				      const struct nlattr *number,
				      struct netlink_ext_ack *ext);

int nswap_nl_put_node(struct sk_buff *skb, struct nswap_node *node);
int nswap_nl_put_device(struct sk_buff *skb, const struct nswap_device_view *v);
int nswap_nl_put_peer(struct sk_buff *skb, const struct nswap_peer_view *v);
int nswap_nl_put_owner(struct sk_buff *skb, const struct nswap_owner_view *v);
int nswap_nl_put_weight(struct sk_buff *skb, const struct nswap_weight_view *v);
int nswap_nl_put_policy(struct sk_buff *skb, enum nswap_policy_kind kind,
			const struct nswap_policy *p, bool current_one, bool own);
int nswap_nl_put_knob(struct sk_buff *skb, const struct nswap_knob *k,
		      u32 value);
int nswap_nl_put_latency(struct sk_buff *skb,
			 const struct nswap_latency_view *v);
int nswap_nl_put_profile(struct sk_buff *skb,
			 const struct nswap_profile_view *v);
int nswap_nl_put_trace(struct sk_buff *skb, const struct nswap_trace_view *v);
int nswap_nl_put_totals(struct sk_buff *skb, const struct nswap_totals *t);
int nswap_nl_put_why(struct sk_buff *skb, const char *why);
int nswap_nl_put_stats(struct sk_buff *skb, struct nswap_node *node);

#endif
