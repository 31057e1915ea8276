/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peer: another node as seen by this node's client: one epoch of it, one
 * index of the IPTable, one session at a time.
 */
#ifndef NSWAP_PEER_H
#define NSWAP_PEER_H

#include <linux/bio.h>
#include <linux/kref.h>
#include <linux/wait.h>

#include "base/views.h"
#include "candidate.h"
#include "pure/hold_list.h"
#include "pure/ip_table.h"
#include "transport/conn.h"

/**
 * struct nswap_ctl - a control message of a peer, one of each kind at a time
 * @m: the message
 * @peer: its peer
 * @busy: bit 0: claimed; the others are the owner's of the kind
 * @vec: header and payload
 * @run: payload, NSWAP_WIRE_RUNS entries; NULL for kinds without
 * @nr: runs in it
 */
struct nswap_ctl {
	struct nswap_msg m;
	struct nswap_peer *peer;
	unsigned long busy;
	struct bio_vec vec[2];
	struct nswap_wire_run *run;
	u32 nr;
};

/**
 * struct nswap_reconcile - comparison with what the peer holds
 * @ask: HOLD_ASK
 * @drop: FREE of what is not recorded here
 * @at: how far it has come
 * @last: nothing follows
 * @lists: before it pauses
 * @go_on: jiffies when it goes on then
 * @spared: copies were left that may be recorded, and perhaps are not in the end
 * @due: jiffies of the next comparison
 */
struct nswap_reconcile {
	struct nswap_ctl ask;
	struct nswap_ctl drop;
	struct nswap_hold_at at;
	bool last;
	unsigned int lists;
	unsigned long go_on;
	bool spared;
	unsigned long due;
};

/**
 * struct nswap_peer - a peer
 * @node: the node whose peer it is
 * @index: in the IPTable; write-once
 * @ref: one for the table, one for every request that names it
 * @rcu: for kfree_rcu
 * @lock: protects @state and @parked; inside nothing; process context only
 * @state: enum nswap_peer_state; changed in state_change.c only; read with
 *	READ_ONCE for a quick look
 * @id: node id, 0 until known; written once under @lock
 * @epoch: boot epoch, likewise
 * @addr: address to connect to; changed by address.c only, under @lock
 * @names: room for @name
 * @name: @addr for log lines; read with READ_ONCE if that matters
 * @hint: another address from which it was announced; under @lock
 * @hint_own: that was in its own epoch; under @lock
 * @hinted: jiffies of that, 0 if it was not; written under @lock
 * @try_hint: @hint is new and comes first; written under @lock
 * @to: address of this attempt; the leader's
 * @attempt: attempts since it was last reached; the leader's
 * @heard: jiffies when anything last came over a connection
 * @again: jiffies when it was announced again after a gap, 0 if that is long ago
 * @again_all: nothing had come over a connection in it either
 * @changed: jiffies when @state last changed
 * @pinged: jiffies of the last ping
 * @reason: enum nswap_peer_reason: why there is no session, or the last one broke
 * @complained: its suspicion was logged; the leader's
 * @refraction: jiffies until which it is not chosen after a refusal; one word
 * @used: jiffies of the last page-out sent to it
 * @cand: what placement knows of it
 * @parked: page-ins that wait for it, bios; see parked.c
 * @loads: LOADs given to a connection and not over
 * @late: a bit for each connection whose oldest LOAD is much older than usual
 * @slow: likewise, but old enough to be asked of another peer; see hedge.c
 * @taken: by connection, when the oldest LOAD was sent that was taken back and not answered
 *	since, jiffies, or 0
 * @usual: what is: 8 times the average of recent ones, in jiffies
 * @load_ns: average time of page-ins of mirrored devices, in ns; 0 if not known
 * @apart: jiffies when it began to try and move copies of mirrored pages to where the
 *	other one is
 * @apart_last: when it last tried, 0 if it has not since it shrinks
 * @slots: slots and pending frees of this node that name @index
 * @session: number of the newest session; the leader's
 * @features: NSWAP_HAS_* that both sides of the newest session have; set by
 *	the leader before the session is up
 * @grants: of the HELLO_ACK; the leader's
 * @free: of the HELLO_ACK; the leader's
 * @held_there: pages it said it holds for this node; the leader's
 * @phase: increases when a session comes up; followers wait for it
 * @followers: receivers that run
 * @broken: bit 0: this session is to be torn down
 * @wait: where threads wait for each other
 * @stop: threads are to end
 * @ended: the leader has no link and opens none any more
 * @gone: on the list of peers taken out of the table
 * @nr_conns: connections of a session
 * @conn: 0 is control, the last is for stores
 * @ping: PING
 * @ask: GRANT_ASK
 * @back: GRANT_RETURN
 * @frees: FREE of freed slots
 * @forget: FREE_DEVICE
 * @claim: CLAIM of pages moved to it
 * @claimed: which of them it holds; read by the task that claimed @claim
 * @claim_over: the answer has come, or will not come; likewise
 * @attach: ATTACH
 * @attached: devices up to this instance were attached in this session
 * @attach_again: jiffies when a reserve that is short, or a device it refused, is said again
 * @attach_refused: 1: it refused a device, and they were not said again since
 * @reconcile: comparison
 */
