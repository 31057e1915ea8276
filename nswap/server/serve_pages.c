// SPDX-License-Identifier: GPL-2.0
/*
 * Serving pages: STORE and LOAD.
 *
 * Invariants:
 *  - A store is received into pages that were set aside when they were
 *    granted, outside every lock, and becomes visible when it is complete. It never
 *    allocates a page.
 *  - What is in a page beyond the bytes that were received is another's: it is never sent.
 *    Zeros are sent in its place, or nothing where the other side knows short pages.
 */
#include "base/hooks.h"
#include "core/node.h"
#include "held.h"
#include "inject_entry.h"
#include "pack.h"
#include "server.h"

/* all of a STORE or LOAD has been received: note the time if the owner asked */
static void question_here(struct nswap_srv_conn *conn)
{
	conn->here_ns = conn->rx.flags & cpu_to_le16(NSWAP_F_TIMED) ? ktime_get_ns() : 0;
}

/* how long its message took here, for the owner; 0 if it has not asked, else at least 1 */
static __le32 serve_time_taken(struct nswap_srv_conn *conn)
{
	u64 here = conn->here_ns;

	conn->here_ns = 0;
	/* less than a tick of a coarse clock is not nothing */
	return cpu_to_le32(here ? clamp_t(u64, ktime_get_ns() - here, 1, U32_MAX) :
				  0);
}

/*
 * Receive pages into entries. @entries: at most NSWAP_REQ_SLOTS of them; @len: the pages'
 * lengths, NULL if they are whole. Context: process, the connection's hand; sleeps. Returns
 * 0, or the transport's error.
 */
int nswap_serve_pages(struct nswap_srv_conn *conn, struct list_head *entries,
		      const __le16 *len)
{
	struct nswap_entry *e;
	struct iov_iter it;
	unsigned int n = 0;
	size_t bytes = 0;

	list_for_each_entry(e, entries, link) {
		e->len = len ? le16_to_cpu(len[n]) : PAGE_SIZE;
		bytes += e->len;
		bvec_set_page(&conn->bv[n++], e->page, e->len, 0);
	}
	iov_iter_bvec(&it, ITER_DEST, conn->bv, n, bytes);
	return nswap_answers_recv(conn, &it);
}

/* receive and discard the pages of the message being handled; likewise */
int nswap_serve_drain(struct nswap_srv_conn *conn)
{
	return nswap_answers_drain(conn, le32_to_cpu(conn->rx.bytes) -
					 nswap_wire_plain(&conn->rx));
}

/* a page is here: what it is to be found by; packed, if it is short, @unused as nswap_pack() */
static struct nswap_entry *store_entry(struct nswap_srv_conn *conn, struct nswap_entry *e,
				       u32 i, struct list_head *unused)
{
	e->instance = le32_to_cpu(conn->rx.instance);
	e->slot = le64_to_cpu(conn->rx.slot) + i;
	e->gen = le32_to_cpu(conn->gen[i]);
	list_del_init(&e->link);
	return e->len < PAGE_SIZE ? nswap_pack(conn->node->cache, conn->owner, e, unused) : e;
}

/*
 * The pages are here: make them visible and record the results. Whole ones all at once; short
 * ones one by one, so that one may take the room of those that others replaced.
 */
static u32 store_insert(struct nswap_srv_conn *conn, struct list_head *entries, bool whole)
{
	struct nswap_entry *e, *next, *entry[NSWAP_REQ_SLOTS];
	struct nswap_cache *c = conn->node->cache;
	u32 i, nr = 0, first = 0, stored = 0;
	u16 status[NSWAP_REQ_SLOTS];
	LIST_HEAD(unused);

	list_for_each_entry_safe(e, next, entries, link) {
		entry[nr] = store_entry(conn, e, nr, &unused);
		nr++;
		if (whole && !list_empty(entries))
			continue;
		stored += nswap_held_insert(c, conn, &entry[first], nr - first, &status[first]);
		first = nr;
	}
	for (i = 0; i < nr; i++) {
		conn->result[i].gen = conn->gen[i];
		conn->result[i].status = cpu_to_le32(status[i]);
	}
	nswap_cache_give(c, &unused);
	return stored;
}

