// SPDX-License-Identifier: GPL-2.0
/*
 * Serving one connection of an owner, message by message.
 *
 * Invariants:
 *  - An answer may use memory reserves (the transport's send does): refusal,
 *    ack, page-in reply and free can always be sent. There are a few at a time per
 *    connection (answers.c), and they wait only for their own owner to receive.
 *  - Stores arrive on their own connection, which receives without reserves.
 */
#include <linux/err.h>

#include "attach.h"
#include "base/hooks.h"
#include "core/node.h"
#include "held.h"
#include "inject_entry.h"
#include "pure/share.h"
#include "server.h"

/* tell an owner of its share of what is lent, if that is not all */
static void serve_share(struct nswap_srv_conn *conn)
{
	u64 share = nswap_cache_share(conn->node->cache);

	if (share == NSWAP_NO_SHARE || !(conn->features & NSWAP_HAS_SHARES))
		return;
	conn->tx.flags = cpu_to_le16(NSWAP_F_SHARE);
	conn->tx.nr = cpu_to_le32(min_t(u64, share, U32_MAX - 1));
}

/* receive so many bytes of a message; process, sleeps */
int nswap_serve_recv(struct nswap_srv_conn *conn, void *buf, size_t bytes)
{
	struct kvec v = { .iov_base = buf, .iov_len = bytes };
	struct iov_iter it;

	iov_iter_kvec(&it, ITER_DEST, &v, 1, bytes);
	return nswap_answers_recv(conn, &it);
}

/* receive the payload of the message being handled, but for its pages; process, sleeps */
int nswap_serve_plain(struct nswap_srv_conn *conn, void *buf, size_t bytes)
{
	return nswap_serve_recv(conn, buf, bytes) ?: nswap_tags_plain(&conn->tags, buf, bytes);
}

/* send the header and @plain: @nr_bv segments, @len bytes */
static int send_iov(struct nswap_srv_conn *conn, const void *plain,
		    unsigned int nr_bv, size_t len)
{
	struct iov_iter it;
	int ret;

	ret = nswap_answers_send(conn);
	if (ret)
		return ret;
	if (nswap_inject_lost(conn->tx.type))
		return -ECONNABORTED;
	nswap_tags_put(&conn->tags, &conn->tx, plain);
	nswap_tags_sent(&conn->tags);
	iov_iter_bvec(&it, ITER_SOURCE, conn->bv, nr_bv, len);
	return nswap_send_all(conn->t, conn->l, &it, 0);
}

static void set_bv(struct bio_vec *bv, void *buf, unsigned int len)
{
	bvec_set_page(bv, virt_to_page(buf), len, offset_in_page(buf));
}

/**
 * nswap_serve_answer() - send the answer that nswap_serve_head() began
 * @conn: connection
 * @payload: memory that may be sent from; ignored without @bytes
 * @bytes: of it
 *
 * That of a STORE leaves with others; the answers before it are sent first.
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0, or the transport's error.
 */
int nswap_serve_answer(struct nswap_srv_conn *conn, void *payload, u32 bytes)
{
	int ret = nswap_inject_answer(conn);

	if (ret)
		return min(ret, 0);
	if (conn->tx.type == NSWAP_STORE_ACK)
		return nswap_answers_room(conn, le32_to_cpu(conn->rx.nr), bytes) ?:
		       nswap_answers_add(conn, payload, bytes);
	set_bv(&conn->bv[0], &conn->tx, sizeof(conn->tx));
	if (bytes)
		set_bv(&conn->bv[1], payload, bytes);
	return send_iov(conn, payload, bytes ? 2 : 1, sizeof(conn->tx) + bytes);
}

static int ack_free(struct nswap_srv_conn *conn)
{
	nswap_serve_head(conn, NSWAP_FREE_ACK, 0, 0);
	return nswap_serve_answer(conn, NULL, 0);
}

static int serve_free(struct nswap_srv_conn *conn)
{
	struct nswap_cache *c = conn->node->cache;
	bool no_record = le16_to_cpu(conn->rx.flags) & NSWAP_F_NO_RECORD;
	u64 before = no_record ? le64_to_cpu(conn->rx.slot) : U64_MAX;
	u32 i, nr = le32_to_cpu(conn->rx.nr);
	u64 dropped = 0;
	int ret;

	ret = nswap_serve_plain(conn, conn->run, nr * sizeof(*conn->run));
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		const struct nswap_wire_run *r = &conn->run[i];

		if (r->reserved || !r->count)
			return -EPROTO;
		dropped += nswap_held_drop(c, conn, r, before);
	}
	nswap_stat_add(conn->node, pages_freed, dropped);
	if (no_record)
		nswap_stat_add(conn->node, reconcile_dropped, dropped);
	return ack_free(conn);
}

