/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Upcalls: what a lower layer needs from a higher one. One table for the
 * module, filled in by control/hooks.c.
 */
#ifndef NSWAP_HOOKS_H
#define NSWAP_HOOKS_H

#include <linux/types.h>

struct nswap_conn;
struct nswap_device;
struct nswap_node;
struct nswap_peer;
struct nswap_srv_conn;
struct nswap_totals;

/**
 * struct nswap_hooks - the upcalls; all are required
 * @peer_made: allocate the messages of a new peer that higher layers send;
 *	process, sleeps; 0 or -ENOMEM
 * @late_answer: handle the answer to a message that was taken back; called by
 *	the connection's receiver, sleeps; 0, or an error to break the session
 * @tick_device: periodic work of a device, inside rcu_read_lock(); does not
 *	sleep; true if grants are of use now
 * @mover_kick: there may be more pages held than are lent; process, does not
 *	sleep
 * @announce_now: what is announced has changed; any context, does not sleep
 * @copy_obsolete: a copy of a page whose slot has left this generation is to be
 *	dropped by its peer, whose count of slots has it; any context, page-out path
 * @copy_forgotten: likewise, of the slot's present generation: only comparison may
 *	have it dropped
 * @slot_released: a slot that was MOVING names this peer again, and the loss of the
 *	peer may have passed it over; process, does not sleep
 * @serve_moves: handle a message of a move; the connection's thread, sleeps; 0,
 *	or an error to close the connection
 * @totals: fill in what the node lends, holds and swaps; process, allocates nothing and
 *	takes no lock that is held while memory is allocated
 */
struct nswap_hooks {
	int (*peer_made)(struct nswap_peer *peer);
	int (*late_answer)(struct nswap_conn *c);
	bool (*tick_device)(struct nswap_device *dev);
	void (*mover_kick)(struct nswap_node *node);
	void (*announce_now)(struct nswap_node *node);
	void (*copy_obsolete)(struct nswap_device *dev, u64 slot, u32 gen,
			      u16 peer);
	void (*copy_forgotten)(struct nswap_node *node, u16 peer);
	void (*slot_released)(struct nswap_node *node, u16 peer);
	int (*serve_moves)(struct nswap_srv_conn *conn);
	void (*totals)(struct nswap_node *node, struct nswap_totals *t);
};

extern const struct nswap_hooks nswap_hooks;

#endif