/* is the store one against the device's reserve? */
static bool store_reserved(const struct nswap_srv_conn *conn)
{
	return conn->rx.flags & cpu_to_le16(NSWAP_F_RESERVED);
}

/* take pages for a store that follows, against the owner's grants or the reserve */
static bool store_take(struct nswap_srv_conn *conn, u32 nr,
		       struct list_head *entries)
{
	struct nswap_cache *c = conn->node->cache;

	if (READ_ONCE(conn->node->going) ||
	    !(store_reserved(conn) ?
	      nswap_held_take_reserved(c, conn, le32_to_cpu(conn->rx.instance),
				       le64_to_cpu(conn->rx.slot), nr, entries) :
	      nswap_held_take(c, conn, nr, entries)))
		return false;
	return nswap_inject_store(conn, entries);
}

static int store_receive(struct nswap_srv_conn *conn, struct list_head *entries,
			 const __le16 *len, struct nswap_cache_stored *so)
{
	struct nswap_cache *c = conn->node->cache;
	int ret = nswap_serve_pages(conn, entries, len);

	question_here(conn);
	so->taken = le32_to_cpu(conn->rx.nr);
	if (!ret) {
		so->used = store_insert(conn, entries, !len);
		nswap_stat_add(conn->node, pages_stored, so->used);
		return 0;
	}
	nswap_cache_give(c, entries);
	if (nswap_cache_filled(c, conn->owner, so->taken))
		nswap_hooks.mover_kick(conn->node);
	return ret;
}

static int store_refuse(struct nswap_srv_conn *conn, u32 nr)
{
	int ret;
	u32 i;

	/* the owner has spent its grants on it nevertheless */
	if (!store_reserved(conn))
		nswap_held_ungrant(conn->node->cache, conn, nr);
	ret = nswap_serve_drain(conn);
	question_here(conn);
	for (i = 0; i < nr; i++) {
		conn->result[i].gen = conn->gen[i];
		conn->result[i].status = cpu_to_le32(NSWAP_ST_NO_ROOM);
	}
	nswap_stat_add(conn->node, stores_refused, nr);
	return ret;
}

static int store_ack(struct nswap_srv_conn *conn, u32 nr, struct nswap_cache_stored *so)
{
	u32 bytes = nr * sizeof(conn->result[0]);

	nswap_inject_point(conn->node->id, NSWAP_POINT_STORED);
	nswap_held_stored(conn->node->cache, conn, so);
	if (so->taken && so->above)
		nswap_hooks.mover_kick(conn->node);
	nswap_answers_head(conn, NSWAP_STORE_ACK, nr, bytes, so->free);
	conn->tx.took = serve_time_taken(conn);
	conn->tx.grants = cpu_to_le32(so->grants);
	return nswap_serve_answer(conn, conn->result, bytes);
}

/* STORE; process, the connection's hand; sleeps. 0 to go on, an error to close it */
int nswap_serve_store(struct nswap_srv_conn *conn)
{
	struct nswap_cache_stored so = { };
	u32 nr = le32_to_cpu(conn->rx.nr);
	const __le16 *len = NULL;
	LIST_HEAD(entries);
	int ret;

	if (nswap_wire_short(&conn->rx))
		len = (void *)&conn->gen[nr];
	ret = nswap_serve_plain(conn, conn->gen,
				nr * (sizeof(conn->gen[0]) + (len ? sizeof(*len) : 0)));
	if (!ret && len)
		ret = nswap_wire_lens(&conn->rx, len);
	if (ret)
		return ret;
	if (store_take(conn, nr, &entries))
		ret = store_receive(conn, &entries, len, &so);
	else
		ret = store_refuse(conn, nr);
	return ret ?: store_ack(conn, nr, &so);
}

