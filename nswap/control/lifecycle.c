// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a node: up, down, and how much it lends.
 *
 *   up:   counters, IPTable, candidates, client, cache, sizing, server, peers,
 *         announcer, mover
 *   down: the exact reverse
 *
 * Invariants:
 *  - A node holds its network namespace and the module from up to down:
 *    "ip netns del" removes the name, not the node, and a node that is up keeps the
 *    module loaded.
 *  - Nothing is forced: a node with devices does not go down, and one that still
 *    holds pages of others does so only with "now".
 *
 * Lock order: node->control is taken first of the node's locks.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "announce.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/start.h"
#include "core/meminfo.h"
#include "core/nodes.h"
#include "core/subnet.h"
#include "keys/identity.h"
#include "lifecycle.h"
#include "migrate/mover.h"
#include "migrate/rebalance.h"
#include "observe/meter.h"
#include "peers/peer_table.h"
#include "peers/place.h"
#include "policy_select.h"
#include "server/owner.h"
#include "server/held.h"
#include "server/server.h"
#include "server/sizing.h"
#include "survey.h"
#include "transport/sockaddr.h"

#define DEFAULT_CONNS	3
#define SWEEP_EVERY	(5 * HZ)
#define FOREIGN_MS	600000	/* a node of another version is shown for so long */

/* has another node anything here? */
static bool node_serves(struct nswap_node *node, u64 id)
{
	return nswap_owner_known(node->cache, id);
}

static void node_sweep(struct work_struct *work)
{
	struct nswap_node *node = container_of(to_delayed_work(work),
					       struct nswap_node, sweeper);

	if (node->identity)
		nswap_identity_age(node->identity);
	nswap_server_sweep(node);
	nswap_pending_sweep(node->cache);
	nswap_owner_sweep(node->cache);
	nswap_peers_sweep(node, node_serves);
	spin_lock_irq(&node->ipt_lock);
	nswap_ipt_expire(&node->ipt, nswap_now_ms(), FOREIGN_MS);
	spin_unlock_irq(&node->ipt_lock);
	queue_delayed_work(system_dfl_wq, &node->sweeper, SWEEP_EVERY);
}

static void free_node(struct nswap_node *node)
{
	nswap_survey_free(node);
	nswap_client_stop(node);
	nswap_meter_exit(node);
	nswap_ipt_exit(&node->ipt);
	free_percpu(node->stats);
	nswap_identity_free(node->identity);
	put_net(node->net);
	kfree(node);
	module_put(THIS_MODULE);
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
	seqlock_init(&node->addr_seq);
	node->id = nswap_addr_id(&node->addr, nswap_subnet_join(node));
	while (!node->epoch)
		node->epoch = get_random_u64();
	node->release = free_node;
	node->conns = cfg->conns ?: DEFAULT_CONNS;
	node->broadcast = cfg->broadcast;
	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++)
		node->policy[kind] = nswap_policy_nth(kind, 0);
	if (cfg->size)
		node->policy[NSWAP_SIZE] = nswap_policy_find(NSWAP_SIZE,
							     cfg->size);
	node->knobs = cfg->knobs;
	mutex_init(&node->control);
	mutex_init(&node->peers_lock);
	mutex_init(&node->survey_lock);
	spin_lock_init(&node->ipt_lock);
	refcount_set(&node->refs, 1);
	init_waitqueue_head(&node->refs_wait);
	INIT_LIST_HEAD(&node->link);
	INIT_LIST_HEAD(&node->devices);
	INIT_DELAYED_WORK(&node->sweeper, node_sweep);
	nswap_rebalance_init(node);
	nswap_place_init(node);
	node->stats = alloc_percpu(struct nswap_stats);
	if (!node->stats || nswap_ipt_init(&node->ipt) ||
	    nswap_client_start(node) || nswap_meter_init(node)) {
		free_node(node);
		return NULL;
	}
	return node;
}

/* with keys it is named by them; its address is part of those that are made */
static int node_identify(struct nswap_node *node, const struct nswap_identity_config *keys,
			 struct netlink_ext_ack *ext)
{
	struct nswap_identity *id;

	if (!keys)
		return 0;
	id = nswap_identity_make(keys, node->id);
	if (PTR_ERR(id) == -EKEYREJECTED)
		NL_SET_ERR_MSG(ext, "this node's own key is not among those of the members");
	else if (PTR_ERR(id) == -EINVAL)
		NL_SET_ERR_MSG(ext, "these keys cannot be used, make others with: nswapctl key generate");
	if (IS_ERR(id))
		return PTR_ERR(id);
	node->identity = id;
	node->id = nswap_identity_name(id->public);
	return 0;
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
		return nswap_no_such_policy(NSWAP_SIZE, NULL, ext);
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

/*
 * Bring up the node of a namespace. Context: process, sleeps, with keys until the kernel
 * has random numbers: exchanges do not wait for them later. Returns 0, -EEXIST,
 * -EINTR, -EINVAL, -EKEYREJECTED, -E2BIG, -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM.
 */
int nswap_node_up(struct net *net, const struct nswap_node_config *cfg,
		  struct netlink_ext_ack *ext)
{
	struct nswap_node *node;
	int ret = check_config(cfg, ext);

	if (!ret && cfg->keys)
		ret = wait_for_random_bytes() ? -EINTR : 0;
	if (ret)
		return ret;
	node = alloc_node(net, cfg);
	if (!node)
		return -ENOMEM;
	mutex_lock(&node->control);
	ret = check_lend(node, cfg->lend_pages, ext) ?: nswap_meter_apply(node) ?:
	      node_identify(node, cfg->keys, ext);
	if (!ret)
		ret = nswap_nodes_enter(node);
	if (ret == -EEXIST)
		NL_SET_ERR_MSG(ext, "a node is up in this network namespace already");
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
	nswap_nodes_publish(node);
	nswap_info(node, "up, lends %llu pages%s", cfg->lend_pages, node->identity ? "" :
		   "; open: without keys anyone on its subnet can take part, see nswapctl key");
	mutex_unlock(&node->control);
	return 0;

down:
	mutex_unlock(&node->control);
	nswap_nodes_leave(node, 1);
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

/*
 * Take a node down; @node: node, with a reference that stays with the caller; @reboots:
 * its machine reboots, which it tells its peers. Returns 0, or -EBUSY.
 */
int nswap_node_down(struct nswap_node *node, bool now, bool reboots,
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
	nswap_nodes_leave(node, 2);
	WRITE_ONCE(node->reboots, reboots);
	take_down(node);
	nswap_info(node, "down");
	nswap_node_put(node);
	return 0;
}

/* set the amount a node lends. Returns 0, or -EINVAL */
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

/* at module unload; no node is left, since each holds the module while it is up */
void nswap_node_exit(void)
{
	WARN_ON(!nswap_nodes_none());
}
