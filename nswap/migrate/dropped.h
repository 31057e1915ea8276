/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of droppable devices that the servers which hold them drop.
 */
#ifndef NSWAP_DROPPED_H
#define NSWAP_DROPPED_H

#include "pure/wire.h"

struct nswap_node;

void nswap_dropped(struct nswap_node *node, u64 server, u64 epoch,
		   const struct nswap_wire_page *page, u32 nr);

#endif
