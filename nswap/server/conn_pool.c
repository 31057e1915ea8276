// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: connections made before they are needed.
 *
 * A connection has buffers, and making them waits for memory. An owner that
 * reconnects finds one ready, so that a server without free memory can give it its
 * pages; those that a fenced session leaves are kept for the next one.
 *
 * Invariants:
 *  - A spare connection has no link, and has ended.
 *  - There are at most NR_SPARES; the sweeper replaces those taken.
 *  - The acceptor creates none when memory is short: that would delay the
 *    connections behind it, among them owners whose page-outs free memory.
 */
#include <linux/slab.h>

#include "server.h"
#include "core/meminfo.h"
#include "core/node.h"

/* enough for one session of the maximum size */
#define NR_SPARES	NSWAP_MAX_CONNS

/**
 * struct nswap_spares - a node's spare connections
 * @node: node
 * @lock: protects @list, @nr
 * @list: of connections
 * @nr: how many
 */
struct nswap_spares {
	struct nswap_node *node;
	spinlock_t lock;
	struct list_head list;
	unsigned int nr;
};

static void free_conn(struct nswap_srv_conn *conn)
{
	kfree(conn->run);
	free_page((unsigned long)conn->scratch);
	free_page((unsigned long)conn->out);
	kfree(conn);
}

static struct nswap_srv_conn *make_conn(struct nswap_spares *s)
{
	struct nswap_srv_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->run = kcalloc(NSWAP_WIRE_RUNS, sizeof(*conn->run), GFP_KERNEL);
	conn->scratch = (void *)__get_free_page(GFP_KERNEL);
	conn->out = (void *)__get_free_page(GFP_KERNEL);
	if (!conn->run || !conn->scratch || !conn->out)
		goto fail;
	conn->node = s->node;
	conn->t = &nswap_tcp_ops;
	return conn;
fail:
	free_conn(conn);
	return NULL;
}

/*
 * Create a node's spare connections. Returns the pool, perhaps not yet full, or NULL if
 * there is no memory for the pool itself.
 */
struct nswap_spares *nswap_conn_pool_start(struct nswap_node *node)
{
	struct nswap_spares *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->node = node;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->list);
	nswap_conn_pool_fill(s);
	return s;
}

/* free the spare connections */
void nswap_conn_pool_stop(struct nswap_spares *s)
{
	struct nswap_srv_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &s->list, link)
		free_conn(conn);
	kfree(s);
}

/*
 * Fill the pool up to NR_SPARES. Context: process, sleeps and allocates; never on the
 * reclaim path.
 */
void nswap_conn_pool_fill(struct nswap_spares *s)
{
	struct nswap_srv_conn *conn;

	while (READ_ONCE(s->nr) < NR_SPARES) {
		conn = make_conn(s);
		if (!conn)
			return;
		nswap_conn_pool_give(s, conn);
	}
}

static bool memory_is_short(struct nswap_spares *s)
{
	struct nswap_mem_view mem;

	nswap_mem_view(s->node, &mem);
	return mem.free < mem.low;
}

/*
 * A connection for a new link; process; sleeps and allocates only when the pool is
 * empty and memory is not short. Returns a connection as before its HELLO, with no
 * owner; NULL without memory.
 */
struct nswap_srv_conn *nswap_conn_pool_take(struct nswap_spares *s)
{
	struct nswap_srv_conn *conn;

	spin_lock(&s->lock);
	conn = list_first_entry_or_null(&s->list, struct nswap_srv_conn, link);
	if (conn) {
		list_del(&conn->link);
		WRITE_ONCE(s->nr, s->nr - 1);
	}
	spin_unlock(&s->lock);
	if (!conn)
		return memory_is_short(s) ? NULL : make_conn(s);
	memset_startat(conn, 0, phase);
	return conn;
}

/* keep a connection as a spare one, or free it */
void nswap_conn_pool_give(struct nswap_spares *s, struct nswap_srv_conn *conn)
{
	bool kept;

	spin_lock(&s->lock);
	kept = s->nr < NR_SPARES;
	if (kept) {
		list_add(&conn->link, &s->list);
		WRITE_ONCE(s->nr, s->nr + 1);
	}
	spin_unlock(&s->lock);
	if (!kept)
		free_conn(conn);
}