struct nswap_peer {
	struct nswap_node *node;
	u16 index;
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t lock;
	u8 state;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	char names[2][64];
	const char *name;
	struct nswap_addr hint;
	bool hint_own;
	unsigned long hinted;
	bool try_hint;
	struct nswap_addr to;
	unsigned int attempt;
	unsigned long heard;
	unsigned long again;
	bool again_all;
	unsigned long changed;
	unsigned long pinged;
	u8 reason;
	bool complained;
	unsigned long refraction;
	unsigned long used;
	struct nswap_cand cand;
	struct bio_list parked;
	atomic_t loads;
	unsigned long late;
	unsigned long slow;
	unsigned long taken[NSWAP_MAX_CONNS];
	u32 usual;
	u64 load_ns;
	unsigned long apart;
	unsigned long apart_last;
	atomic64_t slots;

	u64 session;
	u64 features;
	u32 grants;
	u64 free;
	u64 held_there;
	unsigned int phase;
	atomic_t followers;
	unsigned long broken;
	wait_queue_head_t wait;
	bool stop;
	bool ended;
	struct list_head gone;
	u32 nr_conns;
	struct nswap_conn conn[NSWAP_MAX_CONNS];

	struct nswap_ctl ping;
	struct nswap_ctl ask;
	struct nswap_ctl back;
	struct nswap_ctl frees;
	struct nswap_ctl forget;
	struct nswap_ctl claim;
	unsigned long claimed;
	bool claim_over;
	struct nswap_ctl attach;
	u32 attached;
	unsigned long attach_again;
	u32 attach_refused;
	struct nswap_reconcile reconcile;
};

struct nswap_peer *nswap_peer_new(struct nswap_node *node, u16 index,
				  const struct nswap_ipt_entry *e);
struct nswap_peer *nswap_peer_get(struct nswap_node *node, u16 index);
struct nswap_peer *nswap_peer_from(struct nswap_node *node, unsigned int *index);
void nswap_peer_put(struct nswap_peer *peer);
enum nswap_peer_state nswap_peer_state(struct nswap_node *node, u16 index);
bool nswap_peer_gone(struct nswap_node *node, u16 index);
void nswap_peer_slots(struct nswap_node *node, u16 index, int n);
u64 nswap_peers_slots(struct nswap_node *node);

/* each @peer holds a reference that the body must put */
#define nswap_for_each_peer(node, i, peer) \
	for ((i) = 1; ((peer) = nswap_peer_from(node, &(i))); (i)++)

#endif
