/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Owners of pages in the Nswap Cache.
 */
#ifndef NSWAP_OWNER_H
#define NSWAP_OWNER_H

#include "cache.h"

struct nswap_owner *nswap_owner_adopt(struct nswap_cache *c, u64 id, u64 epoch);
bool nswap_owner_has(struct nswap_owner *o, enum nswap_device_class class);
bool nswap_owner_known(struct nswap_cache *c, u64 id);
struct nswap_owner *nswap_owner_droppable(struct nswap_cache *c);
bool nswap_owner_any_critical(struct nswap_cache *c);
struct nswap_owner *nswap_owner_turn(struct nswap_cache *c);
void nswap_owner_leave(struct nswap_cache *c, struct nswap_owner *o);
void nswap_owner_gather(struct nswap_cache *c);
u16 nswap_owner_hello(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      const struct nswap_wire_hello *h);
void nswap_owner_bye(struct nswap_cache *c, struct nswap_srv_conn *conn);
u64 nswap_owner_held(struct nswap_cache *c, struct nswap_srv_conn *conn);
void nswap_owner_forget_if_idle(struct nswap_cache *c, struct nswap_owner *o);
void nswap_owner_sweep(struct nswap_cache *c);
bool nswap_owner_over(struct nswap_cache *c, struct nswap_owner *o, u64 epoch);

#endif
