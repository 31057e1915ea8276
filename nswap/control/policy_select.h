/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choosing the policies of a node.
 */
#ifndef NSWAP_POLICY_SELECT_H
#define NSWAP_POLICY_SELECT_H

#include "core/node.h"

struct netlink_ext_ack;

int nswap_node_no_such_size(const struct nswap_size_ops *current_one,
			    struct netlink_ext_ack *ext);
int nswap_node_set_place(struct nswap_node *node, const char *name,
			 struct netlink_ext_ack *ext);
int nswap_node_set_read(struct nswap_node *node, const char *name,
			struct netlink_ext_ack *ext);
int nswap_node_set_prefetch(struct nswap_node *node, const char *kind,
			    const char *name, struct netlink_ext_ack *ext);
int nswap_node_set_size(struct nswap_node *node, const char *name,
			struct netlink_ext_ack *ext);

#endif
