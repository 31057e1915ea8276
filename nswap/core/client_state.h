/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client role of a node: its state and wake-ups.
 */
#ifndef NSWAP_CLIENT_STATE_H
#define NSWAP_CLIENT_STATE_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "base/types.h"

/**
 * struct nswap_orphan - an obsolete copy that its peer must be told to drop
 * @instance: device instance
 * @gen: drop this generation and older ones
 * @slot: slot
 * @peer: index; counted in the peer's slots
 */
struct nswap_orphan {
	u32 instance;
	u32 gen;
	u64 slot;
	u16 peer;
};

#define NSWAP_ORPHANS	4096

/**
 * struct nswap_client - the client role of a node
 * @node: node
 * @sessions_wanted: set with the first device, never cleared
 * @next_id: of the next message
 * @next_session: of the next session with any peer; increases within the epoch
 * @used: jiffies of the last page-out sent to any peer, or to flash instead, or
 *	of the last tick with a page at home to be moved out
 * @wait_lock: protects @waiting
 * @changes: counts kicks, so that none is missed between trying and waiting
 * @waiting: requests that wait for grants, for a slot, or to be placed again
 * @kick: work that dispatches them
 * @tick: time-outs, grants, pings, comparisons
 * @orphan_lock: protects @orphan, @orphan_head, @nr_orphans
 * @orphan: ring of obsolete copies
 * @orphan_head: oldest
 * @nr_orphans: how many
 * @frees: work that tells peers of freed slots and obsolete copies
 * @free_turn: counts its passes: which device, or the obsolete copies, comes first
 * @losses: work that marks the slots of peers whose epoch is over
 * @returns_wait: waits for a free room for a RETURN, or for the last use of a device
 */
struct nswap_client {
	struct nswap_node *node;
	bool sessions_wanted;
	atomic64_t next_id;
	atomic64_t next_session;
	unsigned long used;
	spinlock_t wait_lock;
	atomic_t changes;
	struct list_head waiting;
	struct work_struct kick;
	struct delayed_work tick;
	spinlock_t orphan_lock;
	struct nswap_orphan *orphan;
	unsigned int orphan_head;
	unsigned int nr_orphans;
	struct delayed_work frees;
	unsigned int free_turn;
	struct work_struct losses;
	wait_queue_head_t returns_wait;
};

__le64 nswap_client_id(struct nswap_node *node);
void nswap_client_kick(struct nswap_node *node);
void nswap_client_tick_now(struct nswap_node *node);
void nswap_client_used(struct nswap_node *node);

#endif
