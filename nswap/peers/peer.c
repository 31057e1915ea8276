// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: made when one is heard of or listed, kept until no slot names them.
 *
 * Invariants:
 *  - A peer is one epoch of a node. When an announcement or a greeting shows
 *    another epoch, the peer is LOST for good and a new one takes over under a
 *    new index, so that no slot of the old epoch is ever looked for in the new
 *    one.
 *  - The table holds a reference; a peer leaves it only without threads and,
 *    but for node down, only when no slot and no request names it.
 *  - Sessions run only once the node has a device: a node that only lends
 *    opens no connection.
 *
 * Lock order: peers_lock -> ipt_lock. peers_lock is never held while a thread
 * is waited for.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/types.h"
#include "base/views.h"
#include "core/client_state.h"
#include "core/node.h"
#include "ctl.h"
#include "peer.h"
#include "place.h"
#include "pure/ip_table.h"
#include "pure/wire.h"
#include "session.h"
#include "transport/conn.h"

static const char *const state_names[NSWAP_PEER_STATES] = {
	[NSWAP_PEER_NEW] = "new",
	[NSWAP_PEER_CONNECTING] = "connecting",
	[NSWAP_PEER_UP] = "up",
	[NSWAP_PEER_SILENT] = "silent",
	[NSWAP_PEER_DEAD] = "dead",
	[NSWAP_PEER_LOST] = "lost",
};

/**
 * nswap_peer_state_name() - a state for people
 * @state: enum nswap_peer_state, or anything
 *
 * Context: any.
 * Return: its name.
 */
const char *nswap_peer_state_name(u8 state)
{
	return state < NSWAP_PEER_STATES ? state_names[state] : "unknown";
}

static void name_peer(struct nswap_peer *peer)
{
	const struct nswap_addr *a = &peer->addr;

	if (a->family == AF_INET)
		snprintf(peer->name, sizeof(peer->name), "%pI4:%u", a->ip,
			 a->port);
	else
		snprintf(peer->name, sizeof(peer->name), "[%pI6c]:%u", a->ip,
			 a->port);
}

static void free_peer(struct nswap_peer *peer)
{
	u32 i;

	nswap_ctl_exit_all(peer);
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_exit(&peer->conn[i]);
	kfree_rcu(peer, rcu);
}

static void release_peer(struct kref *ref)
{
	free_peer(container_of(ref, struct nswap_peer, ref));
}

static struct nswap_peer *new_peer(struct nswap_node *node, u16 index,
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
	peer->addr = e->addr;
	name_peer(peer);
	kref_init(&peer->ref);
	spin_lock_init(&peer->lock);
	INIT_LIST_HEAD(&peer->parked);
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
		free_peer(peer);
		return NULL;
	}
	return peer;
}

/**
 * nswap_peer_get() - find a peer and keep it
 * @node: node
 * @index: in the IPTable
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: the peer, to be given to nswap_peer_put(), or NULL.
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

/**
 * nswap_peer_from() - the next peer there is, kept
 * @node: node
 * @index: where to begin; set to where one was found
 *
 * Context: any; does not sleep.
 * Return: a peer, to be given to nswap_peer_put(), or NULL past the last.
 */
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

/**
 * nswap_peer_put() - let a peer go
 * @peer: from nswap_peer_get()
 *
 * Context: process; does not sleep.
 */
void nswap_peer_put(struct nswap_peer *peer)
{
	kref_put(&peer->ref, release_peer);
}

/**
 * nswap_peer_state() - how does a peer stand?
 * @node: node
 * @index: of the peer
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: a moment's view; LOST without such a peer.
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

/**
 * nswap_peer_slots() - count slots that name a peer
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

static bool sessions_wanted(const struct nswap_node *node)
{
	return READ_ONCE(node->client->sessions_wanted) &&
	       !READ_ONCE(node->going);
}

static void peer_start(struct nswap_peer *peer)
{
	lockdep_assert_held(&peer->node->peers_lock);
	if (peer->state != NSWAP_PEER_NEW || peer->conn[0].thread)
		return;
	if (nswap_session_start(peer))
		nswap_warn(peer->node, "no threads for a session with %s",
			   peer->name);
}

/**
 * nswap_peer_add() - make the peer of an IPTable entry, if there is none
 * @node: node
 * @index: a used entry
 *
 * Context: process, sleeps and allocates; never on the page-out path.
 * Return: 0, -ENOENT for an entry without a peer, -ENOMEM.
 */
int nswap_peer_add(struct nswap_node *node, u16 index)
{
	struct nswap_ipt_entry e;
	struct nswap_peer *peer;
	int ret = 0;

	spin_lock_irq(&node->ipt_lock);
	e = node->ipt.entry[index];
	spin_unlock_irq(&node->ipt_lock);
	if (e.state == NSWAP_IPT_UNUSED || e.state == NSWAP_IPT_GONE ||
	    e.state == NSWAP_IPT_FOREIGN || e.id == node->id)
		return -ENOENT;

	mutex_lock(&node->peers_lock);
	peer = rcu_dereference_protected(node->peers[index], true);
	if (READ_ONCE(node->going)) {
		ret = -ENOENT;
	} else if (!peer) {
		peer = new_peer(node, index, &e);
		if (peer)
			rcu_assign_pointer(node->peers[index], peer);
		else
			ret = -ENOMEM;
	}
	if (!ret && sessions_wanted(node))
		peer_start(peer);
	mutex_unlock(&node->peers_lock);
	return ret;
}

