/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	docs/netlink/nswap.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/ynl/regen.sh */

#ifndef _LINUX_NSWAP_GEN_H
#define _LINUX_NSWAP_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/nswap.h>

/* Common nested types */
extern const struct nla_policy nswap_addr_nl_policy[NSWAP_ADDR_A_SCOPE + 1];
extern const struct nla_policy nswap_knob_nl_policy[NSWAP_KNOB_A_HELP + 1];
extern const struct nla_policy nswap_policy_nl_policy[NSWAP_POLICY_A_OWN + 1];
extern const struct nla_policy nswap_weight_nl_policy[NSWAP_WEIGHT_A_VALUE + 1];

/* Global operation policy for nswap */
extern const struct nla_policy nswap_nl_policy[NSWAP_A_EARLY_ACK + 1];

/* Ops table for nswap */
extern const struct genl_small_ops nswap_nl_ops[19];

int nswap_nl_node_up_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_node_down_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nswap_nl_node_set_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_device_add_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_device_del_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_device_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int nswap_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nswap_nl_owner_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nswap_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_policy_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int nswap_nl_knob_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nswap_nl_latency_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int nswap_nl_profile_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int nswap_nl_trace_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nswap_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_device_rekey_doit(struct sk_buff *skb, struct genl_info *info);
int nswap_nl_survey_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int nswap_nl_weight_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);

#endif /* _LINUX_NSWAP_GEN_H */
