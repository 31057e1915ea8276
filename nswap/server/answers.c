// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of one connection that leave in one send.
 *
 *   message -> answer added -> next message, if it has come -> ... -> sent
 *
 * Invariants:
 *  - An answer never waits for another message: before the thread sleeps for one, or for
 *    the rest of one, it sends all of them. So it does when they are MOST answers, or about
 *    as many pages as one message can be, and with a large one.
 *  - They are sent in the order in which they were added, and so are numbered.
 *  - Pages are kept until they are sent: what is added holds a reference to its entry. The
 *    pages of a large answer are not copied: the link refers to them until they have come,
 *    whatever becomes of the entry (cache_sent.c).
 *  - Nothing is allocated; the thread is the only one that adds or sends.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "core/node.h"
#include "inject_entry.h"
#include "server.h"

#define MOST	16	/* answers */

/* what is free, or was within this jiffy: where little or nothing becomes less with it */
u64 nswap_answers_free(struct nswap_srv_conn *conn)
{
	unsigned long now = jiffies ?: 1;

	if (conn->free_at != now)
		conn->free = nswap_cache_free_pages(conn->node->cache, conn->owner);
	conn->free_at = now;
	return conn->free;
}

/* as nswap_serve_head(); @free: pages that the owner is told to be free */
void nswap_answers_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes, u64 free)
{
	struct nswap_wire_hdr *h = &conn->tx;

	nswap_wire_init(h, type, nr, bytes);
	h->id = conn->rx.id;
	h->slot = conn->rx.slot;
	h->instance = conn->rx.instance;
	h->free = cpu_to_le64(free);
}

/**
 * nswap_serve_head() - begin the answer to the message being handled
 * @conn: connection
 * @type: enum nswap_wire_type
 * @nr: results or runs
 * @bytes: payload
 *
 * Context: process, the connection's hand.
 */
void nswap_serve_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes)
{
	nswap_answers_head(conn, type, nr, bytes,
			   nswap_cache_free_pages(conn->node->cache, conn->owner));
}

/* a segment of the page of headers; those that lie side by side are one */
static void answers_vec(struct nswap_srv_conn *conn, u32 bytes)
{
	struct page *page = virt_to_page(conn->out);
	struct bio_vec *last = conn->out_vecs ? &conn->out_bv[conn->out_vecs - 1] : NULL;

	if (last && last->bv_page == page)
		last->bv_len += bytes;
	else
		bvec_set_page(&conn->out_bv[conn->out_vecs++], page, bytes,
			      conn->out_bytes);
	conn->out_bytes += bytes;
	conn->out_len += bytes;
}

/**
 * nswap_answers_room() - make room for an answer
 * @conn: connection
 * @pages: how many pages it is about
 * @bytes: of results
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0, or the transport's error.
 */
int nswap_answers_room(struct nswap_srv_conn *conn, u32 pages, u32 bytes)
{
	if (conn->out_nr < MOST && conn->out_pages + pages <= NSWAP_REQ_SLOTS &&
	    conn->out_bytes + sizeof(conn->tx) + bytes <= PAGE_SIZE)
		return 0;
	return nswap_answers_send(conn);
}

/**
 * nswap_answers_add() - add the answer that nswap_serve_head() began
 * @conn: connection, with room for it
 * @plain: its results
 * @bytes: of them
 *
 * Its pages follow.
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0, or an error to close the connection.
 */
int nswap_answers_add(struct nswap_srv_conn *conn, const void *plain, u32 bytes)
{
	void *at = conn->out + conn->out_bytes;

	if (nswap_inject_lost(conn->tx.type))
		return -ECONNABORTED;
	nswap_tags_put(&conn->tags, &conn->tx, plain);
	nswap_tags_sent(&conn->tags);
	memcpy(at, &conn->tx, sizeof(conn->tx));
	memcpy(at + sizeof(conn->tx), plain, bytes);
	answers_vec(conn, sizeof(conn->tx) + bytes);
	conn->out_nr++;
	conn->out_pages += le32_to_cpu(conn->rx.nr);
	return 0;
}

