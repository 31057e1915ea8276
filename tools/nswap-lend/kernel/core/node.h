/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node: the one of this program, with as much of the module's as its server needs. The
 * program is in one network namespace and has one address at a time.
 */
#ifndef NSWAP_NODE_H
#define NSWAP_NODE_H

#include "base/stats.h"
#include "base/views.h"
#include "policy/policy.h"
#include "pure/ip_table.h"

/* the module's knobs as they are there */
#define __KERNEL__
#include "core/knob_list.h"
#undef __KERNEL__

struct net;
struct netlink_ext_ack;
struct nswap_acceptor;
struct nswap_cache;
struct nswap_identity;
struct nswap_mover;

/* a size policy: what is lent is what the user says */
struct lend_size {
	bool adaptive;
};

/* what the server says of why it cannot start; one sentence */
struct netlink_ext_ack {
	const char *why;
};

#define NL_SET_ERR_MSG(ext, text)	((ext)->why = (text))

/**
 * struct nswap_node - the node
 * @net: NULL
 * @number: 0
 * @id: made from address, port and interface, or from its key; write-once
 * @epoch: random, not 0; write-once
 * @identity: its keys, NULL if it is open to everybody; write-once
 * @addr_lock: protects @addr
 * @addr: where it listens; changed by the main thread alone, its family and port never
 * @broadcast: it announces to its subnet; write-once
 * @going: the program is about to end
 * @leaving: announce that this node leaves
 * @knobs: set at the start
 * @counts: counters
 * @stats: @counts
 * @ipt_lock: protects @ipt
 * @ipt: the IPTable
 * @cache: the Nswap Cache
 * @acceptor: thread that accepts connections
 * @mover: moves pages to other peers
 */
struct nswap_node {
	struct net *net;
	u32 number;
	u64 id;
	u64 epoch;
	struct nswap_identity *identity;
	spinlock_t addr_lock;
	struct nswap_addr addr;
	bool broadcast;
	bool going;
	bool leaving;
	struct nswap_knobs knobs;
	struct nswap_stats counts;
	struct nswap_stats *stats;
	spinlock_t ipt_lock;
	struct nswap_ipt ipt;
	struct nswap_cache *cache;
	struct nswap_acceptor *acceptor;
	struct nswap_mover *mover;
};

static inline struct nswap_addr nswap_node_addr(struct nswap_node *node)
{
	struct nswap_addr addr;

	spin_lock(&node->addr_lock);
	addr = node->addr;
	spin_unlock(&node->addr_lock);
	return addr;
}

#define nswap_knob(node, name)	READ_ONCE((node)->knobs.name)

static inline const struct lend_size *nswap_node_size(const struct nswap_node *node)
{
	static const struct lend_size fixed;

	(void)node;
	return &fixed;
}

#endif
