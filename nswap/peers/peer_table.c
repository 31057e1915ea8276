// SPDX-License-Identifier: GPL-2.0
/*
 * Table of a node's peers. They are added by announcements, greetings and the
 * list the user gave, and removed when nothing names them any more.
 *
 * Invariants:
 *  - The table holds a reference; a peer leaves it only without threads and,
 *    except at node down, only when no slot and no request names it.
 *  - The IPTable says which epoch an index stands for; its entry is released
 *    after the peer has left the table, so no two peers have one index.
 *  - Sessions run only once the node has a device: a node that only lends
 *    opens no connection.
 *  - A listed address keeps its peer, and that its threads, until it has led to the node that
 *    gets its entry: if another one answers there, it is tried again, as if none did.
 *
 * Lock order: peers_lock -> ipt_lock. peers_lock is never held while waiting for
 * a thread.
 */
#include <linux/rcupdate.h>

#include "address.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/node.h"
#include "ctl.h"
#include "peer_table.h"
#include "place.h"
#include "session.h"
#include "state_change.h"
#include "suspicion.h"

#define FORGET_MS	60000
#define AWAIT_MS	600000	/* what a large machine takes to reboot */

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
		nswap_warn(peer->node, "no threads for a session with %s: tried again when it is heard; see kernel.threads-max and free memory",
			   peer->name);
}

/*
 * Add the peer of an IPTable entry, if there is none. Context: process, sleeps and
 * allocates; never on the page-out path. Returns 0, -ENOENT for an entry without a
 * peer, -ENOMEM.
 */
