// SPDX-License-Identifier: GPL-2.0
/*
 * Node: up, down, and how much it lends.
 *
 *   up:   counters, IPTable, candidates, client, cache, sizing, server, peers,
 *         announcer, mover
 *   down: the exact reverse
 *
 * Invariants:
 *  - A node holds its network namespace and the module from up to down:
 *    "ip netns del" takes the name away, not the node, and a node that is up
 *    keeps the module loaded.
 *  - At most one node per namespace; who finds one keeps it, and down waits for
 *    them before it takes anything apart.
 *  - Nothing is forced: a node with devices does not go down, and one that
 *    holds pages of others only when told "now".
 *
 * Lock order: nodes_lock is taken inside nothing and holds nothing but the
 * list; node->control is taken first of the node's locks.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "announce.h"
#include "cache.h"
#include "client.h"
#include "device.h"
#include "log.h"
#include "memview.h"
#include "meter.h"
#include "mover.h"
#include "node.h"
#include "peer.h"
#include "place.h"
#include "prefetcher.h"
#include "server.h"
#include "sizing.h"
#include "sockaddr.h"
#include "workqueues.h"

#define DEFAULT_CONNS	3
#define SWEEP_EVERY	(5 * HZ)

static DEFINE_MUTEX(nodes_lock);
static LIST_HEAD(nodes);
static u32 last_number;

/**
 * nswap_now_ms() - a monotonic clock
 *
 * Context: any.
 * Return: milliseconds.
 */
u64 nswap_now_ms(void)
{
	return ktime_get_ns() / NSEC_PER_MSEC;
}

/**
 * nswap_node_netns() - the namespace of a node, for people
 * @node: node
 *
 * Context: any.
 * Return: the inode number "ls -l /proc/self/ns/net" shows.
 */
unsigned int nswap_node_netns(const struct nswap_node *node)
{
	return node->net->ns.inum;
}

static struct nswap_node *find(bool (*match)(const struct nswap_node *,
					     const void *), const void *arg)
{
	struct nswap_node *node, *found = NULL;

	mutex_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, link) {
		if (!node->up || !match(node, arg))
			continue;
		refcount_inc(&node->refs);
		found = node;
		break;
	}
	mutex_unlock(&nodes_lock);
	return found;
}

static bool in_net(const struct nswap_node *node, const void *net)
{
	return net_eq(node->net, net);
}

static bool has_number(const struct nswap_node *node, const void *number)
{
	return node->number == *(const u32 *)number;
}

/**
 * nswap_node_get() - the node of a namespace
 * @net: namespace
 *
 * Context: process, sleeps.
 * Return: node, kept until nswap_node_put(), or NULL.
 */
struct nswap_node *nswap_node_get(struct net *net)
{
	return find(in_net, net);
}

/**
 * nswap_node_get_number() - a node by its number
 * @number: number
 *
 * Context: process, sleeps.
 * Return: node, kept until nswap_node_put(), or NULL.
 */
struct nswap_node *nswap_node_get_number(u32 number)
{
	return find(has_number, &number);
}

/**
 * nswap_node_next() - the next node that a namespace may see
 * @viewer: namespace: the initial one sees all nodes, others their own; NULL
 *	sees all
 * @after: number to go on after, 0 at first
 *
 * Context: process, sleeps.
 * Return: node, kept until nswap_node_put(), or NULL.
 */
struct nswap_node *nswap_node_next(struct net *viewer, u32 after)
{
	bool all = !viewer || net_eq(viewer, &init_net);
	struct nswap_node *node, *found = NULL;

	mutex_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, link) {
		if (!node->up || node->number <= after ||
		    (!all && !net_eq(node->net, viewer)))
			continue;
		refcount_inc(&node->refs);
		found = node;
		break;
	}
	mutex_unlock(&nodes_lock);
	return found;
}

static void sweep(struct work_struct *work)
{
	struct nswap_node *node = container_of(to_delayed_work(work),
					       struct nswap_node, sweeper);

	nswap_server_sweep(node);
	nswap_pending_sweep(node->cache);
	nswap_owner_sweep(node->cache);
	nswap_peers_sweep(node);
	queue_delayed_work(system_dfl_wq, &node->sweeper, SWEEP_EVERY);
}

static void free_node(struct nswap_node *node)
{
	nswap_client_stop(node);
	nswap_meter_exit(node);
	nswap_place_exit(node);
	nswap_ipt_exit(&node->ipt);
	free_percpu(node->stats);
	put_net(node->net);
	kfree(node);
	module_put(THIS_MODULE);
}

/**
 * nswap_node_put() - let a found node go
 * @node: node
 *
 * Context: process, sleeps; the last one after down frees the node.
 */
