// SPDX-License-Identifier: GPL-2.0
/*
 * Session: all connections of this node's client to one peer, up or down
 * together.
 *
 *   leader: [connect, greet] x n -> UP -> receive ... broken -> SILENT -> again
 *                                                \-> LOST (another epoch)
 *   ticker: SILENT for dead_after -> DEAD;  leader: refused -> DEAD
 *
 * Each connection has one thread, its receiver; the one of connection 0 is the
 * leader: it opens and closes every link, so that no thread is ever made and
 * no memory beyond the sockets is needed to come back after a cut.
 *
 * Invariants:
 *  - Links are opened and closed by the leader only, and closed only when no
 *    follower receives.
 *  - A session's number is higher than that of every earlier one of this
 *    node's epoch: the server fences those before the first request counts.
 *  - Between the end of a session and the next every message is handed back
 *    exactly once (nswap_conn_close()): page-outs are placed elsewhere,
 *    page-ins are parked here until the session is back, dead_after is over,
 *    or a new epoch proves the page lost.
 *
 * Lock order: none is held while another is taken, but conn->tx -> conn->lock.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include "base/hooks.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/views.h"
#include "core/client_state.h"
#include "core/inject.h"
#include "core/node.h"
#include "handshake.h"
#include "loss.h"
#include "peer.h"
#include "place.h"
#include "pure/wire.h"
#include "session.h"
#include "transport/conn.h"
#include "transport/rx_affinity.h"
#include "transport/transport.h"

#define RETRY_MS	300	/* after an attempt that failed */
#define AGAIN_MS	20	/* after a session that broke at once */
#define OTHER_MS	2000	/* after another version of the protocol */

/*
 * The leader is told to end by @stop, and by kthread_stop() only when it has:
 * a thread with the latter set no longer sleeps in a socket, it spins.
 */
static bool goes_on(struct nswap_peer *peer)
{
	return !READ_ONCE(peer->stop) &&
	       READ_ONCE(peer->state) != NSWAP_PEER_LOST;
}

static int shake_hands(struct nswap_conn *c, struct nswap_handshake *hs,
		       struct nswap_link *l)
{
	struct nswap_peer *peer = c->peer;
	int ret;

	ret = nswap_handshake_greet(hs, l);
	if (!ret)
		ret = nswap_peer_greeted(peer, hs->id, hs->epoch);
	if (!ret)
		ret = nswap_handshake_hello(hs, l);
	if (ret)
		return ret;
	c->t->recv_timeout(l, 0);
	if (c->number)
		/* one epoch is one module: what it has does not change */
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
		.node = c->peer->node, .t = c->t, .addr = &c->peer->addr,
		.class = c->class, .session = c->peer->session,
	};
	struct nswap_link *l = nswap_handshake_connect(&hs);

	if (IS_ERR(l))
		return PTR_ERR(l);
	/* known to nswap_session_break() from now on */
	nswap_conn_open(c, l);
	return goes_on(c->peer) ? shake_hands(c, &hs, l) : -ESHUTDOWN;
}

static void session_close(struct nswap_peer *peer)
{
	struct nswap_msg *m, *next;
	LIST_HEAD(lost);
	u32 i;

	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_close(&peer->conn[i], &lost);
	list_for_each_entry_safe(m, next, &lost, link) {
		list_del_init(&m->link);
		m->lost(m);
	}
}

static int session_open(struct nswap_peer *peer)
{
	int ret = 0;
	u32 i;

	peer->session = atomic64_inc_return(&peer->node->client->next_session);
	clear_bit(0, &peer->broken);
	/* pairs with the lock in nswap_peer_lost(): break after this is seen */
	smp_mb__after_atomic();
	if (!goes_on(peer))
		return -ESHUTDOWN;
	for (i = 0; i < peer->nr_conns && !ret; i++)
		ret = open_conn(&peer->conn[i]);
	if (ret)
		session_close(peer);
	return ret;
}

