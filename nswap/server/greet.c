// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: GREET, HELLO and HELLO_ACK, which begin each connection.
 *
 * Invariant: a connection whose HELLO has not come takes no thread while it waits for it,
 * no page, and no buffer but for that HELLO; with keys, its secrets are wiped when HELLO_ACK
 * is sent or it ends.
 */
#include "base/log.h"
#include "core/node.h"
#include "held.h"
#include "owner.h"
#include "peers/version.h"
#include "server.h"
#include "transport/sockaddr.h"

#define HELLO_MS	5000

/* send GREET; process, the connection's hand. Returns 0, -EAGAIN or the transport's error */
int nswap_greet(struct nswap_srv_conn *conn)
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
	conn->phase = NSWAP_CONN_GREETED;
	conn->need = sizeof(conn->rx);
	if (me && nswap_exchange_greet(&conn->exchange, me, &m.greet))
		return -EAGAIN;
	return nswap_send_buf(conn->t, conn->l, &m, sizeof(m));
}

static int greet_welcome(struct nswap_srv_conn *conn, u16 status)
{
	struct nswap_exchange *x = &conn->exchange;
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

/**
 * nswap_greet_header() - take the header of HELLO, which has come
 * @conn: connection
 *
 * Context: process, the connection's hand.
 * Return: 0 to go on, an error to close the connection.
 */
int nswap_greet_header(struct nswap_srv_conn *conn)
{
	int ret;

	conn->t->recv_timeout(conn->l, HELLO_MS);
	ret = nswap_recv_buf(conn->t, conn->l, &conn->rx, sizeof(conn->rx));
	if (!ret)
		ret = nswap_wire_check(&conn->rx);
	if (ret == -EPROTONOSUPPORT) {
		/* it may not understand an answer of ours: send none */
		if (!conn->node->identity)
			nswap_version_client(conn->node, &conn->from, conn->rx.version);
		return -EACCES;
	}
	if (!ret && conn->rx.type != NSWAP_HELLO)
		ret = -EPROTO;
	conn->phase = NSWAP_CONN_HELLO;
	conn->need = sizeof(struct nswap_wire_hello);
	return ret;
}

static int greet_take(struct nswap_srv_conn *conn)
{
	struct nswap_identity *me = conn->node->identity;
	struct nswap_cache *c = conn->node->cache;
	struct nswap_wire_hello hello;
	u16 status;
	int ret;

	ret = nswap_recv_buf(conn->t, conn->l, &hello, sizeof(hello));
	if (!ret && me)
		ret = nswap_exchange_heard(&conn->exchange, me, &hello);
	if (ret)
		return ret;
	status = READ_ONCE(conn->node->going) ? NSWAP_ST_LEAVING :
		 nswap_owner_hello(c, conn, &hello);
	if (status == NSWAP_ST_OK)
		conn->t->known(conn->l);
	/* now, while the owner waits for the answer and nothing is under way */
	if (status == NSWAP_ST_OK && (hello.class == NSWAP_CLASS_STORE ||
				      hello.class == NSWAP_CLASS_MOVE))
		conn->t->no_reserves(conn->l);
	ret = greet_welcome(conn, status);
	if (!ret && status != NSWAP_ST_OK)
		ret = -EACCES;
	conn->t->recv_timeout(conn->l, NSWAP_SERVE_MS);
	if (conn->class <= NSWAP_CLASS_STORE)
		conn->t->read_ahead(conn->l, conn->class == NSWAP_CLASS_STORE ?
				    NSWAP_AHEAD_PAGES : NSWAP_AHEAD_SMALL);
	return ret;
}

/**
 * nswap_greet_hello() - take the rest of HELLO, which has come, and answer it
 * @conn: connection
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0 to go on, an error to close the connection.
 */
int nswap_greet_hello(struct nswap_srv_conn *conn)
{
	int ret = greet_take(conn);

	conn->phase = NSWAP_CONN_KNOWN;
	conn->need = sizeof(conn->rx);
	nswap_exchange_end(&conn->exchange);
	return ret;
}

/* count and tell why a connection of a node with keys has ended, if they were why */
void nswap_greet_refused(struct nswap_srv_conn *conn, int ret)
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