int nswap_peer_add(struct nswap_node *node, u16 index)
{
	struct nswap_ipt_entry e;
	struct nswap_peer *peer;
	int ret = 0;

	mutex_lock(&node->peers_lock);
	/* under the lock: else the entry may be released, and be another node's, by now */
	spin_lock_irq(&node->ipt_lock);
	e = node->ipt.entry[index];
	spin_unlock_irq(&node->ipt_lock);
	peer = rcu_dereference_protected(node->peers[index], true);
	if (READ_ONCE(node->going) || !nswap_ipt_used(&e) || e.gone ||
	    nswap_ipt_foreign(&e) || e.id == node->id) {
		ret = -ENOENT;
	} else if (!peer) {
		peer = nswap_peer_new(node, index, &e);
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

static void peer_lose(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);

	if (!peer)
		return;
	nswap_peer_lost(peer);
	nswap_peer_put(peer);
}

/* it was announced from another address than its own */
static void peer_elsewhere(struct nswap_peer *peer, const struct nswap_addr *from)
{
	struct nswap_node *node = peer->node;
	bool connects;

	mutex_lock(&node->peers_lock);
	connects = peer->conn[0].thread;
	/* no session will tell: a mover has to find it */
	if (!connects)
		nswap_address_set(peer, from);
	mutex_unlock(&node->peers_lock);
	if (!connects)
		return;
	nswap_address_heard(peer, from, true);
	if (READ_ONCE(peer->state) == NSWAP_PEER_UP && nswap_ctl_claim(&peer->ping))
		nswap_ctl_ping(peer);
}

/* act on an announcement from @from after the IPTable has processed it */
void nswap_peer_heard(struct nswap_node *node,
		      const struct nswap_ipt_heard *heard,
		      const struct nswap_addr *from)
{
	struct nswap_peer *peer;

	if (heard->was)
		peer_lose(node, heard->was);
	if (!heard->index)
		return;
	nswap_peer_add(node, heard->index);
	peer = nswap_peer_get(node, heard->index);
	if (!peer)
		return;
	if (heard->elsewhere)
		peer_elsewhere(peer, from);
	nswap_suspicion_again(peer, heard->after_ms);
	nswap_place_look(peer, NSWAP_PLACE_ANNOUNCED);
	nswap_peer_put(peer);
}

/**
 * nswap_peer_doubt() - does an announcement contradict a peer with a session?
 * @node: node
 * @a: announcement
 *
 * Datagrams can be late or forged, so only a greeting proves that an epoch is
 * over: the peer is pinged. If it did restart, its TCP does not know the
 * connection any more, and the next session greets with the new epoch. Without a
 * session, an epoch that is heard at another address is not over either.
 *
 * Context: process; does not sleep.
 * Return: true if the announcement must be ignored.
 */
bool nswap_peer_doubt(struct nswap_node *node,
		      const struct nswap_announcement *a)
{
	const struct nswap_ipt_entry *e;
	struct nswap_peer *peer;
	bool doubt, lives;
	u16 index;

	spin_lock_irq(&node->ipt_lock);
	index = nswap_ipt_find(&node->ipt, a->id);
	e = &node->ipt.entry[index];
	doubt = index && e->epoch != a->epoch;
	lives = doubt && !nswap_addr_equal(&e->addr, &a->addr) &&
		nswap_ipt_fresh(e, nswap_now_ms(), NSWAP_LATELY_MS);
	spin_unlock_irq(&node->ipt_lock);
	peer = doubt ? nswap_peer_get(node, index) : NULL;
	if (!peer)
		return doubt && (a->leaving || lives);
	doubt = peer->conn[0].thread || a->leaving || lives;
	if (peer->conn[0].thread && !a->leaving &&
	    !nswap_address_is(peer, &a->addr))
		nswap_address_heard(peer, &a->addr, false);
	if (READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	    nswap_ctl_claim(&peer->ping))
		nswap_ctl_ping(peer);
	nswap_peer_put(peer);
	return doubt;
}

/*
 * Another node is where this one was: this one may have moved away, or be down. It is
 * forgotten if no slot names it and it is not heard of either.
 */
static int peer_replaced(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	bool forget;

	spin_lock_irq(&node->ipt_lock);
	forget = !atomic64_read(&peer->slots) &&
		 !nswap_ipt_fresh(&node->ipt.entry[peer->index], nswap_now_ms(),
				  FORGET_MS);
	if (forget)
		nswap_ipt_forget(&node->ipt, peer->index);
	spin_unlock_irq(&node->ipt_lock);
	if (forget)
		nswap_peer_lost(peer);
	return -ESTALE;
}

/**
 * nswap_peer_greeted() - check which node a connection leads to
 * @peer: the intended peer; its @to was connected to
 * @id: node id in the GREET
 * @epoch: boot epoch in the GREET
 *
 * Context: process, the session's leader; may allocate when the epoch is new,
 * after the old epoch's page-ins have failed.
 * Return: 0; -ESTALE: another node, or another epoch, and then this peer is LOST unless it
 * is an address only, which is to be tried again;
 * -EADDRINUSE: another node that has this one's id.
 */
int nswap_peer_greeted(struct nswap_peer *peer, u64 id, u64 epoch)
{
	struct nswap_node *node = peer->node;
	const struct nswap_ipt_entry *e = &node->ipt.entry[peer->index];
	struct nswap_ipt_heard heard;
	bool again;

	if (!epoch || !id)
		return -EPROTO;
	if (peer->id == id && peer->epoch == epoch) {
		nswap_address_reached(peer);
		return 0;
	}
	if (peer->id && peer->id != id)
		return peer_replaced(peer);
	if (peer->id && nswap_address_lives_elsewhere(peer, &peer->to))
		return -EADDRINUSE;
	spin_lock_irq(&node->ipt_lock);
	if (id == node->id) {
		again = !e->id;
		spin_unlock_irq(&node->ipt_lock);
		if (!again)
			nswap_peer_lost(peer);
		return -ESTALE;
	}
	heard = nswap_ipt_greeted(&node->ipt, peer->index, &peer->to, id, epoch,
				  nswap_now_ms());
	again = !e->id && !e->gone;
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
	if (!again)
		nswap_peer_lost(peer);
	if (heard.index)
		nswap_peer_add(node, heard.index);
	return -ESTALE;
}

/* The node has a device: connect to every peer; its control lock is held. */
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

/* This node's address, or whom it believes, has changed: connect to every peer again. */
void nswap_peers_rebind(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		nswap_session_break(peer);
		nswap_peer_put(peer);
	}
}

/* remove it from the table; the caller takes over the table's reference */
static void peer_unpublish(struct nswap_node *node, struct nswap_peer *peer)
{
	mutex_lock(&node->peers_lock);
	RCU_INIT_POINTER(node->peers[peer->index], NULL);
	mutex_unlock(&node->peers_lock);
}