/**
 * nswap_peer_lost() - the peer's epoch is over
 * @peer: the peer
 *
 * Context: process; does not sleep for the network.
 */
void nswap_peer_lost(struct nswap_peer *peer)
{
	u64 slots = atomic64_read(&peer->slots);

	spin_lock(&peer->lock);
	peer->state = NSWAP_PEER_LOST;
	spin_unlock(&peer->lock);
	nswap_session_fail_parked(peer);
	nswap_session_break(peer);
	if (slots)
		nswap_warn(peer->node, "peer %s started anew: %llu pages it held are lost, programs that read them will fail",
			   peer->name, slots);
	queue_work(system_dfl_wq, &peer->node->client->losses);
}

static void peer_lose(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);

	if (!peer)
		return;
	nswap_peer_lost(peer);
	nswap_peer_put(peer);
}

/**
 * nswap_peer_heard() - act on an announcement the IPTable has taken in
 * @node: node
 * @heard: what it said
 *
 * Context: process, sleeps and allocates.
 */
void nswap_peer_heard(struct nswap_node *node,
		      const struct nswap_ipt_heard *heard)
{
	struct nswap_ipt_entry e;

	if (!heard->index)
		return;
	if (heard->news == NSWAP_IPT_REBOOTED)
		peer_lose(node, heard->was);
	nswap_peer_add(node, heard->index);
	spin_lock_irq(&node->ipt_lock);
	e = node->ipt.entry[heard->index];
	spin_unlock_irq(&node->ipt_lock);
	if (heard->news == NSWAP_IPT_LEFT)
		nswap_place_eligible(node, heard->index, false);
	nswap_place_announced(node, heard->index, e.lent, e.free, e.shrinking);
}

/**
 * nswap_peer_doubt() - does an announcement contradict a peer with a session?
 * @node: node
 * @a: announcement
 *
 * Datagrams are easily late or forged, so only a greeting proves that an epoch
 * is over: the peer is pinged. If it did start anew, its TCP does not know the
 * session any more, and the next one greets with the new epoch.
 *
 * Context: process; does not sleep.
 * Return: true if the announcement is not to be taken in.
 */
bool nswap_peer_doubt(struct nswap_node *node,
		      const struct nswap_announcement *a)
{
	struct nswap_peer *peer;
	bool doubt;
	u16 index;

	spin_lock_irq(&node->ipt_lock);
	index = nswap_ipt_find(&node->ipt, a->id);
	doubt = index && node->ipt.entry[index].epoch != a->epoch;
	spin_unlock_irq(&node->ipt_lock);
	peer = doubt ? nswap_peer_get(node, index) : NULL;
	if (!peer)
		return doubt && a->leaving;
	doubt = peer->conn[0].thread || a->leaving;
	if (READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	    nswap_ctl_claim(&peer->ping))
		nswap_ctl_ping(peer);
	nswap_peer_put(peer);
	return doubt;
}

/**
 * nswap_peer_greeted() - check who a connection leads to
 * @peer: whom it was meant to lead to
 * @id: node id in the GREET
 * @epoch: boot epoch in the GREET
 *
 * Context: process, the session's leader; may allocate when the epoch is new,
 * after the old epoch's page-ins have got their error.
 * Return: 0; -ESTALE: another epoch or node, this peer is LOST.
 */
int nswap_peer_greeted(struct nswap_peer *peer, u64 id, u64 epoch)
{
	struct nswap_node *node = peer->node;
	struct nswap_ipt_heard heard;

	/* an id belongs to an address: nobody can greet in another's name */
	if (!epoch || id != nswap_addr_id(&peer->addr))
		return -EPROTO;
	if (peer->id == id && peer->epoch == epoch)
		return 0;
	if (id == node->id) {
		nswap_peer_lost(peer);
		return -ESTALE;
	}
	spin_lock_irq(&node->ipt_lock);
	heard = nswap_ipt_greeted(&node->ipt, peer->index, id, epoch,
				  nswap_now_ms());
	spin_unlock_irq(&node->ipt_lock);
	if (heard.was && heard.was != peer->index)
		peer_lose(node, heard.was);
	if (heard.index == peer->index) {
		spin_lock(&peer->lock);
		peer->id = id;
		peer->epoch = epoch;
		spin_unlock(&peer->lock);
		return 0;
	}
	nswap_peer_lost(peer);
	if (heard.index)
		nswap_peer_add(node, heard.index);
	return -ESTALE;
}

