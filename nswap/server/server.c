// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: accepting connections.
 *
 * One thread per node accepts, one thread per connection greets and serves. When the
 * node's address changes the first one listens there; owners come again from theirs.
 *
 * Invariants:
 *  - A connection's thread is the only one that receives on or closes its link;
 *    others may shut it down while it is in its owner's list or the acceptor's
 *    (each under its mutex).
 *  - A connection that has ended stays in the acceptor's list, done, until it
 *    is reaped: no thread of this module outlives it. It is listed and no longer done
 *    in one critical section, so what is done there has ended.
 *  - Only peers of the list or the subnet are greeted, and an address may have
 *    only a few connections that have not said HELLO.
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
#include "held.h"
#include "keys/exchange.h"
#include "owner.h"
#include "peers/version.h"
#include "transport/rx_affinity.h"
#include "transport/sockaddr.h"

#define HELLO_MS	5000
#define INJECT_MS	6000	/* longer than between two sweeps */
#define SILENT_S	60u
#define MAX_STRANGERS	128
#define MAX_STRANGERS_EACH	(2 * NSWAP_MAX_CONNS)
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
 * @strangers: connections that have not said hello
 * @spares: connections made before they are needed
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
	atomic_t strangers;
	struct nswap_spares *spares;
	u64 next_ticket;
	struct completion ready;
	int error;
};

static int server_greet(struct nswap_srv_conn *conn, struct nswap_exchange *x)
{
	struct nswap_identity *me = conn->node->identity;
	struct {
		struct nswap_wire_hdr hdr;
		struct nswap_wire_greet greet;
	} __packed m = {};

	nswap_wire_init(&m.hdr, NSWAP_GREET, 0, sizeof(m.greet));
	m.greet.id = cpu_to_le64(conn->node->id);
	m.greet.epoch = cpu_to_le64(conn->node->epoch);
	m.greet.ticket = cpu_to_le64(conn->ticket);
	if (me && nswap_exchange_greet(x, me, &m.greet))
		return -EAGAIN;
	return nswap_send_buf(conn->t, conn->l, &m, sizeof(m));
}

/*
 * How long may nothing be heard on a connection? An owner pings on its control
 * connection, and a mover closes a connection that it does not use: a longer silence
 * means that the peer is gone. Returns ms, 0 for no limit.
 */
unsigned int nswap_server_silence_ms(const struct nswap_srv_conn *conn)
{
	u32 lease = nswap_knob(conn->node, lease_s);

	if (conn->class == NSWAP_CLASS_LOAD || conn->class == NSWAP_CLASS_STORE)
		return 0;
	return min(lease, SILENT_S) * MSEC_PER_SEC;
}

static int send_welcome(struct nswap_srv_conn *conn, u16 status,
			struct nswap_exchange *x)
{
	struct nswap_cache *c = conn->node->cache;
	struct {
		struct nswap_wire_hdr hdr;
		struct nswap_wire_welcome welcome;
	} __packed m = {};

	nswap_wire_init(&m.hdr, NSWAP_HELLO_ACK, 0, sizeof(m.welcome));
	m.hdr.id = conn->rx.id;
	m.hdr.status = cpu_to_le16(status);
	if (status == NSWAP_ST_OK && conn->class == NSWAP_CLASS_CONTROL)
		m.hdr.grants = cpu_to_le32(nswap_held_grant(c, conn, 0, 0));
	m.hdr.slot = cpu_to_le64(nswap_owner_held(c, conn));
	m.hdr.free = cpu_to_le64(nswap_cache_free_pages(c, conn->owner));
	m.welcome.features = cpu_to_le64(NSWAP_HAS_ALL);
	if (conn->node->identity) {
		nswap_exchange_welcome(x, &m.hdr, &m.welcome);
		nswap_exchange_tags(x, &conn->tags, true);
	}
	return nswap_send_buf(conn->t, conn->l, &m, sizeof(m));
}