/* the pages of a LOAD that are held, each with a reference; returns how many */
static u32 load_find(struct nswap_srv_conn *conn, u32 nr, struct nswap_entry **entry)
{
	u32 i, held = 0;

	for (i = 0; i < nr; i++) {
		struct nswap_entry *e = NULL;

		if (!nswap_inject_miss())
			e = nswap_held_find(conn, le32_to_cpu(conn->rx.instance),
					    le64_to_cpu(conn->rx.slot) + i,
					    le32_to_cpu(conn->gen[i]));
		conn->status[i] = cpu_to_le32(e ? NSWAP_ST_OK :
						  NSWAP_ST_NOT_HELD);
		if (e)
			entry[held++] = e;
	}
	return held;
}

/* how pages of an answer are sent */
enum load_how {
	LOAD_WHOLE,	/* all are whole */
	LOAD_FILLED,	/* some have zeros at their ends, which are sent */
	LOAD_SHORT,	/* likewise, and they are not */
};

/* @len: lengths for the answer; @bytes: of the pages, as they are sent */
static enum load_how load_lens(const struct nswap_srv_conn *conn, u32 nr, u32 held,
			       struct nswap_entry **entry, __le16 *len, u32 *bytes)
{
	bool whole = true, worth = false;
	u32 i, n = 0;

	for (i = 0; i < held; i++) {
		whole = whole && entry[i]->len == PAGE_SIZE;
		worth = worth || nswap_wire_worth(entry[i]->len);
	}
	*bytes = held * PAGE_SIZE;
	if (whole || !worth || !(conn->rx.flags & cpu_to_le16(NSWAP_F_SHORT)))
		return whole ? LOAD_WHOLE : LOAD_FILLED;
	*bytes = 0;
	for (i = 0; i < nr; i++) {
		u16 there = conn->status[i] == cpu_to_le32(NSWAP_ST_OK) ? entry[n++]->len : 0;

		len[i] = cpu_to_le16(there);
		*bytes += there;
	}
	return LOAD_SHORT;
}

/* LOAD; process, the connection's hand; sleeps. 0 to go on, an error to close it */
int nswap_serve_load(struct nswap_srv_conn *conn)
{
	u32 i, nr = le32_to_cpu(conn->rx.nr), held, pages;
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	u32 bytes = nr * sizeof(conn->status[0]);
	__le16 *len = (void *)&conn->status[nr];
	enum load_how how;
	int ret;

	ret = nswap_serve_plain(conn, conn->gen, nr * sizeof(conn->gen[0])) ?:
	      nswap_answers_room(conn, nr, bytes + nr * sizeof(*len));
	if (ret)
		return ret;
	question_here(conn);
	held = load_find(conn, nr, entry);
	how = load_lens(conn, nr, held, entry, len, &pages);
	if (how == LOAD_SHORT)
		bytes += nr * sizeof(*len);
	nswap_answers_head(conn, NSWAP_LOAD_REPLY, nr, bytes + pages,
			   nswap_answers_free(conn));
	if (how == LOAD_SHORT)
		conn->tx.flags = cpu_to_le16(NSWAP_F_SHORT);
	conn->tx.took = serve_time_taken(conn);
	ret = nswap_answers_add(conn, conn->status, bytes);
	for (i = 0; i < held; i++) {
		if (ret)
			nswap_cache_put(conn->node->cache, entry[i]);
		else
			nswap_answers_page(conn, entry[i], how != LOAD_SHORT);
	}
	nswap_stat_add(conn->node, loads_missed, nr - held);
	if (ret || how != LOAD_WHOLE ||
	    !nswap_cache_may_refer(conn->node->cache, conn->owner))
		return ret;
	return nswap_answers_large(conn, held);
}
