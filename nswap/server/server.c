// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: accepting connections.
 *
 * One thread per node accepts; hands (hands.c) greet and serve. When the node's address
 * changes the acceptor listens there; owners come again from theirs.
 *
 * Invariants:
 *  - A connection's hand is the only one that receives on or closes its link; others may
 *    shut it down while it is in its owner's list or the acceptor's (each under its
 *    mutex), so that a hand finds it ended.
 *  - A connection that has ended stays in the acceptor's list until it is reaped. It is
 *    listed and given to a hand in one critical section, so what has ended there is over.
 *  - Only peers of the list or the subnet are greeted, and an address may have
 *    only a few connections that have not said HELLO. One that is too many ends the oldest
 *    of them, so that hosts that say nothing keep out no member.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "base/log.h"
#include "server.h"
#include "core/inject.h"
#include "core/node.h"
#include "core/subnet.h"
#include "keys/exchange.h"
#include "owner.h"
#include "transport/rx_affinity.h"

#define HELLO_MS	5000
#define INJECT_MS	6000	/* longer than between two sweeps */
#define SILENT_S	60u
#define MAX_STRANGERS	128	/* those included that have been ended and are still here */
#define FEW_STRANGERS	96
#define FEW_STRANGERS_EACH	(2 * NSWAP_MAX_CONNS)
#define MAX_CONNS	(NSWAP_MAX_PEERS * NSWAP_MAX_CONNS)

/**
 * struct nswap_acceptor - accepts the connections of a node
 * @node: node
 * @t: transport
 * @listener: listening link; changed by @thread only, under @lock
 * @stop: no other link is to be made to listen
 * @moved: the node has another address than @listener
 * @thread: the accepting thread
 * @lock: protects @listener, @stop, @moved, @conns, @nr_conns
 * @conns: connections, ended ones too
 * @nr_conns: how many
 * @spares: connections made before they are needed
 * @hands: the threads that serve connections
 * @next_ticket: for the next connection; used by @thread only
 * @ready: @error is set
 * @error: result of listening
 */
struct nswap_acceptor {
	struct nswap_node *node;
	const struct nswap_transport_ops *t;
	struct nswap_link *listener;
	bool stop;
	bool moved;
	struct task_struct *thread;
	struct mutex lock;
	struct list_head conns;
	unsigned int nr_conns;
	struct nswap_spares *spares;
	struct nswap_hands *hands;
	u64 next_ticket;
	struct completion ready;
	int error;
};

static void is_known(struct nswap_srv_conn *conn)
{
	WRITE_ONCE(conn->stranger, false);
}

static void close_conn(struct nswap_srv_conn *conn)
{
	struct nswap_acceptor *a = conn->node->acceptor;
	struct nswap_link *l = conn->l;

	nswap_conn_leaves(conn);
	nswap_owner_bye(conn->node->cache, conn);
	mutex_lock(&a->lock);
	conn->l = NULL;
	mutex_unlock(&a->lock);
	nswap_exchange_end(&conn->exchange);
	memzero_explicit(&conn->tags, sizeof(conn->tags));
	conn->t->close(l);
}

/*
 * How long may a connection rest, ms; 0 without end. An owner pings on its control connection,
 * and a mover closes a connection that it does not use: a longer silence means that the
 * peer is gone.
 */
static unsigned int server_silence_ms(const struct nswap_srv_conn *conn)
{
	u32 lease = nswap_knob(conn->node, lease_s);

	if (READ_ONCE(conn->stranger))
		return HELLO_MS;
	if (READ_ONCE(conn->phase) == NSWAP_CONN_BEGUN)
		return NSWAP_SERVE_MS;
	if (conn->class == NSWAP_CLASS_LOAD || conn->class == NSWAP_CLASS_STORE)
		return 0;
	return min(lease, SILENT_S) * MSEC_PER_SEC;
}

/* a message, or the rest of one: what has come of it */
static int server_message(struct nswap_srv_conn *conn)
{
	if (conn->phase == NSWAP_CONN_KNOWN)
		return nswap_serve(conn);
	WRITE_ONCE(conn->phase, NSWAP_CONN_KNOWN);
	conn->need = sizeof(conn->rx);
	return nswap_serve_rest(conn);
}