static int serve_free_device(struct nswap_srv_conn *conn)
{
	u64 n = nswap_held_drop_device(conn->node->cache, conn,
				       le32_to_cpu(conn->rx.instance));

	nswap_stat_add(conn->node, pages_freed, n);
	nswap_attach_end(conn->node->cache, conn, le32_to_cpu(conn->rx.instance));
	return ack_free(conn);
}

/* ATTACH: class and reserve of a device */
static int serve_attach(struct nswap_srv_conn *conn)
{
	bool critical = conn->rx.flags & cpu_to_le16(NSWAP_F_CRITICAL);
	bool droppable = conn->rx.flags & cpu_to_le16(NSWAP_F_DROPPABLE);
	u32 wanted = le32_to_cpu(conn->rx.nr), reserved;
	u16 status;

	if (critical && droppable)
		return -EPROTO;
	status = nswap_attach_set(conn->node->cache, conn,
				  le32_to_cpu(conn->rx.instance),
				  critical ? NSWAP_DEV_CRITICAL :
				  droppable ? NSWAP_DEV_DROPPABLE :
					      NSWAP_DEV_NORMAL,
				  wanted, &reserved);
	nswap_serve_head(conn, NSWAP_ATTACHED, reserved, 0);
	conn->tx.status = cpu_to_le16(status);
	return nswap_serve_answer(conn, NULL, 0);
}

static int serve_list(struct nswap_srv_conn *conn)
{
	bool last;
	u32 nr, bytes;
	u64 seq;

	nr = nswap_held_list(conn, le32_to_cpu(conn->rx.instance),
			     le64_to_cpu(conn->rx.slot), conn->run, &seq,
			     &last);
	bytes = nr * sizeof(*conn->run);
	nswap_serve_head(conn, NSWAP_HOLD_LIST, nr, bytes);
	conn->tx.flags = cpu_to_le16(last ? NSWAP_F_LAST : 0);
	conn->tx.slot = cpu_to_le64(seq);
	return nswap_serve_answer(conn, conn->run, bytes);
}

static int serve_grant(struct nswap_srv_conn *conn)
{
	struct nswap_cache *c = conn->node->cache;
	u32 add = 0, nr = le32_to_cpu(conn->rx.nr);

	if (conn->rx.type == NSWAP_GRANT_RETURN)
		nswap_held_ungrant(c, conn, nr);
	else
		add = nswap_held_grant(c, conn, 0, nr);
	nswap_serve_head(conn, NSWAP_GRANT, 0, 0);
	serve_share(conn);
	conn->tx.grants = cpu_to_le32(add);
	return nswap_serve_answer(conn, NULL, 0);
}

static int serve_ping(struct nswap_srv_conn *conn)
{
	nswap_serve_head(conn, NSWAP_PONG, 0, 0);
	serve_share(conn);
	return nswap_serve_answer(conn, NULL, 0);
}

/*
 * Receive what comes after the header, which is in @conn->rx (header.c), and answer it, by
 * nswap_answers_send() at the latest. Context: process, the connection's hand; sleeps.
 * Returns 0 to go on, an error to close the connection.
 */
int nswap_serve_rest(struct nswap_srv_conn *conn)
{
	switch (conn->rx.type) {
	case NSWAP_STORE:
		return nswap_serve_store(conn);
	case NSWAP_LOAD:
		return nswap_serve_load(conn);
	case NSWAP_FREE:
		return serve_free(conn);
	case NSWAP_FREE_DEVICE:
		return serve_free_device(conn);
	case NSWAP_ATTACH:
		return serve_attach(conn);
	case NSWAP_HOLD_ASK:
		return serve_list(conn);
	case NSWAP_GRANT_ASK:
	case NSWAP_GRANT_RETURN:
		return serve_grant(conn);
	case NSWAP_PING:
		return serve_ping(conn);
	case NSWAP_STAT:
		return nswap_serve_stat(conn);
	default:
		return nswap_hooks.serve_moves(conn);
	}
}
