/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Server role: connections that owners opened to this node.
 */
#ifndef NSWAP_SERVER_H
#define NSWAP_SERVER_H

#include <linux/bvec.h>

#include "keys/exchange.h"
#include "cache.h"
#include "transport/transport.h"

struct netlink_ext_ack;
struct nswap_hand;
struct nswap_hands;
struct nswap_rx_affinity;

/* for the rest of a message, once it has begun; with a hand or not */
#define NSWAP_SERVE_MS	30000

/**
 * enum nswap_conn_state - who has a connection, see hands.c
 * @NSWAP_CONN_ENDED: its link is closed, or it never had one
 * @NSWAP_CONN_READY: waits for a hand
 * @NSWAP_CONN_SERVED: has one
 * @NSWAP_CONN_RESTING: waits for its link
 */
enum nswap_conn_state {
	NSWAP_CONN_ENDED,
	NSWAP_CONN_READY,
	NSWAP_CONN_SERVED,
	NSWAP_CONN_RESTING,
};

/**
 * enum nswap_conn_kind - how long its messages may hold a hand up
 * @NSWAP_CONN_QUICK: not at all
 * @NSWAP_CONN_CONTROL: not at all, but for one whose owner does not receive
 * @NSWAP_CONN_LOAD: until its owner receives
 * @NSWAP_CONN_STORE: until its pages have come
 * @NSWAP_CONN_MOVER: likewise, or until other nodes or a home have answered
 * @NSWAP_CONN_KINDS: how many
 */
enum nswap_conn_kind {
	NSWAP_CONN_QUICK,
	NSWAP_CONN_CONTROL,
	NSWAP_CONN_LOAD,
	NSWAP_CONN_STORE,
	NSWAP_CONN_MOVER,
	NSWAP_CONN_KINDS,
};

/**
 * enum nswap_conn_phase - what comes next on a connection
 * @NSWAP_CONN_NEW: GREET is to be sent
 * @NSWAP_CONN_GREETED: the header of HELLO
 * @NSWAP_CONN_HELLO: the rest of it
 * @NSWAP_CONN_KNOWN: a message
 * @NSWAP_CONN_BEGUN: the rest of a message, up to its pages, if it has any
 */
enum nswap_conn_phase {
	NSWAP_CONN_NEW,
	NSWAP_CONN_GREETED,
	NSWAP_CONN_HELLO,
	NSWAP_CONN_KNOWN,
	NSWAP_CONN_BEGUN,
};

/**
 * struct nswap_srv_conn - one connection; private to its hand unless noted
 * @node: node
 * @t: transport
 * @l: link; closed by the hand after it has left its owner
 * @link: in the acceptor's list, or among the spare ones
 * @from: where the link comes from
 * @stranger: no HELLO has come on the link yet
 * @of_owner: in the owner's list, or that of movers; under the cache's hello mutex
 * @hands: who serve it
 * @ready: among those that wait for a hand
 * @state: enum nswap_conn_state; under the lock of @hands
 * @kind: enum nswap_conn_kind; likewise
 * @hand: that it has; likewise
 * @served_of: the owner of which it has a hand; likewise
 * @since: jiffies since when it rests
 * @ticket: from GREET
 * @owner: the owner that said HELLO; NULL before
 * @run: runs of a FREE or a HOLD_LIST
 * @scratch: a page for payload that is discarded
 * @phase: enum nswap_conn_phase
 * @ousted: shut down for others' sake before its HELLO came; under the acceptor's mutex
 * @need: bytes to come before it needs a hand
 * @most: bytes that may lie in its link on their way to the owner
 * @exchange: of keys, until HELLO_ACK is sent
 * @mover: classes MOVE and TELL: the node that said HELLO
 * @epoch: of the owner or the mover, at hello
 * @session: of the owner, at hello
 * @features: NSWAP_HAS_* that both sides have, at hello
 * @class: enum nswap_conn_class
 * @tags: of its messages
 * @rx: message being handled
 * @tx: its answer
 * @here_ns: when all of a STORE or LOAD was received, 0 if its owner did not ask
 * @free: pages that were free for its owner when a LOAD was answered
 * @free_at: jiffies of that, 0: not yet
 * @gen: generations of a STORE or LOAD; lengths of pages behind them
 * @result: results of a STORE
 * @status: results of a LOAD; likewise
 * @entry: pages of answers that are to be sent
 * @bv: segments sent or received
 * @out: a page: headers and results of answers that are to be sent, answers.c
 * @out_bytes: of it
 * @out_len: bytes of these answers, pages included
 * @out_nr: how many they are
 * @out_pages: pages they are about
 * @out_held: pages in @entry
 * @out_vecs: segments in @out_bv
 * @out_bv: segments of these answers
 * @acked: injection only: id of the STORE that was acknowledged early
 * @acked_ret: result of sending that ack
 */
