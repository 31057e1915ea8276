/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node: one instance of the module's state, one per network namespace, from
 * up to down. State only: see nodes.h for finding one, lifecycle.h for creation
 * and removal.
 */
#ifndef NSWAP_NODE_H
#define NSWAP_NODE_H

#include <linux/if.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "knob_list.h"
#include "policy/policy.h"
#include "prefetch/prefetch.h"
#include "pure/ip_table.h"

struct net;
struct nswap_acceptor;
struct nswap_announcer;
struct nswap_cache;
struct nswap_client;
struct nswap_identity;
struct nswap_meter;
struct nswap_mover;
struct nswap_sizing;
struct nswap_survey;

/**
 * struct nswap_rebalance - rebalancing of a node
 * @work: asks the policy; idle while rebalance_pct is 0
 * @under_way: the last answer was to move pages away; private to @work
 * @goal: pages held above this are to be moved away; no lock
 */
struct nswap_rebalance {
	struct delayed_work work;
	bool under_way;
	u64 goal;
};

/**
 * struct nswap_node - a node
 * @net: its namespace, held from up to down
 * @number: for logs and users, unique among the nodes of this kernel; write-once
 * @id: made from address, port and interface at "up"; write-once
 * @epoch: random, not 0; write-once
 * @identity: its keys, NULL if it is open to everybody; write-once
 * @addr_seq: protects @addr
 * @addr: where it listens; the announcer's thread changes it when the interface has
 *	lost it, so others read it with nswap_node_addr()
 * @iface: interface that owned it at "up"; "" if none did; write-once
 * @conns: connections per session; write-once
 * @broadcast: it announces to its subnet; write-once
 * @link: in the list of nodes, under the nodes lock
 * @control: serialises user requests: device add and del, lend, policy
 * @up: it can be found; under the nodes lock
 * @refs: users; down waits for them before it dismantles anything
 * @refs_wait: where it waits
 * @going: node is going down; set once under @control
 * @leaving: announce that this node leaves (reboot, suspend)
 * @reboots: and that it does so for a reboot
 * @lent_awake: pages it lends again after a suspend, 0 if that is not its business;
 *	power notifier only
 * @knobs: words read with READ_ONCE, written under @control
 * @policy: of each kind, for devices that have none of their own; read
 *	with READ_ONCE, written under @control
 * @stats: counters
 * @ipt_lock: protects @ipt; spinlock, taken with interrupts off
 * @ipt: the IPTable
 * @peers: struct nswap_peer of each IPTable index; RCU, written under
 *	@peers_lock
 * @peers_lock: serialises adding and removing peers; never held while
 *	waiting for a thread or the network
 * @place_lock: for changes of @cands, @nr_cand, @room_gone, and of what decides whether
 *	a candidate may be chosen; no page-out takes it
 * @cands: candidates for placement, struct nswap_cand, in the order of their index; RCU
 * @nr_cand: how many
 * @room_gone: jiffies when one that had room fell silent, or its session ended
 * @devices: devices of this node, under @control (readers: RCU)
 * @last_instance: of a device, under @control
 * @slots_named: slots of all instances so far, gone ones too; written likewise, read by any
 * @leaving_devices: those that are being removed, and are no longer in @devices;
 *	likewise
 * @cache: the Nswap Cache
 * @sizing: decides how large it is
 * @announcer: thread that sends and receives announcements
 * @acceptor: thread that accepts connections
 * @mover: moves pages to other peers
 * @rebalance: decides which pages it moves because other peers are emptier
 * @client: the client role
 * @meter: measures page-outs and page-ins
 * @survey_lock: one survey at a time; protects @survey
 * @survey: what peers said of themselves when they were asked last; NULL if they were not
 * @sweeper: work that removes peers whose epoch is over
 * @release: frees the node when the last user of a node that is down puts it
 */
struct nswap_node {
	struct net *net;
	u32 number;
	u64 id;
	u64 epoch;
	struct nswap_identity *identity;
	seqlock_t addr_seq;
	struct nswap_addr addr;
	char iface[IFNAMSIZ];
	u32 conns;
	bool broadcast;
	struct list_head link;
	struct mutex control;
	bool up;
	refcount_t refs;
	wait_queue_head_t refs_wait;
	bool going;
	bool leaving;
	bool reboots;
	u64 lent_awake;
	struct nswap_knobs knobs;
	const struct nswap_policy *policy[NSWAP_POLICY_KINDS];
	struct nswap_stats __percpu *stats;

	spinlock_t ipt_lock;
	struct nswap_ipt ipt;
	struct nswap_peer __rcu *peers[NSWAP_MAX_PEERS + 1];
	struct mutex peers_lock;

	spinlock_t place_lock;
	struct list_head cands;
	unsigned int nr_cand;
	unsigned long room_gone;

	struct list_head devices;
	u32 last_instance;
	u64 slots_named;
	unsigned int leaving_devices;
	struct nswap_cache *cache;
	struct nswap_sizing *sizing;
	struct nswap_announcer *announcer;
	struct nswap_acceptor *acceptor;
	struct nswap_mover *mover;
	struct nswap_rebalance rebalance;
	struct nswap_client *client;
	struct nswap_meter *meter;
	struct mutex survey_lock;
	struct nswap_survey *survey;
	struct delayed_work sweeper;
	void (*release)(struct nswap_node *node);
};

/* a node's address now; any context */
static inline struct nswap_addr nswap_node_addr(struct nswap_node *node)
{
	struct nswap_addr addr;
	unsigned int seq;

	do {
		seq = read_seqbegin(&node->addr_seq);
		addr = node->addr;
	} while (read_seqretry(&node->addr_seq, seq));
	return addr;
}

#define nswap_knob(node, name)	READ_ONCE((node)->knobs.name)

/* a node's size policy */
static inline const struct nswap_size_ops *
nswap_node_size(const struct nswap_node *node)
{
	return container_of(READ_ONCE(node->policy[NSWAP_SIZE]),
			    struct nswap_size_ops, is);
}

#endif