/* has it not said all of HELLO yet? */
static bool server_greets(const struct nswap_srv_conn *conn)
{
	return conn->phase < NSWAP_CONN_KNOWN;
}

/* what has come: a part of HELLO, or of a message. Returns 0 to go on, or an error */
static int server_step(struct nswap_srv_conn *conn, struct nswap_rx_affinity *f)
{
	int ret;

	switch (conn->phase) {
	case NSWAP_CONN_GREETED:
		return nswap_greet_header(conn);
	case NSWAP_CONN_HELLO:
		ret = nswap_greet_hello(conn);
		is_known(conn);
		return ret;
	default:
		ret = server_message(conn);
		nswap_rx_affinity(f, conn->t->cpu(conn->l));
		if (!ret && !conn->t->pending(conn->l, conn->need))
			ret = nswap_answers_send(conn);
		return ret;
	}
}

/* GREET, HELLO, then messages. Returns 0 when it is to rest or others come first */
static int server_serve(struct nswap_srv_conn *conn, struct nswap_rx_affinity *f)
{
	bool stranger = server_greets(conn);
	unsigned long begun = jiffies;
	unsigned int n = 0;
	int ret = 0;

	if (conn->phase == NSWAP_CONN_NEW)
		ret = nswap_greet(conn);
	/* what kind of connection it is counts from its next turn on */
	while (!ret && stranger == server_greets(conn) &&
	       nswap_conn_stays(conn, n++, begun))
		ret = server_step(conn, f);
	return ret ?: nswap_answers_send(conn);
}

/* what a hand does with a connection: false if the link is closed then */
static bool server_turn(struct nswap_srv_conn *conn, struct nswap_rx_affinity *f)
{
	int ret = server_serve(conn, f);

	if (!ret)
		return true;
	if (conn->stranger)
		is_known(conn);
	/* what was answered, even if the link is closed for what came then */
	nswap_answers_send(conn);
	nswap_greet_refused(conn, ret);
	if (ret == -EPROTO || ret == -EPROTONOSUPPORT)
		nswap_warn(conn->node, "closed a connection: a message this node does not understand (%s); see nswapctl peers, and install the same version of nswap on all nodes",
			   nswap_wire_name(conn->rx.type));
	close_conn(conn);
	return false;
}

/**
 * struct strangers - connections that have not said hello
 * @nr: how many there are
 * @left: those of them that have not been ended
 * @oldest: the first one of these, NULL for none
 */
struct strangers {
	unsigned int nr;
	unsigned int left;
	struct nswap_srv_conn *oldest;
};

static void strangers_count(struct strangers *s, struct nswap_srv_conn *conn)
{
	s->nr++;
	if (conn->ousted || !conn->l)
		return;
	s->left++;
	s->oldest = s->oldest ?: conn;
}

/*
 * Is there room for one more connection from this address? One too many ends the oldest that
 * has not said hello, of its own address or of all; until they are gone there are some more.
 * The acceptor's thread.
 */
static bool server_has_room(struct nswap_acceptor *a, const struct nswap_addr *from)
{
	struct strangers all = {}, own = {}, *few = NULL;
	struct nswap_srv_conn *conn;
	bool room;

	mutex_lock(&a->lock);
	list_for_each_entry(conn, &a->conns, link) {
		if (!READ_ONCE(conn->stranger))
			continue;
		strangers_count(&all, conn);
		if (!memcmp(conn->from.ip, from->ip, sizeof(from->ip)))
			strangers_count(&own, conn);
	}
	room = a->nr_conns < MAX_CONNS && all.nr < MAX_STRANGERS &&
	       own.nr < 2 * FEW_STRANGERS_EACH;
	if (own.left >= FEW_STRANGERS_EACH)
		few = &own;
	else if (all.left >= FEW_STRANGERS)
		few = &all;
	if (room && few) {
		few->oldest->ousted = true;
		few->oldest->t->shutdown(few->oldest->l);
	}
	mutex_unlock(&a->lock);
	return room;
}

