/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages held: an owner's tree. All of these refuse a connection that is fenced.
 */
#ifndef NSWAP_HELD_H
#define NSWAP_HELD_H

#include "cache.h"

bool nswap_held_fenced(const struct nswap_srv_conn *conn);
struct nswap_entry *nswap_held_from(struct nswap_owner *o, u32 instance, u64 slot);
struct nswap_entry *nswap_held_next(struct nswap_entry *e);
bool nswap_held_take(struct nswap_cache *c, struct nswap_srv_conn *conn, u32 n,
		     struct list_head *taken);
bool nswap_held_take_reserved(struct nswap_cache *c, struct nswap_srv_conn *conn,
			      u32 instance, u64 slot, u32 n, struct list_head *taken);
u32 nswap_held_grant(struct nswap_cache *c, struct nswap_srv_conn *conn,
		     u32 used, u32 wanted);
void nswap_held_stored(struct nswap_cache *c, struct nswap_srv_conn *conn,
		       struct nswap_cache_stored *so);
void nswap_held_ungrant(struct nswap_cache *c, struct nswap_srv_conn *conn,
			u32 n);
u32 nswap_held_insert(struct nswap_cache *c, struct nswap_srv_conn *conn,
		      struct nswap_entry **entry, u32 nr, u16 *status);
struct nswap_entry *nswap_held_find(struct nswap_srv_conn *conn, u32 instance,
				    u64 slot, u32 gen);
u64 nswap_held_drop(struct nswap_cache *c, struct nswap_srv_conn *conn,
		    const struct nswap_wire_run *r, u64 before);
u64 nswap_held_drop_device(struct nswap_cache *c, struct nswap_srv_conn *conn,
			   u32 instance);
u32 nswap_held_list(struct nswap_srv_conn *conn, u32 instance, u64 slot,
		    struct nswap_wire_run *run, u64 *seq, bool *last);
struct nswap_entry *nswap_held_pop(struct rb_root *tree);
bool nswap_held_newer(u32 held, u32 gen);
bool nswap_held_same(u32 held, u32 gen);
int nswap_held_compare(u32 instance, u64 slot, const struct nswap_entry *e);
struct nswap_entry *nswap_held_in(const struct rb_root *tree, u32 instance, u64 slot);
struct nswap_entry *nswap_held_lookup(struct nswap_owner *o, u32 instance,
				      u64 slot);
struct nswap_entry *nswap_held_link(struct nswap_owner *o, struct nswap_entry *e,
				    struct nswap_entry *before);

/* pick.c */

/**
 * struct nswap_pick - which pages are to be moved
 * @attempt: not 0, and not used by a recent attempt of this node
 * @n: at most this many
 * @ram: until so many pages of RAM can be given back with them
 * @not_of: a device instance whose pages are skipped, 0 for none
 * @one_device: all pages of the same device
 * @to_peer: they go to a peer, not back to their owner
 * @scarce: room for them is: none but critical ones while there are such of any owner, or such
 *	are on their way to a peer
 * @class: result; enum nswap_device_class of the pages
 */
struct nswap_pick {
	u32 attempt;
	u32 n;
	u32 ram;
	u32 not_of;
	bool one_device;
	bool to_peer;
	bool scarce;
	u8 class;
};

u32 nswap_held_drop_some(struct nswap_cache *c, struct nswap_owner *o, u32 *ram,
			 struct nswap_wire_page *name, u64 *epoch);
u32 nswap_held_pick(struct nswap_cache *c, struct nswap_owner *o, struct nswap_pick *p,
		    struct nswap_entry **entry, u64 *epoch);
void nswap_held_tidy(struct nswap_cache *c, struct nswap_owner *o);
void nswap_held_picked_over(struct nswap_cache *c, const struct nswap_pick *p);
bool nswap_held_moved(struct nswap_cache *c, struct nswap_owner *o,
		      struct nswap_entry *e, u32 attempt,
		      enum nswap_moved_how how);
bool nswap_owner_homeless(const struct nswap_owner *o);

/* pending.c */
u16 nswap_pending_add(struct nswap_cache *c, struct nswap_owner *o, u64 epoch,
		      u64 mover, struct nswap_entry *e);
void nswap_pending_give_up(struct nswap_cache *c, struct nswap_owner *o);
u16 nswap_pending_claim(struct nswap_cache *c, struct nswap_srv_conn *conn, u64 mover,
			const struct nswap_wire_page *p);
void nswap_pending_sweep(struct nswap_cache *c);

#endif
