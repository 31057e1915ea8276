/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nodes that speak another version of the wire protocol: refused, and reported.
 */
#ifndef NSWAP_VERSION_H
#define NSWAP_VERSION_H

#include "base/types.h"

struct nswap_node;

void nswap_version_heard(struct nswap_node *node, const struct nswap_addr *from,
			 u8 version);
void nswap_version_client(struct nswap_node *node,
			  const struct nswap_addr *from, u8 version);
void nswap_version_met(struct nswap_node *node, const struct nswap_addr *at,
		       u8 version);

#endif
