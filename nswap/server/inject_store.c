// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection in the server, in test builds only: the implementation of the
 * hooks in its path. Which faults, and how often: core/inject.c.
 *
 * Invariants:
 *  - A kept previous generation (entry->prev) belongs to its entry and is put
 *    with it.
 *  - Grants in an answer that is not sent are taken back, and a refused store
 *    leaves the grants as they were: nothing goes wrong but the injected fault.
 */
#include <linux/highmem.h>

#include "core/node.h"
#include "held.h"
#include "inject_entry.h"
#include "server.h"

/* @n more grants, or fewer if negative; each needs a page that is set aside */
static void inject_grant(struct nswap_srv_conn *conn, s64 n)
{
	struct nswap_cache *c = conn->node->cache;
	struct nswap_owner *o = conn->owner;

	lockdep_assert_held(&c->lock);
	n = max(n, -(s64)o->granted);
	o->granted += n;
	c->granted += n;
}

/* undo nswap_cache_take() */
static void inject_untake(struct nswap_srv_conn *conn, struct list_head *entries,
			  u32 n)
{
	struct nswap_cache *c = conn->node->cache;

	spin_lock(&c->lock);
	list_splice_tail_init(entries, &c->pool);
	c->set_aside += n;
	conn->owner->filling -= n;
	inject_grant(conn, n);
	spin_unlock(&c->lock);
}

static void inject_ack(struct nswap_srv_conn *conn, u32 nr)
{
	u32 i, bytes = nr * sizeof(conn->result[0]);

	for (i = 0; i < nr; i++) {
		conn->result[i].gen = conn->gen[i];
		conn->result[i].status = cpu_to_le32(NSWAP_ST_OK);
	}
	nswap_serve_head(conn, NSWAP_STORE_ACK, nr, bytes);
	conn->tx.grants = cpu_to_le32(nswap_held_grant(conn->node->cache, conn,
						       nr, 0));
	conn->acked_ret = nswap_serve_answer(conn, conn->result, bytes) ?:
			  nswap_answers_send(conn);
	conn->acked = conn->rx.id;
}

/**
 * nswap_inject_store() - a store is about to be received
 * @conn: connection; the generations of the STORE are here
 * @entries: where it is to be received; empty again if it is refused
 *
 * Context: process, the connection's hand; sleeps.
 * Return: false if it is to be refused.
 */
bool nswap_inject_store(struct nswap_srv_conn *conn, struct list_head *entries)
{
	u32 nr = le32_to_cpu(conn->rx.nr);

	if (nswap_inject_refuse()) {
		inject_untake(conn, entries, nr);
		return false;
	}
	if (nswap_inject_ack_before_store())
		inject_ack(conn, nr);
	return true;
}

/*
 * An answer is about to be sent. @conn: connection; the answer's header is complete.
 * Context: process, the connection's hand; does not sleep. Returns 0 to send it, 1
 * not to send it, an error to close the connection.
 */
int nswap_inject_answer(struct nswap_srv_conn *conn)
{
	struct nswap_cache *c = conn->node->cache;
	u8 type = conn->tx.type;
	int ret = 1;

	if (type != NSWAP_STORE_ACK && type != NSWAP_FREE_ACK &&
	    type != NSWAP_RETURN_ACK)
		return 0;
	if (type == NSWAP_STORE_ACK && conn->acked &&
	    conn->acked == conn->rx.id) {
		conn->acked = 0;
		ret = conn->acked_ret ?: 1;
	} else if (nswap_inject_cut_ack()) {
		return -ECONNABORTED;
	} else if (type != NSWAP_STORE_ACK || !nswap_inject_drop_ack()) {
		return 0;
	}
	spin_lock(&conn->owner->lock);
	spin_lock(&c->lock);
	nswap_cache_unready(c, conn->owner);
	inject_grant(conn, -(s64)le32_to_cpu(conn->tx.grants));
	spin_unlock(&c->lock);
	spin_unlock(&conn->owner->lock);
	return ret;
}

/* the entry whose page is sent for another one's: itself, or a fault's of the same length */
struct nswap_entry *nswap_inject_entry(struct nswap_entry *e)
{
	if (e->prev && e->prev->len == e->len && nswap_inject_stale())
		return e->prev;
	if (nswap_inject_corrupt()) {
		u8 *p = kmap_local_page(e->page);

		p[min(1000, e->len - 1)] ^= 1;
		kunmap_local(p);
	}
	return e;
}

/*
 * Keep the generation that was replaced. Returns true if @old belongs to @e from now
 * on.
 */
bool nswap_inject_keep_entry(struct nswap_entry *e, struct nswap_entry *old)
{
	if (!nswap_inject_keep() || old->prev)
		return false;
	e->prev = old;
	return true;
}