/**
 * nswap_peers_start() - the node has a device: connect to every peer
 * @node: node; its control lock is held
 *
 * Context: process, sleeps and allocates.
 */
void nswap_peers_start(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;

	mutex_lock(&node->peers_lock);
	nswap_for_each_peer(node, i, peer) {
		peer_start(peer);
		nswap_peer_put(peer);
	}
	mutex_unlock(&node->peers_lock);
}

/* out of the table; the table's reference is the caller's now */
static void peer_unpublish(struct nswap_node *node, struct nswap_peer *peer)
{
	mutex_lock(&node->peers_lock);
	RCU_INIT_POINTER(node->peers[peer->index], NULL);
	mutex_unlock(&node->peers_lock);
}

/**
 * nswap_peers_stop() - end all sessions and forget all peers
 * @node: node on its way down, without devices
 *
 * Context: process, sleeps.
 */
void nswap_peers_stop(struct nswap_node *node)
{
	struct nswap_peer *peer, *next;
	LIST_HEAD(gone);
	unsigned int i;

	/* whoever adds a peer after this sees that the node is going */
	mutex_lock(&node->peers_lock);
	mutex_unlock(&node->peers_lock);
	nswap_for_each_peer(node, i, peer) {
		nswap_session_end(peer);
		nswap_peer_put(peer);
	}
	nswap_for_each_peer(node, i, peer) {
		nswap_session_stop(peer);
		peer_unpublish(node, peer);
		list_add(&peer->gone, &gone);
		nswap_peer_put(peer);
	}
	synchronize_rcu();
	list_for_each_entry_safe(peer, next, &gone, gone)
		nswap_peer_put(peer);
}

static bool peer_forgettable(struct nswap_peer *peer)
{
	return READ_ONCE(peer->state) == NSWAP_PEER_LOST &&
	       !atomic64_read(&peer->slots) && kref_read(&peer->ref) == 2;
}

/* out of the table before its threads end, so that nobody gives it new ones */
static void peer_forget(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;

	peer_unpublish(node, peer);
	synchronize_rcu();
	nswap_session_stop(peer);
	spin_lock_irq(&node->ipt_lock);
	nswap_ipt_release(&node->ipt, peer->index);
	spin_unlock_irq(&node->ipt_lock);
	nswap_peer_put(peer);
}

/**
 * nswap_peers_sweep() - forget peers whose epoch is over and whom no slot
 * names; make what there was no memory for when a peer was met
 * @node: node
 *
 * Context: process, sleeps and allocates; never on the page-out path.
 */
void nswap_peers_sweep(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		if (peer_forgettable(peer))
			peer_forget(peer);
		nswap_peer_put(peer);
	}
	for (i = 1; i <= READ_ONCE(node->ipt.top); i++)
		nswap_peer_add(node, i);
}

static void fill_view(struct nswap_node *node, u16 index,
		      const struct nswap_ipt_entry *e,
		      struct nswap_peer_view *v)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);
	u64 now = nswap_now_ms();

	*v = (struct nswap_peer_view){
		.index = index, .id = e->id, .epoch = e->epoch,
		.addr = e->addr, .lent = e->lent, .free = e->free,
		.used = e->used, .listed = e->listed,
		.leaving = e->state == NSWAP_IPT_LEAVING,
		.shrinking = e->shrinking,
		.fresh = nswap_ipt_fresh(e, now, nswap_knob(node, silent_ms)),
		.heard_ms = e->heard_ms && now > e->heard_ms ?
				    now - e->heard_ms : 0,
		.state = e->state == NSWAP_IPT_GONE ? NSWAP_PEER_LOST :
						      NSWAP_PEER_NEW,
	};
	nswap_place_look(node, index, &v->grants, &v->inflight);
	if (peer) {
		v->state = READ_ONCE(peer->state);
		v->slots = atomic64_read(&peer->slots);
		if (v->state == NSWAP_PEER_UP)
			v->features = READ_ONCE(peer->features);
		nswap_peer_put(peer);
	}
	/* a session proves more than what was heard before it */
	v->refused = e->version && v->state != NSWAP_PEER_UP;
	v->version = v->refused ? e->version :
		     e->id ? NSWAP_WIRE_VERSION : 0;
}

/**
 * nswap_peer_next() - a snapshot of the next peer
 * @node: node
 * @after: index to go on after, 0 at first
 * @v: result
 *
 * Context: process.
 * Return: true if there is one.
 */
bool nswap_peer_next(struct nswap_node *node, u16 after,
		     struct nswap_peer_view *v)
{
	struct nswap_ipt_entry e;
	unsigned int i;

	for (i = after + 1; i <= READ_ONCE(node->ipt.top); i++) {
		spin_lock_irq(&node->ipt_lock);
		e = node->ipt.entry[i];
		spin_unlock_irq(&node->ipt_lock);
		if (e.state == NSWAP_IPT_UNUSED || e.id == node->id)
			continue;
		fill_view(node, i, &e, v);
		return true;
	}
	return false;
}
