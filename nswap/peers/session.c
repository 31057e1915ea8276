// SPDX-License-Identifier: GPL-2.0
/*
 * Session: all connections of this node's client to one peer, up or down
 * together.
 *
 *   leader: [connect, greet] x n -> UP -> receive ... broken -> SILENT -> again
 *
 * States of the peer: pure/peer_state.c.
 *
 * Each connection has one thread, its receiver; the one of connection 0 is the
 * leader: it opens and closes every link, so that coming back after a cut creates
 * no thread and needs no memory beyond the sockets.
 *
 * Invariants:
 *  - Links are opened and closed by the leader only, and closed only when no
 *    follower receives.
 *  - A session's number is higher than that of every earlier one of this
 *    node's epoch: the server fences those before the first request counts.
 *  - Between the end of a session and the next every message is handed back
 *    exactly once (nswap_conn_close()): page-outs are placed elsewhere,
 *    page-ins are parked until the session is back, dead_after is over, or a
 *    new epoch proves the page lost.
 *
 * Lock order: no lock is held while another is taken, but conn->tx -> conn->lock.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include "address.h"
#include "attach.h"
#include "base/hooks.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/inject.h"
#include "core/node.h"
#include "handshake.h"
#include "loss.h"
#include "parked.h"
#include "peer_table.h"
#include "place.h"
#include "pure/peer_state.h"
#include "reconcile.h"
#include "session.h"
#include "state_change.h"
#include "suspicion.h"
#include "transport/rx_affinity.h"

#define RETRY_MS	300	/* after an attempt that failed */
#define AGAIN_MS	20	/* after a session that broke at once */
#define OTHER_MS	2000	/* after another node, or version of the protocol */
#define FLOW_TRIES	8	/* for each connection of a peer that answers on the first */

/*
 * The leader is told to end by @stop, and by kthread_stop() only once it has:
 * a thread that should stop no longer sleeps in a socket, it spins.
 */
static bool goes_on(struct nswap_peer *peer)
{
	return !READ_ONCE(peer->stop) &&
	       READ_ONCE(peer->state) != NSWAP_PEER_LOST;
}

/*
 * It says that it is another node, or in another epoch. That may cost pages, so with keys
 * it has to be proved, by a HELLO that begins no session: a healthy one that the node
 * has with that other node goes on. Returns an error in any case, -ERESTART to try again
 * at once.
 */
static int prove_other(struct nswap_conn *c, struct nswap_handshake *hs,
		       struct nswap_link *l)
{
	int ret;

	hs->class = NSWAP_CLASS_TELL;
	hs->session = 0;
	ret = nswap_handshake_hello(hs, l);
	if (!ret)
		ret = nswap_peer_greeted(c->peer, hs->id, hs->epoch);
	return ret ?: -ERESTART;
}

static int shake_hands(struct nswap_conn *c, struct nswap_handshake *hs,
		       struct nswap_link *l)
{
	struct nswap_peer *peer = c->peer;
	bool keys = peer->node->identity;
	int ret;

	ret = nswap_handshake_greet(hs, l);
	if (!ret && keys && (peer->id != hs->id || peer->epoch != hs->epoch))
		return prove_other(c, hs, l);
	if (!ret && !keys)
		ret = nswap_peer_greeted(peer, hs->id, hs->epoch);
	if (!ret)
		ret = nswap_handshake_hello(hs, l);
	if (!ret && keys)
		ret = nswap_peer_greeted(peer, hs->id, hs->epoch);
	if (ret)
		return ret;
	c->tags = hs->tags;
	c->t->recv_timeout(l, 0);
	c->t->read_ahead(l, c->class == NSWAP_CLASS_STORE ? NSWAP_AHEAD_SMALL :
							    NSWAP_AHEAD_PAGES);
	if (c->number)
		/* one epoch is one module: its features do not change */
		return hs->features == peer->features ? 0 : -EPROTO;
	WRITE_ONCE(peer->features, hs->features);
	peer->grants = hs->grants;
	peer->free = hs->free;
	peer->held_there = hs->held;
	return 0;
}

static int open_conn(struct nswap_conn *c)
{
	struct nswap_handshake hs = {
		.node = c->peer->node, .t = c->t, .addr = &c->peer->to,
		.class = c->class, .session = c->peer->session,
	};
	struct nswap_link *l = nswap_handshake_connect(&hs);
	int ret;

	if (IS_ERR(l))
		return PTR_ERR(l);
	/* known to nswap_session_break() from now on */
	nswap_conn_open(c, l);
	ret = goes_on(c->peer) ? shake_hands(c, &hs, l) : -ESHUTDOWN;
	memzero_explicit(&hs.tags, sizeof(hs.tags));
	return ret;
}

static void session_close(struct nswap_peer *peer)
{
	LIST_HEAD(lost);
	u32 i;

	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_close(&peer->conn[i], &lost);
	nswap_parked_lose(&lost);
}

/*
 * The others of a peer that answers on connection 0. One that gets no answer may be a flow
 * that the network loses: the next attempt has another port.
 */
