/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node: one instance of the module's state, one per network namespace, from
 * up to down. State only: see nodes.h for finding one, lifecycle.h for how one
 * comes and goes.
 */
#ifndef NSWAP_NODE_H
#define NSWAP_NODE_H

#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/prandom.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "policy/policy.h"
#include "prefetch/prefetch.h"
#include "pure/ip_table.h"

struct net;
struct socket;
struct task_struct;
struct nswap_acceptor;
struct nswap_announcer;
struct nswap_cache;
struct nswap_client;
struct nswap_meter;
struct nswap_mover;
struct nswap_sizing;

/**
 * struct nswap_knobs - what can be set while a node is up
 * @dead_after_ms: a page-in waits this long for a silent peer
 * @store_timeout_ms: an unanswered page-out is placed elsewhere after this
 * @announce_ms: time between announcements
 * @silent_ms: a peer unheard for this long is not chosen
 * @reconcile_s: time between comparisons of what a peer holds
 * @refraction_ms: a peer that refused is left alone for this long
 * @lease_s: pages of an owner without a connection are kept for so long
 * @move_mib_s: page migration, MiB a second at most, 0 for no limit
 * @home_out_mib_s: pages at home that move out to peers, MiB a second, 0: none
 * @rebalance_pct: percent points a node may be fuller than others, 0: any
 * @headroom_pct: percent of RAM the watermark policy leaves its own programs
 * @lend_min_mib: lent whatever an adaptive size policy says
 * @size_period_ms: time between decisions on how much to lend
 * @grow_pct: percent of RAM by which lending may grow in a second
 * @hold_off_ms: after giving RAM back a node takes none for this long
 * @oom_wait_ms: an OOM kill waits this long for pages that move away
 * @latency: 1: measure the steps of page-outs and page-ins
 * @trace: 1: keep the slot trace
 * @profile_ms: time between samples of what is under way, 0 for none
 * @psi: hundredths of a percent of time programs waited for memory, fed in
 * @prefetch_period_ms: time between wake-ups of a prefetcher
 * @prefetch_pct: percent that its "count" takes
 * @fed_total_mib: tests: RAM this node believes in, 0 for the machine's
 * @fed_available_mib: tests: likewise what is available of it
 * @fed_swap_outs: tests: likewise pages swapped out so far
 * @fed_refaults: tests: likewise pages refaulted so far
 */
struct nswap_knobs {
	u32 dead_after_ms;
	u32 store_timeout_ms;
	u32 announce_ms;
	u32 silent_ms;
	u32 reconcile_s;
	u32 refraction_ms;
	u32 lease_s;
	u32 move_mib_s;
	u32 home_out_mib_s;
	u32 rebalance_pct;
	u32 headroom_pct;
	u32 lend_min_mib;
	u32 size_period_ms;
	u32 grow_pct;
	u32 hold_off_ms;
	u32 oom_wait_ms;
	u32 latency;
	u32 trace;
	u32 profile_ms;
	u32 psi;
	u32 prefetch_period_ms;
	u32 prefetch_pct;
	u32 fed_total_mib;
	u32 fed_available_mib;
	u32 fed_swap_outs;
	u32 fed_refaults;
};

/**
 * struct nswap_rebalance - of a node
 * @work: asks the policy; rests while rebalance_pct is 0
 * @under_way: the last answer was to hand pages on; the work's own
 * @goal: pages held above this are to be handed on; no lock
 */
struct nswap_rebalance {
	struct delayed_work work;
	bool under_way;
	u64 goal;
};

/**
 * struct nswap_node - a node
 * @net: its namespace, held from up to down
 * @number: for people, unique among the nodes of this kernel; write-once
 * @id: made from address and port; write-once
 * @epoch: random, not 0; write-once
 * @addr: where it listens; write-once
 * @conns: connections per session; write-once
 * @broadcast: announces to its subnet; write-once
 * @link: in the list of nodes, under the nodes lock
 * @control: serialises what users ask for: device add and del, lend, policy
 * @up: may be found; under the nodes lock
 * @refs: users; down waits for them before it takes anything apart
 * @refs_wait: where it waits
 * @going: node is on its way down; set once under @control
 * @leaving: announce that this node leaves (reboot, suspend)
 * @knobs: words read with READ_ONCE, written under @control
 * @policy: of each kind, for devices that have chosen none of their own; read
 *	with READ_ONCE, written under @control
 * @stats: counters
 * @ipt_lock: protects @ipt; spinlock, taken with interrupts off
 * @ipt: the IPTable
 * @peers: struct nswap_peer of each IPTable index; RCU, written under
 *	@peers_lock
 * @peers_lock: serialises adding and removing peers; never held while
 *	waiting for a thread or the network
 * @place_lock: protects @cand, @nr_cand, @place_rnd, and @placed_last of the
 *	devices; inside nothing but counters
 * @cand: candidates for placement in the order of their index
 * @nr_cand: how many
 * @place_rnd: random numbers for the placement policy
 * @devices: devices of this node, under @control (readers: RCU)
 * @last_instance: of a device, under @control
 * @leaving_devices: those that are being removed, and are not in @devices any
 *	more; likewise
 * @cache: the Nswap Cache
 * @sizing: decides how much of it there is
 * @announcer: thread that announces and listens to announcements
 * @acceptor: thread that takes connections
 * @mover: brings pages to other peers
 * @rebalance: decides which of them it hands on because others are emptier
 * @client: the client role
 * @meter: measures page-outs and page-ins
 * @sweeper: work that forgets peers whose epoch is over
 * @release: frees the node when the last user of a node that is down lets it go
 */
struct nswap_node {
	struct net *net;
	u32 number;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	u32 conns;
	bool broadcast;
	struct list_head link;
	struct mutex control;
	bool up;
	refcount_t refs;
	wait_queue_head_t refs_wait;
	bool going;
	bool leaving;
	struct nswap_knobs knobs;
	const struct nswap_policy *policy[NSWAP_POLICY_KINDS];
	struct nswap_stats __percpu *stats;

	spinlock_t ipt_lock;
	struct nswap_ipt ipt;
	struct nswap_peer __rcu *peers[NSWAP_MAX_PEERS + 1];
	struct mutex peers_lock;

	spinlock_t place_lock;
	struct nswap_place_peer *cand;
	unsigned int nr_cand;
	struct rnd_state place_rnd;

	struct list_head devices;
	u32 last_instance;
	unsigned int leaving_devices;
	struct nswap_cache *cache;
	struct nswap_sizing *sizing;
	struct nswap_announcer *announcer;
	struct nswap_acceptor *acceptor;
	struct nswap_mover *mover;
	struct nswap_rebalance rebalance;
	struct nswap_client *client;
	struct nswap_meter *meter;
	struct delayed_work sweeper;
	void (*release)(struct nswap_node *node);
};

#define nswap_knob(node, name)	READ_ONCE((node)->knobs.name)

/**
 * nswap_node_size() - a node's size policy
 * @node: node
 *
 * Context: any.
 * Return: the policy, for one decision.
 */
static inline const struct nswap_size_ops *
nswap_node_size(const struct nswap_node *node)
{
	return container_of(READ_ONCE(node->policy[NSWAP_SIZE]),
			    struct nswap_size_ops, is);
}

#endif