static int take_hello(struct nswap_srv_conn *conn, struct nswap_exchange *x)
{
	struct nswap_identity *me = conn->node->identity;
	struct nswap_cache *c = conn->node->cache;
	struct nswap_wire_hello hello;
	u16 status;
	int ret;

	conn->t->recv_timeout(conn->l, HELLO_MS);
	ret = nswap_recv_buf(conn->t, conn->l, &conn->rx, sizeof(conn->rx));
	if (!ret)
		ret = nswap_wire_check(&conn->rx);
	if (ret == -EPROTONOSUPPORT) {
		/* it may not understand an answer of ours: send none */
		if (!me)
			nswap_version_client(conn->node, &conn->from, conn->rx.version);
		return -EACCES;
	}
	if (!ret && conn->rx.type != NSWAP_HELLO)
		ret = -EPROTO;
	if (!ret)
		ret = nswap_recv_buf(conn->t, conn->l, &hello, sizeof(hello));
	if (!ret && me)
		ret = nswap_exchange_heard(x, me, &hello);
	if (ret)
		return ret;
	status = READ_ONCE(conn->node->going) ? NSWAP_ST_LEAVING :
		 nswap_owner_hello(c, conn, &hello);
	/* now, while the owner waits for the answer and nothing is under way */
	if (status == NSWAP_ST_OK && (hello.class == NSWAP_CLASS_STORE ||
				      hello.class == NSWAP_CLASS_MOVE))
		conn->t->no_reserves(conn->l);
	ret = send_welcome(conn, status, x);
	if (!ret && status != NSWAP_ST_OK)
		ret = -EACCES;
	conn->t->recv_timeout(conn->l, nswap_server_silence_ms(conn));
	if (conn->class <= NSWAP_CLASS_STORE)
		conn->t->read_ahead(conn->l, conn->class == NSWAP_CLASS_STORE ?
				    NSWAP_AHEAD_PAGES : NSWAP_AHEAD_SMALL);
	return ret;
}

static void is_known(struct nswap_srv_conn *conn)
{
	WRITE_ONCE(conn->stranger, false);
	atomic_dec(&conn->node->acceptor->strangers);
}

static void close_conn(struct nswap_srv_conn *conn)
{
	struct nswap_acceptor *a = conn->node->acceptor;
	struct nswap_link *l = conn->l;

	nswap_owner_bye(conn->node->cache, conn);
	mutex_lock(&a->lock);
	conn->l = NULL;
	mutex_unlock(&a->lock);
	memzero_explicit(&conn->tags, sizeof(conn->tags));
	conn->t->close(l);
}

/* count and tell why a connection of a node with keys has ended, if they were why */
static void server_refused(struct nswap_srv_conn *conn, int ret)
{
	struct sockaddr_storage ss;
	const char *why = ret == -ENOKEY ? "it has no keys" :
			  ret == -EKEYREJECTED ? "it is no member" :
			  ret == -EBADMSG ? "it is not who it says, or a message was forged" :
					    NULL;

	if (!why)
		return;
	nswap_stat_inc(conn->node, keys_refused);
	if (nswap_to_sockaddr(&conn->from, &ss) > 0)
		nswap_warn(conn->node, "refused a connection from %pISpc: %s; if it is to take part, make it a member (nswapctl key)",
			   &ss, why);
}

static void serve_link(struct nswap_srv_conn *conn)
{
	struct nswap_exchange x = {};
	struct nswap_rx_affinity f;
	int ret;

	nswap_rx_affinity_start(&f);
	ret = server_greet(conn, &x);
	if (!ret)
		ret = take_hello(conn, &x);
	nswap_exchange_end(&x);
	is_known(conn);
	while (!ret && !kthread_should_stop()) {
		ret = nswap_serve(conn);
		nswap_rx_affinity(&f, conn->t->cpu(conn->l));
	}
	/* what was answered, even if the link is closed for what came then */
	nswap_answers_send(conn);
	server_refused(conn, ret);
	if (ret == -EPROTO || ret == -EPROTONOSUPPORT)
		nswap_warn(conn->node, "closed a connection: a message this node does not understand (%s); see nswapctl peers, and install the same version of nswap on all nodes",
			   nswap_wire_name(conn->rx.type));
	close_conn(conn);
}

