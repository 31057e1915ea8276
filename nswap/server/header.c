// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: the header of a message, and whether the rest has come.
 *
 * Invariant: no message is begun before all has come that it has before its pages. Until
 * then its connection needs no hand, so that who sends half of one holds up no other.
 */
#include "inject_entry.h"
#include "server.h"

/* may this class of connection carry this message? */
static bool serve_allowed(const struct nswap_srv_conn *conn)
{
	u8 type = conn->rx.type;

	switch (conn->class) {
	case NSWAP_CLASS_STORE:
		return type == NSWAP_STORE;
	case NSWAP_CLASS_LOAD:
		return type == NSWAP_LOAD;
	case NSWAP_CLASS_MOVE:
		return type == NSWAP_MOVE || type == NSWAP_RETURN;
	case NSWAP_CLASS_TELL:
		return type == NSWAP_MOVED || type == NSWAP_DROPPED ||
		       type == NSWAP_STAT;
	default:
		return type != NSWAP_STORE && type != NSWAP_MOVE &&
		       type != NSWAP_MOVED && type != NSWAP_RETURN &&
		       type != NSWAP_DROPPED && type != NSWAP_STAT;
	}
}

/* does the message use only features that both sides have? */
static bool serve_agreed(const struct nswap_srv_conn *conn)
{
	u8 type = conn->rx.type;
	u64 uses = 0;

	if (conn->rx.flags & cpu_to_le16(NSWAP_F_TIMED))
		uses |= NSWAP_HAS_TIMED;
	if (conn->rx.flags & cpu_to_le16(NSWAP_F_RESERVED) ||
	    type == NSWAP_ATTACH || type == NSWAP_DROPPED)
		uses |= NSWAP_HAS_CLASSES;
	if (type == NSWAP_STAT)
		uses |= NSWAP_HAS_STAT;
	if (conn->rx.flags & cpu_to_le16(NSWAP_F_SHORT))
		uses |= NSWAP_HAS_SHORT;
	return !(uses & ~conn->features);
}

/* receive a header, whose message this connection may carry; as nswap_serve() */
static int serve_header(struct nswap_srv_conn *conn)
{
	int ret = nswap_serve_recv(conn, &conn->rx, sizeof(conn->rx));

	if (!ret)
		ret = nswap_tags_take(&conn->tags, &conn->rx);
	if (!ret)
		ret = nswap_wire_check(&conn->rx);
	if (!ret && !(serve_allowed(conn) && serve_agreed(conn)))
		ret = -EPROTO;
	if (!ret && nswap_inject_lost(conn->rx.type))
		ret = -ECONNABORTED;
	/* others may take their time: those answered already do not wait for them */
	if (!ret && conn->rx.type != NSWAP_STORE && conn->rx.type != NSWAP_LOAD)
		ret = nswap_answers_send(conn);
	return ret;
}

/**
 * nswap_serve() - receive one message and answer it, or its header alone
 * @conn: connection, of which a header has come
 *
 * If not all has come that the message has before its pages, the connection needs that
 * before it needs a hand again.
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0 to go on, an error to close the connection.
 */
int nswap_serve(struct nswap_srv_conn *conn)
{
	int ret = serve_header(conn);
	size_t plain;

	if (ret)
		return ret;
	plain = nswap_wire_plain(&conn->rx);
	if (!plain || conn->t->ready(conn->l, plain))
		return nswap_serve_rest(conn);
	/* the sweep looks at it without a lock */
	WRITE_ONCE(conn->phase, NSWAP_CONN_BEGUN);
	conn->need = plain;
	return 0;
}
