/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of this node's own pages, initiated by the servers that hold them.
 */
#ifndef NSWAP_MOVED_H
#define NSWAP_MOVED_H

#include "pure/wire.h"

struct nswap_device;
struct nswap_node;
struct nswap_peer;

int nswap_moved_init(struct nswap_peer *peer);
unsigned long nswap_moved(struct nswap_node *node, u64 mover, u64 mover_epoch,
			  const struct nswap_wire_node *to,
			  const struct nswap_wire_page *page, u32 nr);

/* for returned.c as well */
struct nswap_peer *nswap_moved_peer(struct nswap_node *node, u64 id, u64 epoch);
bool nswap_moved_go(struct nswap_device *dev, const struct nswap_wire_page *p,
		    u8 from, u16 from_peer, u8 to, u16 to_peer);
bool nswap_moved_to_flash(struct nswap_device *dev,
			  const struct nswap_wire_page *p, u8 from,
			  u16 from_peer, u32 flash);
void nswap_moved_swap(struct nswap_device *dev, const struct nswap_wire_page *p,
		      u16 from);
bool nswap_moved_counts(struct nswap_device *dev,
			const struct nswap_wire_page *p, u16 from);

#endif