/* thread of a connection: serves one link after the other that it is given */
static int serve_conn(void *data)
{
	struct nswap_srv_conn *conn = data;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		/* pairs with give_link() */
		if (smp_load_acquire(&conn->done)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		serve_link(conn);
		/* pairs with server_reap(): nothing is touched after this */
		smp_store_release(&conn->done, true);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* too many connections that have not said hello? */
static bool server_crowded(struct nswap_acceptor *a, const struct nswap_addr *from)
{
	struct nswap_srv_conn *conn;
	unsigned int n = 0;

	if (READ_ONCE(a->nr_conns) >= MAX_CONNS ||
	    atomic_read(&a->strangers) >= MAX_STRANGERS)
		return true;
	mutex_lock(&a->lock);
	list_for_each_entry(conn, &a->conns, link)
		n += READ_ONCE(conn->stranger) &&
		     !memcmp(conn->from.ip, from->ip, sizeof(from->ip));
	mutex_unlock(&a->lock);
	return n >= MAX_STRANGERS_EACH;
}

static void give_link(struct nswap_acceptor *a, struct nswap_srv_conn *conn,
		      struct nswap_link *l, const struct nswap_addr *from)
{
	conn->l = l;
	conn->from = *from;
	conn->stranger = true;
	conn->ticket = ++a->next_ticket;
	mutex_lock(&a->lock);
	list_add_tail(&conn->link, &a->conns);
	a->nr_conns++;
	atomic_inc(&a->strangers);
	if (nswap_inject_slow_link())
		msleep(INJECT_MS);
	/* listed, it is not done; pairs with serve_conn(): all of the above is there */
	smp_store_release(&conn->done, false);
	wake_up_process(conn->thread);
	mutex_unlock(&a->lock);
}

/* on failure the caller keeps the link */
static int take_conn(struct nswap_acceptor *a, struct nswap_link *l)
{
	struct nswap_srv_conn *conn;
	struct nswap_addr from;

	if (a->t->peer_addr(l, &from) ||
	    !nswap_subnet_accepts(a->node, &from))
		return -EACCES;
	if (server_crowded(a, &from))
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
		/* pairs with serve_conn(): it no longer uses anything */
		if (!smp_load_acquire(&conn->done))
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
	if (a->stop)
		a->t->shutdown(l);
	mutex_unlock(&a->lock);
	return 0;
}

/* the link does not accept: listen at another address, or again in a moment */
static void listen_again(struct nswap_acceptor *a)
{
	struct nswap_link *old = NULL;

	mutex_lock(&a->lock);
	if (a->moved) {
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
			listen_again(a);
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
	struct nswap_srv_conn *conn, *next;
	LIST_HEAD(all);

	nswap_server_again(a->node);
	mutex_lock(&a->lock);
	list_splice_init(&a->conns, &all);
	mutex_unlock(&a->lock);
	list_for_each_entry_safe(conn, next, &all, link)
		nswap_conn_pool_end(conn);
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

/* reap connections that have ended, make spare ones */
void nswap_server_sweep(struct nswap_node *node)
{
	server_reap(node->acceptor);
	nswap_conn_pool_fill(node->acceptor->spares);
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
	a->spares = nswap_conn_pool_start(node, serve_conn);
	a->thread = a->spares ?
		kthread_run(accept_loop, a, "nswap/%u-accept", node->number) :
		ERR_PTR(-ENOMEM);
	if (IS_ERR(a->thread)) {
		ret = PTR_ERR(a->thread);
		if (a->spares)
			nswap_conn_pool_stop(a->spares);
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