static void give_link(struct nswap_acceptor *a, struct nswap_srv_conn *conn,
		      struct nswap_link *l, const struct nswap_addr *from)
{
	conn->from = *from;
	conn->stranger = true;
	conn->ticket = ++a->next_ticket;
	mutex_lock(&a->lock);
	conn->l = l;
	list_add_tail(&conn->link, &a->conns);
	a->nr_conns++;
	if (nswap_inject_slow_link())
		msleep(INJECT_MS);
	nswap_conn_add(a->hands, conn);
	mutex_unlock(&a->lock);
}

/* on failure the caller keeps the link */
static int take_conn(struct nswap_acceptor *a, struct nswap_link *l)
{
	struct nswap_srv_conn *conn;
	struct nswap_addr from;

	if (a->t->peer_addr(l, &from) ||
	    !nswap_subnet_accepts(a->node, &from, 0))
		return -EACCES;
	if (!server_has_room(a, &from))
		return -EMFILE;
	conn = nswap_conn_pool_take(a->spares);
	if (!conn)
		return -ENOMEM;
	give_link(a, conn, l, &from);
	return 0;
}

/* make spare connections of those that have ended, which needs no memory */
static void server_reap(struct nswap_acceptor *a)
{
	struct nswap_srv_conn *conn, *next;
	LIST_HEAD(dead);

	mutex_lock(&a->lock);
	list_for_each_entry_safe(conn, next, &a->conns, link) {
		if (!nswap_conn_ended(conn))
			continue;
		list_move(&conn->link, &dead);
		a->nr_conns--;
	}
	mutex_unlock(&a->lock);
	list_for_each_entry_safe(conn, next, &dead, link)
		nswap_conn_pool_give(a->spares, conn);
}

/* listen at the node's address; the acceptor's thread */
static int server_listen(struct nswap_acceptor *a)
{
	struct nswap_addr own = nswap_node_addr(a->node);
	struct nswap_link *l = a->t->listen(a->node->net, &own);

	if (IS_ERR(l))
		return PTR_ERR(l);
	mutex_lock(&a->lock);
	a->listener = l;
	/* perhaps moved since the address was read: accept fails then, and listens again */
	if (a->stop || a->moved)
		a->t->shutdown(l);
	mutex_unlock(&a->lock);
	return 0;
}

/*
 * The link does not accept: listen at another address, or again in a moment; another one, too,
 * if it does not listen any more without being told to: "ss -K" closes it.
 */
