/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages that another server moved here, not yet claimed by their owner.
 */
#ifndef NSWAP_PENDING_H
#define NSWAP_PENDING_H

#include "cache.h"

u16 nswap_pending_add(struct nswap_cache *c, struct nswap_owner *o, u64 epoch,
		      struct nswap_entry *e);
u16 nswap_pending_claim(struct nswap_cache *c, struct nswap_srv_conn *conn,
			const struct nswap_wire_page *p);
void nswap_pending_give_up(struct nswap_cache *c, struct nswap_owner *o);
void nswap_pending_sweep(struct nswap_cache *c);

#endif
