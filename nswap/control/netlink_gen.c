// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	docs/netlink/nswap.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/ynl/regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/nswap.h>

/* Common nested types */
const struct nla_policy nswap_addr_nl_policy[NSWAP_ADDR_A_SCOPE + 1] = {
	[NSWAP_ADDR_A_FAMILY] = { .type = NLA_U16, },
	[NSWAP_ADDR_A_IP] = NLA_POLICY_EXACT_LEN(16),
	[NSWAP_ADDR_A_PORT] = { .type = NLA_U16, },
	[NSWAP_ADDR_A_SCOPE] = { .type = NLA_U32, },
};

const struct nla_policy nswap_knob_nl_policy[NSWAP_KNOB_A_HELP + 1] = {
	[NSWAP_KNOB_A_NAME] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_KNOB_A_VALUE] = { .type = NLA_U32, },
	[NSWAP_KNOB_A_LOWEST] = { .type = NLA_U32, },
	[NSWAP_KNOB_A_HIGHEST] = { .type = NLA_U32, },
	[NSWAP_KNOB_A_DEFAULT] = { .type = NLA_U32, },
	[NSWAP_KNOB_A_HELP] = { .type = NLA_NUL_STRING, },
};

const struct nla_policy nswap_policy_nl_policy[NSWAP_POLICY_A_OWN + 1] = {
	[NSWAP_POLICY_A_KIND] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_POLICY_A_NAME] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_POLICY_A_HELP] = { .type = NLA_NUL_STRING, },
	[NSWAP_POLICY_A_CURRENT] = { .type = NLA_FLAG, },
	[NSWAP_POLICY_A_OWN] = { .type = NLA_FLAG, },
};

const struct nla_policy nswap_weight_nl_policy[NSWAP_WEIGHT_A_VALUE + 1] = {
	[NSWAP_WEIGHT_A_ID] = { .type = NLA_U64, },
	[NSWAP_WEIGHT_A_VALUE] = { .type = NLA_U32, },
};

/* Global operation policy for nswap */
const struct nla_policy nswap_nl_policy[NSWAP_A_EARLY_ACK + 1] = {
	[NSWAP_A_NODE] = { .type = NLA_U32, },
	[NSWAP_A_ADDR] = NLA_POLICY_NESTED(nswap_addr_nl_policy),
	[NSWAP_A_LEND_PAGES] = { .type = NLA_U64, },
	[NSWAP_A_CONNS] = { .type = NLA_U32, },
	[NSWAP_A_NO_BROADCAST] = { .type = NLA_FLAG, },
	[NSWAP_A_LISTED] = NLA_POLICY_NESTED(nswap_addr_nl_policy),
	[NSWAP_A_PLACE] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_KNOB] = NLA_POLICY_NESTED(nswap_knob_nl_policy),
	[NSWAP_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_SIZE] = { .type = NLA_U64, },
	[NSWAP_A_NOW] = { .type = NLA_FLAG, },
	[NSWAP_A_POLICY] = NLA_POLICY_NESTED(nswap_policy_nl_policy),
	[NSWAP_A_HOME] = { .type = NLA_NUL_STRING, .len = 4095, },
	[NSWAP_A_SIZE_POLICY] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_FLASH] = { .type = NLA_STRING, .len = 4095, },
	[NSWAP_A_PROFILE_RESET] = { .type = NLA_FLAG, },
	[NSWAP_A_TRACE_AFTER] = { .type = NLA_U64, },
	[NSWAP_A_PROTECT] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_CLASS] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_RESERVE] = { .type = NLA_U64, },
	[NSWAP_A_CLUSTER_KEY] = NLA_POLICY_EXACT_LEN(32),
	[NSWAP_A_NODE_KEY] = NLA_POLICY_EXACT_LEN(32),
	[NSWAP_A_MEMBERS] = { .type = NLA_BINARY, },
	[NSWAP_A_SEAL] = { .type = NLA_U8, },
	[NSWAP_A_OPEN] = { .type = NLA_FLAG, },
	[NSWAP_A_REBOOT] = { .type = NLA_FLAG, },
	[NSWAP_A_WEIGHT] = NLA_POLICY_NESTED(nswap_weight_nl_policy),
	[NSWAP_A_COMPRESS] = { .type = NLA_NUL_STRING, .len = 255, },
	[NSWAP_A_CACHE] = { .type = NLA_U64, },
	[NSWAP_A_EARLY_ACK] = { .type = NLA_FLAG, },
};

/* Ops table for nswap */
const struct genl_small_ops nswap_nl_ops[19] = {
	{
		.cmd	= NSWAP_CMD_NODE_UP,
		.doit	= nswap_nl_node_up_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_NODE_DOWN,
		.doit	= nswap_nl_node_down_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_NODE_GET,
		.doit	= nswap_nl_node_get_doit,
		.dumpit	= nswap_nl_node_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_NODE_SET,
		.doit	= nswap_nl_node_set_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_DEVICE_ADD,
		.doit	= nswap_nl_device_add_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_DEVICE_DEL,
		.doit	= nswap_nl_device_del_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_DEVICE_GET,
		.dumpit	= nswap_nl_device_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_PEER_GET,
		.dumpit	= nswap_nl_peer_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_OWNER_GET,
		.dumpit	= nswap_nl_owner_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_STAT_GET,
		.doit	= nswap_nl_stat_get_doit,
	},
	{
		.cmd	= NSWAP_CMD_POLICY_GET,
		.dumpit	= nswap_nl_policy_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_KNOB_GET,
		.dumpit	= nswap_nl_knob_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_LATENCY_GET,
		.dumpit	= nswap_nl_latency_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_PROFILE_GET,
		.dumpit	= nswap_nl_profile_get_dumpit,
	},
	{
		.cmd	= NSWAP_CMD_TRACE_GET,
		.dumpit	= nswap_nl_trace_get_dumpit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_DEVICE_SET,
		.doit	= nswap_nl_device_set_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_DEVICE_REKEY,
		.doit	= nswap_nl_device_rekey_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_SURVEY_GET,
		.dumpit	= nswap_nl_survey_get_dumpit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= NSWAP_CMD_WEIGHT_GET,
		.dumpit	= nswap_nl_weight_get_dumpit,
	},
};
