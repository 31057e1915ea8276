// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes: their list, and finding one.
 *
 * Invariants:
 *  - At most one node per namespace. Finding one takes a reference, and down
 *    waits for these before it dismantles anything.
 *  - A node can be found from nswap_nodes_publish() to nswap_nodes_leave().
 *
 * Lock order: nodes_lock is taken inside no other and protects only the list.
 */
#include <linux/list.h>
#include <net/net_namespace.h>

#include "nodes.h"

static DEFINE_MUTEX(nodes_lock);
static LIST_HEAD(nodes);
static u32 nodes_last_number;

/* the number of a node's namespace */
unsigned int nswap_node_netns(const struct nswap_node *node)
{
	return node->net->ns.inum;
}

/* the first node above @after that is up and matches, with a reference */
static struct nswap_node *nodes_find(bool (*match)(const struct nswap_node *,
						   const void *),
				     const void *arg, u32 after)
{
	struct nswap_node *node, *found = NULL;

	mutex_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, link) {
		if (!node->up || node->number <= after || !match(node, arg))
			continue;
		refcount_inc(&node->refs);
		found = node;
		break;
	}
	mutex_unlock(&nodes_lock);
	return found;
}

static bool node_in_net(const struct nswap_node *node, const void *net)
{
	return net_eq(node->net, net);
}

static bool node_has_number(const struct nswap_node *node, const void *number)
{
	return node->number == *(const u32 *)number;
}

static bool node_seen_by(const struct nswap_node *node, const void *viewer)
{
	return !viewer || net_eq(viewer, &init_net) || net_eq(node->net, viewer);
}

struct nswap_node *nswap_node_get(struct net *net)
{
	return nodes_find(node_in_net, net, 0);
}

struct nswap_node *nswap_node_get_number(u32 number)
{
	return nodes_find(node_has_number, &number, 0);
}

/* @viewer: the initial namespace sees all nodes, others their own; NULL sees all. */
struct nswap_node *nswap_node_next(struct net *viewer, u32 after)
{
	return nodes_find(node_seen_by, viewer, after);
}

/* process, sleeps; the last reference after down releases the node */
void nswap_node_put(struct nswap_node *node)
{
	bool last;

	mutex_lock(&nodes_lock);
	last = refcount_dec_and_test(&node->refs);
	if (!last)
		wake_up_all(&node->refs_wait);
	mutex_unlock(&nodes_lock);
	if (last)
		node->release(node);
}

/* Number a new node, reserve its namespace. 0; -EEXIST: the namespace has a node. */
int nswap_nodes_enter(struct nswap_node *node)
{
	struct nswap_node *other;
	int ret = 0;

	mutex_lock(&nodes_lock);
	list_for_each_entry(other, &nodes, link)
		if (net_eq(other->net, node->net))
			ret = -EEXIST;
	if (!ret) {
		node->number = ++nodes_last_number;
		list_add_tail(&node->link, &nodes);
	}
	mutex_unlock(&nodes_lock);
	return ret;
}

/* from now on the node can be found */
void nswap_nodes_publish(struct nswap_node *node)
{
	mutex_lock(&nodes_lock);
	node->up = true;
	mutex_unlock(&nodes_lock);
}

/* Hide a node and wait for the references to it but the caller's @mine. */
void nswap_nodes_leave(struct nswap_node *node, unsigned int mine)
{
	mutex_lock(&nodes_lock);
	list_del_init(&node->link);
	mutex_unlock(&nodes_lock);
	wait_event(node->refs_wait, refcount_read(&node->refs) <= mine);
}

/* stable only when no node can come up any more; any context */
bool nswap_nodes_none(void)
{
	return list_empty(&nodes);
}
