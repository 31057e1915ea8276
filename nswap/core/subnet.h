/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Subnet: neighbours of a node, by the interface that owns its address, and how
 * to reach all of them at once.
 */
#ifndef NSWAP_SUBNET_H
#define NSWAP_SUBNET_H

#include "base/types.h"

u64 nswap_subnet_join(struct nswap_node *node);
bool nswap_subnet_moved(struct nswap_node *node, struct nswap_addr *addr);
unsigned int nswap_subnet_all(struct nswap_node *node,
			      struct nswap_addr *to, unsigned int max);
bool nswap_subnet_accepts(struct nswap_node *node, const struct nswap_addr *addr, int iface);

#endif