static int open_flow(struct nswap_conn *c, struct list_head *lost)
{
	int ret, tries = c->number ? FLOW_TRIES : 1;

	do {
		ret = open_conn(c);
		if (ret != -ETIMEDOUT && ret != -EAGAIN)
			break;
		nswap_conn_close(c, lost);
	} while (--tries && goes_on(c->peer));
	return ret;
}

static int session_open(struct nswap_peer *peer)
{
	LIST_HEAD(none);
	int ret = 0;
	u32 i;

	peer->session = atomic64_inc_return(&peer->node->client->next_session);
	nswap_address_next(peer);
	clear_bit(0, &peer->broken);
	/* pairs with the lock in nswap_peer_lost(): a later break is seen */
	smp_mb__after_atomic();
	if (!goes_on(peer))
		return -ESHUTDOWN;
	for (i = 0; i < peer->nr_conns && !ret; i++)
		ret = open_flow(&peer->conn[i], &none);
	if (ret)
		session_close(peer);
	return ret;
}

/* false if the peer was lost in the meantime */
static bool session_up(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	u32 i;

	/* before it is UP: the tick breaks sessions not heard of for long */
	WRITE_ONCE(peer->heard, jiffies);
	WRITE_ONCE(peer->used, jiffies);
	nswap_suspicion_over(peer);
	WRITE_ONCE(peer->late, 0);
	memset(peer->taken, 0, sizeof(peer->taken));
	WRITE_ONCE(peer->slow, 0);
	nswap_reconcile_soon(peer);
	nswap_attach_session(peer);
	if (nswap_peer_become(peer, ~BIT(NSWAP_PEER_LOST), NSWAP_PEER_UP) ==
	    NSWAP_PEER_LOST) {
		session_close(peer);
		return false;
	}
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_up(&peer->conn[i]);
	nswap_place_add(peer);
	atomic_set(&peer->followers, peer->nr_conns - 1);
	/* pairs with session_follower(): its link is set */
	smp_store_release(&peer->phase, peer->phase + 1);
	wake_up_all(&peer->wait);
	nswap_stat_inc(node, sessions);
	nswap_parked_review(node);
	nswap_client_unpark(node);
	nswap_client_tick_now(node);
	nswap_client_kick(node);
	return true;
}

/* receive until the session breaks */
static void session_receive(struct nswap_conn *c)
{
	struct nswap_peer *peer = c->peer;
	struct nswap_rx_affinity f;
	int ret = 0;

	nswap_rx_affinity_start(&f);
	while (!test_bit(0, &peer->broken)) {
		ret = nswap_conn_receive(c);
		if (ret == 1)
			ret = nswap_hooks.late_answer(c);
		if (ret)
			break;
		WRITE_ONCE(peer->heard, jiffies);
		nswap_rx_affinity(&f, c->t->cpu(c->l));
	}
	nswap_conn_settle(c);
	if (ret && !test_bit(0, &peer->broken))
		WRITE_ONCE(peer->reason, nswap_peer_reason_of(ret));
	if (ret == -EPROTO || ret == -EPROTONOSUPPORT)
		nswap_warn(peer->node, "peer %s sent a message this node does not understand (%s); install the same version of nswap on both",
			   peer->name, nswap_wire_name(c->rx.type));
	nswap_session_break(peer);
}

static int session_follower(void *data)
{
	struct nswap_conn *c = data;
	struct nswap_peer *peer = c->peer;
	unsigned int seen = 0;

	while (!kthread_should_stop()) {
		wait_event_interruptible(peer->wait,
					 READ_ONCE(peer->phase) != seen ||
					 kthread_should_stop());
		if (READ_ONCE(peer->phase) == seen)
			continue;
		/* pairs with session_up(): the link is set */
		seen = smp_load_acquire(&peer->phase);
		session_receive(c);
		atomic_dec(&peer->followers);
		wake_up_all(&peer->wait);
	}
	return 0;
}

