/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of this node's own pages, brought about by the servers that hold them.
 */
#ifndef NSWAP_MOVED_H
#define NSWAP_MOVED_H

#include "wire.h"

int nswap_moved_init(struct nswap_peer *peer);
unsigned long nswap_moved(struct nswap_node *node, u64 mover, u64 mover_epoch,
			  const struct nswap_wire_node *to,
			  const struct nswap_wire_page *page, u32 nr);

#endif