static void listen_again(struct nswap_acceptor *a, int error)
{
	struct nswap_link *old = NULL;

	mutex_lock(&a->lock);
	if (a->moved || (error == -EINVAL && !a->stop)) {
		old = a->listener;
		a->listener = NULL;
	}
	a->moved = false;
	mutex_unlock(&a->lock);
	if (old)
		a->t->close(old);
	if ((a->listener || server_listen(a)) && !kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
}

static int accept_loop(void *data)
{
	struct nswap_acceptor *a = data;
	struct nswap_link *l;

	a->error = server_listen(a);
	complete(&a->ready);
	while (!a->error && !kthread_should_stop()) {
		l = a->listener ? a->t->accept(a->listener) : ERR_PTR(-ENOTCONN);
		if (IS_ERR(l)) {
			listen_again(a, PTR_ERR(l));
			continue;
		}
		server_reap(a);
		if (take_conn(a, l))
			a->t->close(l);
	}
	if (a->listener)
		a->t->close(a->listener);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* end all connections, when no more are accepted */
static void end_all(struct nswap_acceptor *a)
{
	nswap_server_again(a->node);
	nswap_hands_stop(a->hands);
	server_reap(a);
	nswap_conn_pool_stop(a->spares);
}

/* End all connections there are: they have to say HELLO again; process, sleeps for a lock. */
void nswap_server_again(struct nswap_node *node)
{
	struct nswap_acceptor *a = node->acceptor;
	struct nswap_srv_conn *conn;

	mutex_lock(&a->lock);
	list_for_each_entry(conn, &a->conns, link)
		if (conn->l)
			conn->t->shutdown(conn->l);
	mutex_unlock(&a->lock);
}

/* connections that have rested for too long: the peer is gone */
static void server_silent(struct nswap_acceptor *a)
{
	struct nswap_srv_conn *conn;

	mutex_lock(&a->lock);
	list_for_each_entry(conn, &a->conns, link) {
		unsigned int ms = server_silence_ms(conn);

		if (!conn->l)
			continue;
		/* @since is of the rest that began; pairs with what sets the state */
		if (smp_load_acquire(&conn->state) != NSWAP_CONN_RESTING)
			continue;
		if (ms && time_after(jiffies, READ_ONCE(conn->since) + msecs_to_jiffies(ms)))
			conn->t->shutdown(conn->l);
		/* should a call of the link have been missed */
		nswap_conn_look(conn);
	}
	mutex_unlock(&a->lock);
}

/* reap connections that have ended, make spare ones, end those that are silent */
void nswap_server_sweep(struct nswap_node *node)
{
	server_silent(node->acceptor);
	server_reap(node->acceptor);
	nswap_conn_pool_fill(node->acceptor->spares);
	nswap_hands_sweep(node->acceptor->hands);
}

/* Listen at the node's new address; connections stay; process, sleeps for a lock. */
void nswap_server_rebind(struct nswap_node *node)
{
	struct nswap_acceptor *a = node->acceptor;

	mutex_lock(&a->lock);
	a->moved = true;
	if (a->listener)
		a->t->shutdown(a->listener);
	mutex_unlock(&a->lock);
}

static void server_explain(struct nswap_node *node, int error,
			   struct netlink_ext_ack *ext)
{
	if (error == -EADDRINUSE)
		NL_SET_ERR_MSG(ext, "the TCP port is taken in this network namespace: choose another with --port");
	else if (error == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG(ext, "the address is not one of this network namespace: see ip address");
	else
		NL_SET_ERR_MSG(ext, "cannot listen on this address and port");
}

/* Returns 0, -ENOMEM or another error of kthread creation; then there is nothing to undo */
static int server_threads(struct nswap_acceptor *a)
{
	a->spares = nswap_conn_pool_start(a->node);
	if (!a->spares)
		return -ENOMEM;
	a->hands = nswap_hands_start(a->node, server_turn);
	a->thread = a->hands ?
		kthread_run(accept_loop, a, "nswap/%u-accept", a->node->number) :
		ERR_PTR(-ENOMEM);
	if (!IS_ERR(a->thread))
		return 0;
	if (a->hands)
		nswap_hands_stop(a->hands);
	nswap_conn_pool_stop(a->spares);
	return PTR_ERR(a->thread);
}

/*
 * Listen. Context: process, sleeps; a separate thread creates the socket. Returns 0,
 * -ENOMEM, or the transport's error.
 */
int nswap_server_start(struct nswap_node *node, struct netlink_ext_ack *ext)
{
	struct nswap_acceptor *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int ret;

	if (!a)
		return -ENOMEM;
	a->node = node;
	a->t = &nswap_tcp_ops;
	mutex_init(&a->lock);
	INIT_LIST_HEAD(&a->conns);
	init_completion(&a->ready);
	node->acceptor = a;
	ret = server_threads(a);
	if (ret) {
		node->acceptor = NULL;
		kfree(a);
		return ret;
	}
	wait_for_completion(&a->ready);
	ret = a->error;
	if (ret) {
		server_explain(node, ret, ext);
		nswap_server_stop(node);
	}
	return ret;
}

/* stop accepting and end all connections */
void nswap_server_stop(struct nswap_node *node)
{
	struct nswap_acceptor *a = node->acceptor;

	if (!a)
		return;
	mutex_lock(&a->lock);
	a->stop = true;
	if (a->listener)
		a->t->shutdown(a->listener);
	mutex_unlock(&a->lock);
	kthread_stop(a->thread);
	end_all(a);
	node->acceptor = NULL;
	kfree(a);
}