void nswap_node_put(struct nswap_node *node)
{
	bool last;

	mutex_lock(&nodes_lock);
	last = refcount_dec_and_test(&node->refs);
	if (!last)
		wake_up_all(&node->refs_wait);
	mutex_unlock(&nodes_lock);
	if (last)
		free_node(node);
}

static struct nswap_node *alloc_node(struct net *net,
				     const struct nswap_node_config *cfg)
{
	struct nswap_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	unsigned int kind;

	if (!node)
		return NULL;
	__module_get(THIS_MODULE);
	node->net = get_net(net);
	node->addr = cfg->addr;
	if (!node->addr.port)
		node->addr.port = NSWAP_PORT;
	node->id = nswap_addr_id(&node->addr);
	while (!node->epoch)
		node->epoch = get_random_u64();
	node->conns = cfg->conns ?: DEFAULT_CONNS;
	node->broadcast = cfg->broadcast;
	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++)
		node->policy[kind] = nswap_policy_nth(kind, 0);
	if (cfg->size)
		node->policy[NSWAP_SIZE] = nswap_policy_find(NSWAP_SIZE,
							     cfg->size);
	nswap_knobs_set(node, &cfg->knobs);
	mutex_init(&node->control);
	mutex_init(&node->peers_lock);
	spin_lock_init(&node->ipt_lock);
	refcount_set(&node->refs, 1);
	init_waitqueue_head(&node->refs_wait);
	INIT_LIST_HEAD(&node->link);
	INIT_LIST_HEAD(&node->devices);
	INIT_DELAYED_WORK(&node->sweeper, sweep);
	nswap_rebalance_init(node);
	node->stats = alloc_percpu(struct nswap_stats);
	if (!node->stats || nswap_ipt_init(&node->ipt) ||
	    nswap_place_init(node) || nswap_client_start(node) ||
	    nswap_meter_init(node)) {
		free_node(node);
		return NULL;
	}
	return node;
}

static int check_config(const struct nswap_node_config *cfg,
			struct netlink_ext_ack *ext)
{
	if (nswap_addr_unusable(&cfg->addr)) {
		NL_SET_ERR_MSG(ext, "give one address of this node, not the unspecified or a multicast one");
		return -EADDRNOTAVAIL;
	}
	if (cfg->conns && (cfg->conns < 2 || cfg->conns > NSWAP_MAX_CONNS)) {
		NL_SET_ERR_MSG(ext, "a session has 2 to 8 connections");
		return -EINVAL;
	}
	if (cfg->size && !nswap_policy_find(NSWAP_SIZE, cfg->size))
		return nswap_no_such_policy(NSWAP_SIZE, ext);
	return 0;
}

static int check_lend(const struct nswap_node *node, u64 pages,
		      struct netlink_ext_ack *ext)
{
	struct nswap_mem_view mem;

	nswap_mem_view(node, &mem);
	if (pages <= mem.total)
		return 0;
	NL_SET_ERR_MSG(ext, "this machine has less RAM than that to lend");
	return -EINVAL;
}

static int list_peers(struct nswap_node *node,
		      const struct nswap_node_config *cfg,
		      struct netlink_ext_ack *ext)
{
	unsigned int i;