/* false if the peer was lost meanwhile */
static bool session_up(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	bool up;
	u32 i;

	peer->heard = jiffies;
	peer->used = jiffies;
	WRITE_ONCE(peer->asked, 0);
	spin_lock(&peer->lock);
	up = peer->state != NSWAP_PEER_LOST;
	if (up)
		peer->state = NSWAP_PEER_UP;
	WRITE_ONCE(peer->reconcile.due, jiffies);
	spin_unlock(&peer->lock);
	if (!up) {
		session_close(peer);
		return false;
	}
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_up(&peer->conn[i]);
	nswap_place_add(node, peer->index, peer->grants, peer->free);
	atomic_set(&peer->followers, peer->nr_conns - 1);
	/* pairs with session_follower(): its link is there */
	smp_store_release(&peer->phase, peer->phase + 1);
	wake_up_all(&peer->wait);
	nswap_stat_inc(node, sessions);
	nswap_session_resend(peer);
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
	if (ret == -EPROTO || ret == -EPROTONOSUPPORT)
		nswap_warn(peer->node, "peer %s sent a message this node does not understand (%s)",
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
		/* pairs with session_up(): the link is there */
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

	nswap_place_remove(node, peer->index);
	spin_lock(&peer->lock);
	if (peer->state == NSWAP_PEER_UP)
		peer->state = NSWAP_PEER_SILENT;
	spin_unlock(&peer->lock);
	wake_up_all(&peer->wait);
	wait_event(peer->wait, !atomic_read(&peer->followers));
	session_close(peer);
	/* acks taken in after the peer was lost may have named it again */
	if (READ_ONCE(peer->state) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
	nswap_client_kick(node);
}

static void session_refused(struct nswap_peer *peer)
{
	spin_lock(&peer->lock);
	if (peer->state == NSWAP_PEER_SILENT ||
	    peer->state == NSWAP_PEER_CONNECTING)
		peer->state = NSWAP_PEER_DEAD;
	spin_unlock(&peer->lock);
	nswap_session_fail_parked(peer);
}

/* how long to wait after an attempt that ended with @ret */
static unsigned int session_pause(int ret)
{
	if (ret == -EPROTONOSUPPORT)
		return OTHER_MS;
	return ret ? RETRY_MS : AGAIN_MS;
}

static void pause_ms(struct nswap_peer *peer, unsigned int ms)
{
	wait_event_interruptible_timeout(peer->wait, !goes_on(peer),
					 msecs_to_jiffies(ms));
}

static int session_leader(void *data)
{
	struct nswap_peer *peer = data;
	unsigned long since;
	int ret;

	while (goes_on(peer)) {
		since = jiffies;
		ret = session_open(peer);
		/* another version is another epoch, whose number is unknown */
		if (ret == -ECONNREFUSED || ret == -EPROTONOSUPPORT)
			session_refused(peer);
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

static void may_start_again(struct nswap_peer *peer)
{
	spin_lock(&peer->lock);
	if (peer->state == NSWAP_PEER_CONNECTING)
		peer->state = NSWAP_PEER_NEW;
	peer->stop = false;
	spin_unlock(&peer->lock);
}

/**
 * nswap_session_start() - make the threads of a peer and let them connect
 * @peer: a peer without threads
 *
 * Context: process, sleeps; never on the reclaim path.
 * Return: 0, or an error from making a thread.
 */
int nswap_session_start(struct nswap_peer *peer)
{
	struct task_struct *t;
	u32 i;

	spin_lock(&peer->lock);
	if (peer->state == NSWAP_PEER_NEW)
		peer->state = NSWAP_PEER_CONNECTING;
	spin_unlock(&peer->lock);
	for (i = peer->nr_conns; i--;) {
		struct nswap_conn *c = &peer->conn[i];

		t = nswap_inject_no_threads() ? ERR_PTR(-ENOMEM) :
		    i ? kthread_create(session_follower, c, "nswap/%u-%u.%u",
				       peer->node->number, peer->index, i) :
			kthread_create(session_leader, peer, "nswap/%u-%u",
				       peer->node->number, peer->index);
		if (IS_ERR(t)) {
			nswap_session_stop(peer);
			may_start_again(peer);
			return PTR_ERR(t);
		}
		get_task_struct(t);
		c->thread = t;
		wake_up_process(t);
	}
	return 0;
}

/**
 * nswap_session_end() - the session is to end for good; does not wait for it
 * @peer: a peer; threads or not
 *
 * Context: process; waits for sends under way, which do not wait.
 */
void nswap_session_end(struct nswap_peer *peer)
{
	WRITE_ONCE(peer->stop, true);
	nswap_session_break(peer);
}

/**
 * nswap_session_stop() - end the session and its threads for good
 * @peer: a peer; threads or not
 *
 * Context: process, sleeps; at most about a second for a connect under way.
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
	nswap_session_fail_parked(peer);
}

/**
 * nswap_session_break() - tear the session down; the leader makes a new one
 * @peer: a peer
 *
 * Context: process; waits for sends under way, which do not wait.
 */
void nswap_session_break(struct nswap_peer *peer)
{
	u32 i;

	set_bit(0, &peer->broken);
	for (i = 0; i < peer->nr_conns; i++)
		nswap_conn_shutdown(&peer->conn[i]);
	wake_up_all(&peer->wait);
}

/**
 * nswap_session_park() - keep a page-in until the session is back
 * @peer: its peer
 * @m: an IDLE message
 *
 * Context: process, page-in path; does not sleep.
 * Return: 0; -EHOSTDOWN if the peer is dead or lost: nothing to wait for.
 */
int nswap_session_park(struct nswap_peer *peer, struct nswap_msg *m)
{
	int ret = -EHOSTDOWN;

	spin_lock(&peer->lock);
	if (peer->state != NSWAP_PEER_DEAD && peer->state != NSWAP_PEER_LOST &&
	    !peer->stop) {
		list_add_tail(&m->link, &peer->parked);
		ret = 0;
	}
	spin_unlock(&peer->lock);
	return ret;
}

static void take_parked(struct nswap_peer *peer, struct list_head *parked)
{
	spin_lock(&peer->lock);
	list_splice_init(&peer->parked, parked);
	spin_unlock(&peer->lock);
}

/**
 * nswap_session_resend() - send again what was parked
 * @peer: a peer that is UP
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_session_resend(struct nswap_peer *peer)
{
	struct nswap_msg *m, *next;
	LIST_HEAD(parked);

	take_parked(peer, &parked);
	list_for_each_entry_safe(m, next, &parked, link) {
		list_del_init(&m->link);
		nswap_hooks.resend(peer, m);
	}
}

/**
 * nswap_session_fail_parked() - what was parked gets its error
 * @peer: a peer whose state says so already: DEAD or LOST, or stopped
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_session_fail_parked(struct nswap_peer *peer)
{
	struct nswap_msg *m, *next;
	LIST_HEAD(parked);

	take_parked(peer, &parked);
	list_for_each_entry_safe(m, next, &parked, link) {
		list_del_init(&m->link);
		m->lost(m);
	}
}

/**
 * nswap_session_load_conn() - the connection for a page-in from this CPU
 * @peer: a peer
 *
 * Context: any.
 * Return: one of its connections; it need not be up.
 */
struct nswap_conn *nswap_session_load_conn(struct nswap_peer *peer)
{
	return &peer->conn[raw_smp_processor_id() % (peer->nr_conns - 1)];
}

/**
 * nswap_session_store_conn() - the connection for page-outs
 * @peer: a peer
 *
 * Context: any.
 * Return: its connection for stores; it need not be up.
 */
struct nswap_conn *nswap_session_store_conn(struct nswap_peer *peer)
{
	return &peer->conn[peer->nr_conns - 1];
}
