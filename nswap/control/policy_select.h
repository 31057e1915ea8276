/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choosing the policies of a node and its devices.
 */
#ifndef NSWAP_POLICY_SELECT_H
#define NSWAP_POLICY_SELECT_H

#include "core/node.h"

struct netlink_ext_ack;

int nswap_no_such_policy(enum nswap_policy_kind kind,
			 const struct nswap_policy *now,
			 struct netlink_ext_ack *ext);
int nswap_node_set_policy(struct nswap_node *node, const char *device,
			  const char *kind, const char *name,
			  struct netlink_ext_ack *ext);
bool nswap_device_policies(struct nswap_node *node, const char *name,
			   const struct nswap_policy *own[NSWAP_POLICY_KINDS]);

#endif