	for (i = 0; i < cfg->nr_peers; i++) {
		struct nswap_addr addr = cfg->peers[i];
		u16 index;

		if (!addr.port)
			addr.port = NSWAP_PORT;
		if (nswap_addr_equal(&addr, &node->addr))
			continue;
		spin_lock_irq(&node->ipt_lock);
		index = nswap_ipt_list(&node->ipt, &addr);
		spin_unlock_irq(&node->ipt_lock);
		if (!index) {
			NL_SET_ERR_MSG(ext, "a node knows 1023 peers at most");
			return -E2BIG;
		}
		if (nswap_peer_add(node, index) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* one node per namespace */
static int enter(struct nswap_node *node, struct netlink_ext_ack *ext)
{
	struct nswap_node *other;
	int ret = 0;

	mutex_lock(&nodes_lock);
	list_for_each_entry(other, &nodes, link)
		if (net_eq(other->net, node->net))
			ret = -EEXIST;
	if (!ret) {
		node->number = ++last_number;
		list_add_tail(&node->link, &nodes);
	}
	mutex_unlock(&nodes_lock);
	if (ret)
		NL_SET_ERR_MSG(ext, "a node is up in this network namespace already");
	return ret;
}

/* nobody finds the node any more, and whoever found it has let it go */
static void leave(struct nswap_node *node, unsigned int mine)
{
	mutex_lock(&nodes_lock);
	list_del_init(&node->link);
	mutex_unlock(&nodes_lock);
	wait_event(node->refs_wait, refcount_read(&node->refs) <= mine);
}

static void take_down(struct nswap_node *node)
{
	WRITE_ONCE(node->going, true);
	nswap_sizing_stop(node);
	nswap_profile_stop(node);
	nswap_announce_stop(node);
	cancel_delayed_work_sync(&node->sweeper);
	nswap_rebalance_stop(node);
	nswap_mover_stop(node);
	nswap_peers_stop(node);
	nswap_server_stop(node);
	nswap_cache_stop(node);
	nswap_mover_free(node);
}

/**
 * nswap_node_up() - bring up the node of a namespace
 * @net: namespace
 * @cfg: what is asked for
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, -EEXIST, -EINVAL, -E2BIG, -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM.
 */
int nswap_node_up(struct net *net, const struct nswap_node_config *cfg,
		  struct netlink_ext_ack *ext)
{
	struct nswap_node *node;
	int ret = check_config(cfg, ext);

	if (ret)
		return ret;
	node = alloc_node(net, cfg);
	if (!node)
		return -ENOMEM;
	mutex_lock(&node->control);
	ret = check_lend(node, cfg->lend_pages, ext) ?: nswap_meter_apply(node);
	if (!ret)
		ret = enter(node, ext);
	if (ret)
		goto free;
	ret = nswap_cache_start(node, cfg->lend_pages);
	if (!ret)
		ret = nswap_sizing_start(node);
	if (!ret)
		ret = nswap_server_start(node, ext);
	if (!ret)
		ret = list_peers(node, cfg, ext);
	if (!ret)
		ret = nswap_announce_start(node, ext);
	if (!ret)
		ret = nswap_mover_start(node);
	if (ret)
		goto down;
	queue_delayed_work(system_dfl_wq, &node->sweeper, SWEEP_EVERY);
	mutex_lock(&nodes_lock);
	node->up = true;
	mutex_unlock(&nodes_lock);
	nswap_info(node, "up, lends %llu pages", cfg->lend_pages);
	mutex_unlock(&node->control);
	return 0;

down:
	mutex_unlock(&node->control);
	leave(node, 1);
	take_down(node);
	free_node(node);
	return ret;
free:
	mutex_unlock(&node->control);
	free_node(node);
	return ret;
}

static int may_go_down(struct nswap_node *node, bool now,
		       struct netlink_ext_ack *ext)
{
	struct nswap_cache_view v;

	if (node->going) {
		NL_SET_ERR_MSG(ext, "the node is going down already");
		return -EBUSY;
	}
	if (!list_empty(&node->devices)) {
		NL_SET_ERR_MSG(ext, "the node has devices: swapoff and nswapctl device del them first");
		return -EBUSY;
	}
	if (node->leaving_devices) {
		NL_SET_ERR_MSG(ext, "a device is being removed: its home or flash has not answered yet");
		return -EBUSY;
	}
	nswap_cache_get_view(node, &v);
	if (v.held && !now) {
		NL_SET_ERR_MSG_FMT(ext, "holds %llu pages of %u other nodes, which --now would lose",
				   v.held, v.owners);
		return -EBUSY;
	}
	return 0;
}

/**
 * nswap_node_down() - take a node down
 * @node: node, found by the caller, who has to put it afterwards
 * @now: even though it holds pages of others, which they lose
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -EBUSY.
 */
int nswap_node_down(struct nswap_node *node, bool now,
		    struct netlink_ext_ack *ext)
{
	int ret;

	mutex_lock(&node->control);
	ret = may_go_down(node, now, ext);
	if (!ret)
		WRITE_ONCE(node->going, true);
	mutex_unlock(&node->control);
	if (ret)
		return ret;
	leave(node, 2);
	take_down(node);
	nswap_info(node, "down");
	nswap_node_put(node);
	return 0;
}

/**
 * nswap_node_lend() - change how much a node lends
 * @node: node
 * @pages: from now on
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, or -EINVAL.
 */
int nswap_node_lend(struct nswap_node *node, u64 pages,
		    struct netlink_ext_ack *ext)
{
	int ret;

	mutex_lock(&node->control);
	ret = check_lend(node, pages, ext);
	if (!ret) {
		nswap_cache_lend(node->cache, pages);
		nswap_sizing_now(node);
		nswap_announce_now(node);
	}
	mutex_unlock(&node->control);
	return ret;
}

/**
 * nswap_node_init() - nothing is up yet
 *
 * Context: process, module init.
 * Return: 0.
 */
int nswap_node_init(void)
{
	return 0;
}

/**
 * nswap_node_exit() - no node is left: each holds the module while it is up
 *
 * Context: process, module exit.
 */
void nswap_node_exit(void)
{
	WARN_ON(!list_empty(&nodes));
}
