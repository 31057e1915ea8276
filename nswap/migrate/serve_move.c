// SPDX-License-Identifier: GPL-2.0
/*
 * Serving the messages of a move: pages from another server (MOVE), and an owner's claim
 * of them (CLAIM). What a node is told of its own pages: serve_told.c.
 *
 * Invariants:
 *  - Moved pages are received into pages set aside and granted to no owner, by a
 *    connection that receives without memory reserves: a node short of memory
 *    refuses them and spends none of its own.
 *  - A node that is going down accepts no pages.
 *  - A message is here soon after its header, or its connection ends: a sender that stops
 *    in the middle, or dribbles, holds neither pages set aside nor an owner's buffers.
 */
#include "core/inject.h"
#include "core/node.h"
#include "serve_move.h"
#include "serve_told.h"
#include "server/attach.h"
#include "server/owner.h"
#include "server/held.h"
#include "server/pack.h"

#define MESSAGE_MS	4000	/* for each part of a message to come, once its header has */

/* the same result for all pages of a message; the connection's thread */
void nswap_move_answer_all(struct nswap_srv_conn *conn, u32 nr, u16 status)
{
	u32 i;

	for (i = 0; i < nr; i++)
		conn->result[i].status = cpu_to_le32(status);
}

static u32 add_all(struct nswap_srv_conn *conn, struct nswap_owner *o,
		   u64 epoch, const struct nswap_wire_page *page,
		   struct list_head *entries)
{
	struct nswap_cache *c = conn->node->cache;
	struct nswap_entry *e, *next;
	u32 i = 0, taken = 0;
	LIST_HEAD(unused);

	list_for_each_entry_safe(e, next, entries, link) {
		u16 status;

		list_del_init(&e->link);
		e->slot = le64_to_cpu(page[i].slot);
		e->instance = le32_to_cpu(page[i].instance);
		e->gen = le32_to_cpu(page[i].gen);
		if (e->len < PAGE_SIZE)
			e = nswap_pack(c, o, e, &unused);
		status = nswap_pending_add(c, o, epoch, conn->mover, e);
		taken += status == NSWAP_ST_OK;
		conn->result[i++].status = cpu_to_le32(status);
	}
	nswap_cache_give(c, &unused);
	return taken;
}

/* take room for pages of an owner; NULL, with the reason in @status, if there is none */
static struct nswap_owner *move_take(struct nswap_srv_conn *conn,
				     const struct nswap_wire_node *owner,
				     const struct nswap_wire_page *page, u32 nr,
				     struct list_head *entries, u16 *status)
{
	struct nswap_cache *c = conn->node->cache;
	struct nswap_owner *o = NULL;

	*status = NSWAP_ST_NO_ROOM;
	if (READ_ONCE(conn->node->going))
		return NULL;
	o = nswap_owner_adopt(c, le64_to_cpu(owner->id), le64_to_cpu(owner->epoch));
	if (!o) {
		*status = NSWAP_ST_STALE;
		return NULL;
	}
	*status = nswap_attach_take(c, o, page, nr, entries);
	if (*status == NSWAP_ST_OK)
		return o;
	nswap_owner_leave(c, o);
	if (*status == NSWAP_ST_SHARE && !(conn->features & NSWAP_HAS_SHARES))
		*status = NSWAP_ST_NO_ROOM;
	return NULL;
}

/*
 * Receive whom and which pages the message names, and begin the results. @len: result; their
 * lengths, NULL if they are whole, or if the message has none. As above, sleeps
 */
int nswap_move_names(struct nswap_srv_conn *conn, const __le16 **len)
{
	struct nswap_wire_names *names = (void *)conn->run;
	u32 i, nr = le32_to_cpu(conn->rx.nr);
	int ret;

	*len = nswap_wire_short(&conn->rx) ? (void *)&names->page[nr] : NULL;
	ret = nswap_serve_plain(conn, names, offsetof(struct nswap_wire_names, page[nr]) +
					     (*len ? nr * sizeof(**len) : 0));
	if (!ret && *len)
		ret = nswap_wire_lens(&conn->rx, *len);
	for (i = 0; !ret && i < nr; i++)
		conn->result[i].gen = names->page[i].gen;
	return ret;
}

/* MOVE: another server sends pages of an owner */
static int serve_move_pages(struct nswap_srv_conn *conn)
{
	struct nswap_wire_names *names = (void *)conn->run;
	struct nswap_cache *c = conn->node->cache;
	u32 nr = le32_to_cpu(conn->rx.nr);
	u32 bytes = nr * sizeof(conn->result[0]);
	struct nswap_owner *o;
	LIST_HEAD(entries);
	const __le16 *len;
	u16 status;
	int ret;

	ret = nswap_move_names(conn, &len);
	if (ret)
		return ret;
	nswap_inject_point(conn->node->id, NSWAP_POINT_MOVING);
	o = move_take(conn, &names->who, names->page, nr, &entries, &status);
	if (o) {
		ret = nswap_serve_pages(conn, &entries, len);
		if (!ret)
			nswap_stat_add(conn->node, pages_moved_in,
				       add_all(conn, o,
					       le64_to_cpu(names->who.epoch),
					       names->page, &entries));
		nswap_cache_filled(c, o, nr);
		nswap_owner_leave(c, o);
	} else {
		nswap_move_answer_all(conn, nr, status);
		ret = nswap_serve_drain(conn);
	}
	nswap_cache_give(c, &entries);
	if (ret)
		return ret;
	nswap_serve_head(conn, NSWAP_MOVE_ACK, nr, bytes);
	return nswap_serve_answer(conn, conn->result, bytes);
}

/* CLAIM: an owner takes over pages that were moved here */
static int serve_claim(struct nswap_srv_conn *conn)
{
	struct nswap_wire_page *page = (void *)conn->run;
	u32 i, nr = le32_to_cpu(conn->rx.nr);
	u32 bytes = nr * sizeof(conn->result[0]);
	u64 mover = le64_to_cpu(conn->rx.slot);
	int ret;

	ret = nswap_serve_plain(conn, page, nr * sizeof(*page));
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		u16 status = READ_ONCE(conn->node->going) ?
			NSWAP_ST_NOT_HELD :
			nswap_pending_claim(conn->node->cache, conn, mover, &page[i]);

		conn->result[i].gen = page[i].gen;
		conn->result[i].status = cpu_to_le32(status);
	}
	nswap_serve_head(conn, NSWAP_CLAIM_ACK, nr, bytes);
	return nswap_serve_answer(conn, conn->result, bytes);
}

static int serve_move_message(struct nswap_srv_conn *conn)
{
	switch (conn->rx.type) {
	case NSWAP_MOVE:
		return serve_move_pages(conn);
	case NSWAP_CLAIM:
		return serve_claim(conn);
	default:
		return nswap_serve_told(conn);
	}
}

/*
 * Serve a message of a move. @conn: connection of a class that may carry it; the
 * header is in @conn->rx. Context: process, the connection's hand; sleeps, for a
 * RETURN until home or flash has its pages. Returns 0 to go on, an error to close the
 * connection.
 */
int nswap_serve_moves(struct nswap_srv_conn *conn)
{
	int ret;

	conn->t->recv_timeout(conn->l, MESSAGE_MS);
	ret = serve_move_message(conn);
	conn->t->recv_timeout(conn->l, NSWAP_SERVE_MS);
	return ret;
}