/* End all sessions and remove all peers; @node is going down, without devices. */
void nswap_peers_stop(struct nswap_node *node)
{
	struct nswap_peer *peer, *next;
	LIST_HEAD(gone);
	unsigned int i;

	/* a task that adds a peer after this sees that the node is going down */
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

/* does no slot name it, is it not listed, and has nothing been heard of it for forget_s? */
static bool peer_away(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	const struct nswap_ipt_entry *e = &node->ipt.entry[peer->index];
	u32 ms = max(nswap_knob(node, forget_s) * (u32)MSEC_PER_SEC,
		     nswap_knob(node, silent_ms));
	bool away;

	if (atomic64_read(&peer->slots) ||
	    time_before(jiffies, READ_ONCE(peer->heard) + msecs_to_jiffies(ms)))
		return false;
	spin_lock_irq(&node->ipt_lock);
	away = nswap_ipt_alive(e) && !e->listed && !nswap_ipt_fresh(e, nswap_now_ms(), ms);
	spin_unlock_irq(&node->ipt_lock);
	return away;
}

/*
 * It may not come back. What comes back is heard of as if it never had been. @serves: as
 * nswap_peers_sweep()
 */
static void peer_age(struct nswap_peer *peer, bool (*serves)(struct nswap_node *node, u64 id))
{
	struct nswap_node *node = peer->node;

	if (!peer_away(peer) || serves(node, peer->id) || !nswap_peer_abandon(peer))
		return;
	spin_lock_irq(&node->ipt_lock);
	nswap_ipt_forget(&node->ipt, peer->index);
	spin_unlock_irq(&node->ipt_lock);
	nswap_info(node, "peer %s is forgotten: nothing was heard of it for %u s", peer->name,
		   nswap_knob(node, forget_s));
}

static bool peer_forgettable(struct nswap_peer *peer)
{
	return READ_ONCE(peer->state) == NSWAP_PEER_LOST &&
	       !atomic64_read(&peer->slots) && kref_read(&peer->ref) == 2;
}

/* out of the table before its threads end, so that no new ones are started */
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
 * nswap_peers_sweep() - remove peers that are over or away, add those that are missing
 * @node: node
 * @serves: has a node anything here? Then it has to be found when that is to leave
 *
 * Those go whose epoch is over, or that were not heard of for forget_s, and that no slot
 * names. Those come for which there was no memory when they were first heard of.
 *
 * Context: process, sleeps and allocates; never on the page-out path.
 */
void nswap_peers_sweep(struct nswap_node *node,
		       bool (*serves)(struct nswap_node *node, u64 id))
{
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		/* in the next sweep, when its threads have ended and are not waited for */
		if (peer_forgettable(peer))
			peer_forget(peer);
		else
			peer_age(peer, serves);
		nswap_peer_put(peer);
	}
	for (i = 1; i <= READ_ONCE(node->ipt.top); i++)
		nswap_peer_add(node, i);
}

static void peer_fill_view(struct nswap_node *node, u16 index,
			   const struct nswap_ipt_entry *e,
			   struct nswap_peer_view *v)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);
	u64 now = nswap_now_ms();

	*v = (struct nswap_peer_view){
		.index = index, .id = e->id, .epoch = e->epoch,
		.addr = e->addr, .lent = e->lent, .free = e->free,
		.used = e->used, .listed = e->listed,
		.leaving = e->leaving && !e->gone,
		.awaited = e->reboots && !e->gone &&
			   nswap_ipt_fresh(e, now, AWAIT_MS),
		.shrinking = e->shrinking,
		.fresh = nswap_ipt_fresh(e, now, nswap_knob(node, silent_ms)),
		.heard_ms = e->heard_ms && now > e->heard_ms ?
				    now - e->heard_ms : 0,
		.state = e->gone ? NSWAP_PEER_LOST : NSWAP_PEER_NEW,
	};
	if (peer) {
		nswap_place_numbers(peer, &v->grants, &v->inflight);
		v->state = READ_ONCE(peer->state);
		v->slots = atomic64_read(&peer->slots);
		if (v->state == NSWAP_PEER_UP)
			v->features = READ_ONCE(peer->features);
		nswap_suspicion_view(peer, v);
		nswap_peer_put(peer);
	}
	/* an established session is better proof than what was heard before it */
	v->refused = e->version && v->state != NSWAP_PEER_UP;
	v->version = v->refused ? e->version :
		     e->id ? NSWAP_WIRE_VERSION : 0;
}

bool nswap_peer_next(struct nswap_node *node, u16 after,
		     struct nswap_peer_view *v)
{
	struct nswap_ipt_entry e;
	unsigned int i;

	for (i = after + 1; i <= READ_ONCE(node->ipt.top); i++) {
		spin_lock_irq(&node->ipt_lock);
		e = node->ipt.entry[i];
		spin_unlock_irq(&node->ipt_lock);
		if (!nswap_ipt_used(&e) || e.id == node->id)
			continue;
		peer_fill_view(node, i, &e, v);
		return true;
	}
	return false;
}