/*
 * A page of the answer added last; its reference to the entry passes to it. @fill: with the
 * zeros at its end
 */
void nswap_answers_page(struct nswap_srv_conn *conn, struct nswap_entry *e, bool fill)
{
	struct bio_vec *bv = &conn->out_bv[conn->out_vecs];

	conn->out_vecs += nswap_entry_vecs(bv, nswap_inject_entry(e), fill);
	conn->out_len += fill ? PAGE_SIZE : e->len;
	conn->entry[conn->out_held++] = e;
}

/* no more is sent ahead than other owners' answers may wait for; its owner, NULL for stores */
static struct nswap_owner *answers_begin(struct nswap_srv_conn *conn)
{
	struct nswap_owner *o = conn->class == NSWAP_CLASS_STORE ? NULL : conn->owner;
	u32 most;

	if (!o)
		return NULL;
	most = nswap_conn_send_most(conn, atomic_inc_return(&o->answering));
	if (most != conn->most) {
		conn->most = most;
		conn->t->send_most(conn->l, most);
	}
	return o;
}

/* @pages: so many bytes at the end of them are pages that need not be copied */
static int answers_leave(struct nswap_srv_conn *conn, size_t pages)
{
	struct nswap_owner *o = answers_begin(conn);
	struct iov_iter it;
	int ret;
	u32 i;

	iov_iter_bvec(&it, ITER_SOURCE, conn->out_bv, conn->out_vecs, conn->out_len);
	ret = nswap_send_all(conn->t, conn->l, &it, pages);
	if (o)
		atomic_dec(&o->answering);
	for (i = 0; i < conn->out_held; i++)
		nswap_cache_put(conn->node->cache, conn->entry[i]);
	if (!ret)
		nswap_stat_add(conn->node, pages_loaded, conn->out_held);
	conn->out_bytes = 0;
	conn->out_len = 0;
	conn->out_nr = 0;
	conn->out_pages = 0;
	conn->out_held = 0;
	conn->out_vecs = 0;
	return ret;
}

/* send them; process, the connection's hand; sleeps. 0, or the transport's error */
int nswap_answers_send(struct nswap_srv_conn *conn)
{
	return conn->out_len ? answers_leave(conn, 0) : 0;
}

/**
 * nswap_answers_large() - send a large answer at once, with those before it
 * @conn: connection
 * @pages: pages of the answer added last
 *
 * Context: process, the connection's hand; sleeps.
 * Return: 0, or the transport's error.
 */
int nswap_answers_large(struct nswap_srv_conn *conn, u32 pages)
{
	return nswap_refer_pages(pages) ? answers_leave(conn, nswap_refer_pages(pages)) : 0;
}

/* receive, and send the answers before if that sleeps; likewise */
int nswap_answers_recv(struct nswap_srv_conn *conn, struct iov_iter *to)
{
	int ret = 0;

	if (conn->out_len && !conn->t->ready(conn->l, iov_iter_count(to)))
		ret = nswap_answers_send(conn);
	return ret ?: conn->t->recv(conn->l, to);
}

/* receive and discard pages, so many bytes of them; process, sleeps */
int nswap_answers_drain(struct nswap_srv_conn *conn, size_t bytes)
{
	unsigned int i, nr = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct iov_iter it;

	/* at once: a message has so much time, not each of its pages */
	for (i = 0; i < nr; i++)
		bvec_set_page(&conn->bv[i], virt_to_page(conn->scratch),
			      min_t(size_t, PAGE_SIZE, bytes - i * PAGE_SIZE), 0);
	iov_iter_bvec(&it, ITER_DEST, conn->bv, nr, bytes);
	return nswap_answers_send(conn) ?: conn->t->recv(conn->l, &it);
}
