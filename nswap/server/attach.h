/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching a device of an owner; room for pages that come in a move.
 */
#ifndef NSWAP_SRV_ATTACH_H
#define NSWAP_SRV_ATTACH_H

#include "cache.h"

u16 nswap_attach_set(struct nswap_cache *c, struct nswap_srv_conn *conn, u32 instance,
		     u8 class, u32 wanted, u32 *reserved);
void nswap_attach_end(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      u32 instance);
void nswap_attach_sweep(struct nswap_cache *c);
u16 nswap_attach_take(struct nswap_cache *c, struct nswap_owner *o,
		      const struct nswap_wire_page *page, u32 nr,
		      struct list_head *taken);

#endif