static void session_down(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;

	nswap_place_remove(peer);
	nswap_peer_become(peer, BIT(NSWAP_PEER_UP), NSWAP_PEER_SUSPECTED);
	wait_event(peer->wait, !atomic_read(&peer->followers));
	session_close(peer);
	/* acks handled after the peer was lost may have named it again */
	if (READ_ONCE(peer->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_client_kick(node);
}

/* pause after an attempt that ended with @ret */
static unsigned int session_pause(int ret)
{
	if (ret == -EPROTONOSUPPORT || ret == -ESTALE || ret == -EADDRINUSE ||
	    ret == -EKEYREJECTED || ret == -ENOKEY || ret == -EBADMSG)
		return OTHER_MS;
	return ret && ret != -ERESTART ? RETRY_MS : AGAIN_MS;
}

static void pause_ms(struct nswap_peer *peer, unsigned int ms)
{
	wait_event_interruptible_timeout(peer->wait, !goes_on(peer) ||
					 READ_ONCE(peer->try_hint),
					 msecs_to_jiffies(ms));
}

/* did it announce that it leaves? Where members cannot be each other, one could say it. */
static bool session_left(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	bool left;

	if (node->identity && node->identity->own)
		return false;

	spin_lock_irq(&node->ipt_lock);
	left = node->ipt.entry[peer->index].leaving;
	spin_unlock_irq(&node->ipt_lock);
	return left;
}

/*
 * An attempt has failed. Another version where the peer was is another epoch, whose number
 * is unknown; with keys it is not proved. A refusal alone may be a firewall's.
 */
static void attempt_failed(struct nswap_peer *peer, int ret)
{
	nswap_suspicion_failed(peer, ret);
	if ((ret == -ECONNREFUSED && session_left(peer)) ||
	    (ret == -EPROTONOSUPPORT && !nswap_address_hinted(peer) &&
	     !peer->node->identity))
		nswap_peer_become(peer, BIT(NSWAP_PEER_CONNECTING) |
				  BIT(NSWAP_PEER_SUSPECTED), NSWAP_PEER_DEAD);
}

static int session_leader(void *data)
{
	struct nswap_peer *peer = data;
	unsigned long since;
	int ret;

	while (goes_on(peer)) {
		since = jiffies;
		ret = session_open(peer);
		if (ret && ret != -ERESTART)
			attempt_failed(peer, ret);
		if (!ret && !peer->held_there)
			nswap_loss_forgotten(peer);
		if (!ret && session_up(peer)) {
			session_receive(&peer->conn[0]);
			session_down(peer);
		}
		if (time_before(jiffies, since + HZ))
			pause_ms(peer, session_pause(ret));
	}
	WRITE_ONCE(peer->ended, true);
	wake_up_all(&peer->wait);
	while (!kthread_should_stop())
		wait_event_interruptible(peer->wait, kthread_should_stop());
	return 0;
}

/* connection 0 gets the leader, the others get followers */
static struct task_struct *session_thread(struct nswap_conn *c)
{
	struct nswap_peer *peer = c->peer;
	u32 number = peer->node->number;

	if (nswap_inject_no_threads())
		return ERR_PTR(-ENOMEM);
	if (!c->number)
		return kthread_create(session_leader, peer, "nswap/%u-%u",
				      number, peer->index);
	return kthread_create(session_follower, c, "nswap/%u-%u.%u", number,
			      peer->index, c->number);
}

/*
 * Create the threads of a peer, which connect. @peer: a peer without threads. Context:
 * process, sleeps; never on the reclaim path. Returns 0, or the error of creating a
 * thread.
 */
int nswap_session_start(struct nswap_peer *peer)
{
	struct task_struct *t;
	u32 i;

	nswap_peer_become(peer, BIT(NSWAP_PEER_NEW), NSWAP_PEER_CONNECTING);
	for (i = peer->nr_conns; i--;) {
		struct nswap_conn *c = &peer->conn[i];

		t = session_thread(c);
		if (IS_ERR(t)) {
			/* there is no leader yet, so there was no session */
			nswap_session_stop(peer);
			WRITE_ONCE(peer->stop, false);
			nswap_peer_become(peer, BIT(NSWAP_PEER_CONNECTING),
					  NSWAP_PEER_NEW);
			return PTR_ERR(t);
		}
		get_task_struct(t);
		c->thread = t;
		wake_up_process(t);
	}
	return 0;
}

/*
 * End the session for good, without waiting for that; process; waits for sends in
 * progress, which do not wait.
 */
void nswap_session_end(struct nswap_peer *peer)
{
	WRITE_ONCE(peer->stop, true);
	nswap_session_break(peer);
}

/*
 * End the session and its threads for good; process, sleeps; at most about a second
 * for a connect in progress.
 */
void nswap_session_stop(struct nswap_peer *peer)
{
	u32 i;

	nswap_session_end(peer);
	if (peer->conn[0].thread)
		wait_event(peer->wait, READ_ONCE(peer->ended));
	for (i = 0; i < peer->nr_conns; i++) {
		struct nswap_conn *c = &peer->conn[i];

		if (!c->thread)
			continue;
		kthread_stop(c->thread);
		put_task_struct(c->thread);
		c->thread = NULL;
	}
	nswap_parked_stop(peer);
}

/*
 * Tear the session down; the leader opens a new one; process; waits for sends in
 * progress, which do not wait.
 */
void nswap_session_break(struct nswap_peer *peer)
{
	u32 i;

	set_bit(0, &peer->broken);
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_shutdown(&peer->conn[i]);
	wake_up_all(&peer->wait);
}

/* the connection for a page-in from this CPU: the next one while that is late */
struct nswap_conn *nswap_session_load_conn(struct nswap_peer *peer)
{
	unsigned int nr = peer->nr_conns - 1, at = raw_smp_processor_id() % nr;
	unsigned long late = READ_ONCE(peer->late);
	unsigned int i;

	for (i = 0; late & BIT(at) && i < nr; i++)
		at = (at + 1) % nr;
	return &peer->conn[at];
}

/* the connection for page-outs */
struct nswap_conn *nswap_session_store_conn(struct nswap_peer *peer)
{
	return &peer->conn[peer->nr_conns - 1];
}