struct nswap_srv_conn {
	struct nswap_node *node;
	const struct nswap_transport_ops *t;
	struct nswap_link *l;
	struct list_head link;
	struct nswap_addr from;
	bool stranger;
	struct list_head of_owner;
	struct nswap_hands *hands;
	struct list_head ready;
	u8 state;
	u8 kind;
	struct nswap_hand *hand;
	struct nswap_owner *served_of;
	unsigned long since;
	u64 ticket;
	struct nswap_owner *owner;
	struct nswap_wire_run *run;
	void *scratch;
	void *out;
	/* from here on zeros for each new link */
	u8 phase;
	bool ousted;
	u32 need;
	u32 most;
	struct nswap_exchange exchange;
	u64 mover;
	u64 epoch;
	u64 session;
	u64 features;
	u8 class;
	struct nswap_tags tags;
	struct nswap_wire_hdr rx;
	struct nswap_wire_hdr tx;
	u64 here_ns;
	u64 free;
	unsigned long free_at;
	__le32 gen[NSWAP_REQ_SLOTS * 3 / 2];
	struct nswap_wire_result result[NSWAP_REQ_SLOTS];
	__le32 status[NSWAP_REQ_SLOTS * 3 / 2];
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	struct bio_vec bv[NSWAP_REQ_SLOTS + 2];
	u32 out_bytes;
	u32 out_len;
	u32 out_nr;
	u32 out_pages;
	u32 out_held;
	u32 out_vecs;
	struct bio_vec out_bv[3 * NSWAP_REQ_SLOTS + 2];
#ifdef NSWAP_INJECT
	__le64 acked;
	int acked_ret;
#endif
};

int nswap_server_start(struct nswap_node *node, struct netlink_ext_ack *ext);
void nswap_server_stop(struct nswap_node *node);
void nswap_server_rebind(struct nswap_node *node);
void nswap_server_again(struct nswap_node *node);
void nswap_server_sweep(struct nswap_node *node);
/* does nothing use its link, or the memory of its owner, any more? any context */
static inline bool nswap_conn_ended(const struct nswap_srv_conn *conn)
{
	/* pairs with hands.c: what its last hand did is done */
	return smp_load_acquire(&conn->state) == NSWAP_CONN_ENDED;
}

/* hands.c */
struct nswap_hands *nswap_hands_start(struct nswap_node *node,
				      bool (*turn)(struct nswap_srv_conn *conn,
						   struct nswap_rx_affinity *f));
void nswap_hands_stop(struct nswap_hands *h);
void nswap_hands_sweep(struct nswap_hands *h);

/* conn_queue.c */
void nswap_conn_add(struct nswap_hands *h, struct nswap_srv_conn *conn);
void nswap_conn_look(struct nswap_srv_conn *conn);
void nswap_conn_leaves(struct nswap_srv_conn *conn);
u32 nswap_conn_send_most(const struct nswap_srv_conn *conn, unsigned int sending);
bool nswap_conn_stays(struct nswap_srv_conn *conn, unsigned int served, unsigned long begun);

/* greet.c */
int nswap_greet(struct nswap_srv_conn *conn);
int nswap_greet_header(struct nswap_srv_conn *conn);
int nswap_greet_hello(struct nswap_srv_conn *conn);
void nswap_greet_refused(struct nswap_srv_conn *conn, int ret);

/* header.c */
int nswap_serve(struct nswap_srv_conn *conn);

/* serve.c */
int nswap_serve_rest(struct nswap_srv_conn *conn);
int nswap_serve_recv(struct nswap_srv_conn *conn, void *buf, size_t bytes);
int nswap_serve_plain(struct nswap_srv_conn *conn, void *buf, size_t bytes);
int nswap_serve_answer(struct nswap_srv_conn *conn, void *payload, u32 bytes);

/* serve_pages.c */
int nswap_serve_pages(struct nswap_srv_conn *conn, struct list_head *entries,
		      const __le16 *len);
int nswap_serve_drain(struct nswap_srv_conn *conn);
int nswap_serve_store(struct nswap_srv_conn *conn);
int nswap_serve_load(struct nswap_srv_conn *conn);

/* stat.c */
int nswap_serve_stat(struct nswap_srv_conn *conn);

/* answers.c */
void nswap_serve_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes);
void nswap_answers_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes, u64 free);
u64 nswap_answers_free(struct nswap_srv_conn *conn);
int nswap_answers_room(struct nswap_srv_conn *conn, u32 pages, u32 bytes);
int nswap_answers_add(struct nswap_srv_conn *conn, const void *plain, u32 bytes);
void nswap_answers_page(struct nswap_srv_conn *conn, struct nswap_entry *e, bool fill);
int nswap_answers_send(struct nswap_srv_conn *conn);
int nswap_answers_large(struct nswap_srv_conn *conn, u32 pages);
int nswap_answers_recv(struct nswap_srv_conn *conn, struct iov_iter *to);
int nswap_answers_drain(struct nswap_srv_conn *conn, size_t bytes);

/* conn_pool.c */
struct nswap_spares *nswap_conn_pool_start(struct nswap_node *node);
void nswap_conn_pool_stop(struct nswap_spares *s);
void nswap_conn_pool_fill(struct nswap_spares *s);
struct nswap_srv_conn *nswap_conn_pool_take(struct nswap_spares *s);
void nswap_conn_pool_give(struct nswap_spares *s, struct nswap_srv_conn *conn);

#endif
