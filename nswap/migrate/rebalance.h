/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rebalancing: a node much fuller than its peers moves pages to them.
 */
#ifndef NSWAP_REBALANCE_H
#define NSWAP_REBALANCE_H

#include <linux/workqueue.h>

#include "policy/policy.h"

struct nswap_node;

void nswap_rebalance_init(struct nswap_node *node);
void nswap_rebalance_stop(struct nswap_node *node);
void nswap_rebalance_now(struct nswap_node *node);
u64 nswap_rebalance_excess(struct nswap_node *node);
void nswap_rebalance_nowhere(struct nswap_node *node);
void nswap_rebalance_look(struct nswap_node *node,
			  struct nswap_balance_view *v);

#endif
