// SPDX-License-Identifier: GPL-2.0
/*
 * Peer: one epoch of another node, from when it is heard of or listed until no
 * slot names it.
 *
 * Invariant: a peer is one epoch of a node. When an announcement or a greeting
 * shows another epoch, the peer is LOST for good and a new peer replaces it under
 * a new index, so that no slot of the old epoch is ever looked for in the new
 * one.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "address.h"
#include "core/node.h"
#include "ctl.h"
#include "peer.h"
#include "pure/peer_state.h"

static void peer_free(struct nswap_peer *peer)
{
	u32 i;

	nswap_ctl_exit_all(peer);
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_exit(&peer->conn[i]);
	kfree_rcu(peer, rcu);
}

static void peer_release(struct kref *ref)
{
	peer_free(container_of(ref, struct nswap_peer, ref));
}

/*
 * Allocate a peer that is in no table yet. Context: process, sleeps; never on the
 * page-out path. Returns the peer, NEW, with a reference for the caller; NULL without
 * memory.
 */
struct nswap_peer *nswap_peer_new(struct nswap_node *node, u16 index,
				  const struct nswap_ipt_entry *e)
{
	struct nswap_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	int ret;
	u32 i;

	if (!peer)
		return NULL;
	peer->node = node;
	peer->index = index;
	peer->id = e->id;
	peer->epoch = e->epoch;
	kref_init(&peer->ref);
	spin_lock_init(&peer->lock);
	nswap_address_set(peer, &e->addr);
	bio_list_init(&peer->parked);
	init_waitqueue_head(&peer->wait);
	peer->heard = jiffies;
	peer->pinged = jiffies;
	peer->refraction = jiffies;
	peer->nr_conns = node->conns;
	ret = nswap_ctl_init_all(peer);
	for (i = 0; i < peer->nr_conns && !ret; i++) {
		ret = nswap_conn_init(&peer->conn[i], peer, i);
		peer->conn[i].class = !i ? NSWAP_CLASS_CONTROL :
				      i == peer->nr_conns - 1 ?
						NSWAP_CLASS_STORE :
						NSWAP_CLASS_LOAD;
	}
	if (ret) {
		peer_free(peer);
		return NULL;
	}
	return peer;
}

/**
 * nswap_peer_get() - find a peer and take a reference
 * @node: node
 * @index: in the IPTable
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: the peer, release it with nswap_peer_put(), or NULL.
 */
struct nswap_peer *nswap_peer_get(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer;

	rcu_read_lock();
	peer = rcu_dereference(node->peers[index]);
	if (peer && !kref_get_unless_zero(&peer->ref))
		peer = NULL;
	rcu_read_unlock();
	return peer;
}

/* The next peer, release it with nswap_peer_put(); NULL past the last. */
struct nswap_peer *nswap_peer_from(struct nswap_node *node, unsigned int *index)
{
	struct nswap_peer *peer = NULL;

	for (; !peer && *index <= NSWAP_MAX_PEERS; (*index)++) {
		if (*index > READ_ONCE(node->ipt.top))
			return NULL;
		peer = nswap_peer_get(node, *index);
		if (peer)
			break;
	}
	return peer;
}

void nswap_peer_put(struct nswap_peer *peer)
{
	kref_put(&peer->ref, peer_release);
}

/**
 * nswap_peer_state() - the state of a peer
 * @node: node
 * @index: of the peer
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: a snapshot; LOST without such a peer.
 */
enum nswap_peer_state nswap_peer_state(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);
	enum nswap_peer_state state;

	if (!peer)
		return NSWAP_PEER_LOST;
	state = READ_ONCE(peer->state);
	nswap_peer_put(peer);
	return state;
}

/* is there no such peer, or is it dead or LOST? 0: none; a snapshot; any context */
bool nswap_peer_gone(struct nswap_node *node, u16 index)
{
	return !index || nswap_peer_hopeless(nswap_peer_state(node, index));
}

/**
 * nswap_peer_slots() - adjust the count of slots that name a peer
 * @node: node
 * @index: of the peer; 0 is ignored
 * @n: how many more, negative for fewer
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_peer_slots(struct nswap_node *node, u16 index, int n)
{
	struct nswap_peer *peer;

	rcu_read_lock();
	peer = rcu_dereference(node->peers[index]);
	if (peer)
		atomic64_add(n, &peer->slots);
	rcu_read_unlock();
}

/* slots that name a peer which may still hold them; process; does not sleep */
u64 nswap_peers_slots(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;
	u64 n = 0;

	nswap_for_each_peer(node, i, peer) {
		if (READ_ONCE(peer->state) != NSWAP_PEER_LOST)
			n += atomic64_read(&peer->slots);
		nswap_peer_put(peer);
	}
	return n;
}
