/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of this node's own cells.
 */
#ifndef NSWAP_MOVED_CELL_H
#define NSWAP_MOVED_CELL_H

#include "pure/wire.h"

struct nswap_device;
struct nswap_node;

bool nswap_moved_begin_cell(struct nswap_device *dev, const struct nswap_wire_page *p,
			    u16 from, u16 to, unsigned long *drop, unsigned int i);
void nswap_moved_end_cell(struct nswap_node *node, const struct nswap_wire_page *p,
			  u16 to);
void nswap_moved_want(struct nswap_node *node, const struct nswap_wire_page *page,
		      u32 nr);

#endif
