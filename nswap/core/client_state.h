/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client role of a node: its state and wake-ups.
 */
#ifndef NSWAP_CLIENT_STATE_H
#define NSWAP_CLIENT_STATE_H

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/percpu.h>
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
 * struct nswap_hedge - looks for page-ins that are to be asked of another peer
 * @timer: runs while LOADs of mirrored devices are out
 * @armed: bit 0: it runs, or @work is to
 * @work: looks
 * @now: when it began to; this and what follows is the work's own, by ktime_get_ns()
 * @next: when the next LOAD is to be hedged
 * @seen: pages read when @credit was added to last
 * @credit: pages that may be hedged, in twentieths
 */
struct nswap_hedge {
	struct hrtimer timer;
	unsigned long armed;
	struct work_struct work;
	u64 now;
	u64 next;
	u64 seen;
	u64 credit;
};

/**
 * struct nswap_client - the client role of a node
 * @node: node
 * @sessions_wanted: set with the first device, never cleared
 * @ids: of the message before, one for each CPU
 * @next_session: of the next session with any peer; increases within the epoch
 * @used: jiffies of the last page-out sent to any peer, or to flash instead, or
 *	of the last tick with a page at home to be moved out
 * @wait_lock: protects @waiting, @for_room and @ready
 * @minding: requests that have waited and not ended; kicks count while there are any
 * @changes: counts kicks, so that none is missed between trying and waiting
 * @waiting: requests that wait for a slot, or to be placed or loaded again
 * @for_room: page-outs that wait for room at a peer
 * @no_room: counts requests put there
 * @kick: work that dispatches them
 * @kick_all: bit 0: all of @for_room, not only as many as there is room for
 * @ready: bios of parked page-ins that need not wait for a peer any longer
 * @nr_parked: bios there and at all peers
 * @unpark: work that makes requests of them again
 * @tick: time-outs, grants, pings, comparisons
 * @ticked: jiffies of the last one
 * @due: jiffies when the next one is to run
 * @awake: jiffies since when this node has not stood still
 * @allowed: jiffies that what waited then may wait longer
 * @orphan_lock: protects @orphan, @orphan_head, @nr_orphans
 * @orphan: ring of obsolete copies
 * @orphan_head: oldest
 * @nr_orphans: how many
 * @frees: work that tells peers of freed slots and obsolete copies
 * @free_turn: counts its passes: which device, or the obsolete copies, comes first
 * @loss_lock: held for a chunk of slots by each of the two that mark them, so that neither meets
 *	a slot which the other one holds, and passes it over
 * @losses: work that marks the slots of peers whose epoch is over
 * @hedge: slow peers' page-ins
 * @unpushed: connections with messages that are queued but not pushed
 * @returns_wait: waits for a free room for a RETURN, or for the last use of a device
 */
struct nswap_client {
	struct nswap_node *node;
	bool sessions_wanted;
	u64 __percpu *ids;
	atomic64_t next_session;
	unsigned long used;
	spinlock_t wait_lock;
	atomic_t minding;
	atomic_t changes;
	struct list_head waiting;
	struct list_head for_room;
	unsigned int no_room;
	struct work_struct kick;
	unsigned long kick_all;
	struct bio_list ready;
	atomic_t nr_parked;
	struct work_struct unpark;
	struct delayed_work tick;
	unsigned long ticked;
	unsigned long due;
	unsigned long awake;
	unsigned long allowed;
	spinlock_t orphan_lock;
	struct nswap_orphan *orphan;
	unsigned int orphan_head;
	unsigned int nr_orphans;
	struct delayed_work frees;
	unsigned int free_turn;
	spinlock_t loss_lock;
	struct work_struct losses;
	struct nswap_hedge hedge;
	struct llist_head unpushed;
	wait_queue_head_t returns_wait;
};

int nswap_client_ids_init(struct nswap_client *cl);
void nswap_client_ids_exit(struct nswap_client *cl);
__le64 nswap_client_id(struct nswap_node *node);
void nswap_client_mind(struct nswap_node *node);
void nswap_client_kick(struct nswap_node *node);
void nswap_client_kick_all(struct nswap_node *node);
void nswap_client_unpark(struct nswap_node *node);
void nswap_client_ready(struct nswap_node *node, struct bio_list *bios);
void nswap_client_begin(struct nswap_node *node);
void nswap_client_tick_now(struct nswap_node *node);
void nswap_client_tick_soon(struct nswap_node *node);
void nswap_client_used(struct nswap_node *node);
bool nswap_client_stood_still(const struct nswap_node *node);
void nswap_client_awake(struct nswap_node *node);
bool nswap_client_may_expire(const struct nswap_node *node, unsigned int ms);
bool nswap_client_expired(const struct nswap_node *node, unsigned long since, unsigned int ms);

/* do requests wait, for room or a slot? any context; a snapshot */
static inline bool nswap_client_waits(const struct nswap_client *cl)
{
	return !list_empty_careful(&cl->waiting) ||
	       !list_empty_careful(&cl->for_room);
}

#endif
