/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Server role: connections that owners opened to this node.
 */
#ifndef NSWAP_SERVER_H
#define NSWAP_SERVER_H

#include <linux/bvec.h>

#include "keys/tags.h"
#include "cache.h"
#include "transport/transport.h"

struct netlink_ext_ack;
struct task_struct;

/**
 * struct nswap_srv_conn - one connection; private to its thread unless noted
 * @node: node
 * @t: transport
 * @l: link; closed by the thread after it has left its owner
 * @link: in the acceptor's list, or among the spare ones
 * @from: where the link comes from
 * @stranger: no HELLO has come on the link yet
 * @of_owner: in the owner's list, or that of movers; under the cache's hello mutex
 * @thread: serves it
 * @done: the thread no longer uses the link and waits for another one
 * @ticket: from GREET
 * @owner: the owner that said HELLO; NULL before
 * @run: runs of a FREE or a HOLD_LIST
 * @scratch: a page for payload that is discarded
 * @mover: classes MOVE and TELL: the node that said HELLO
 * @epoch: of the owner or the mover, at hello
 * @session: of the owner, at hello
 * @features: NSWAP_HAS_* that both sides have, at hello
 * @class: enum nswap_conn_class
 * @tags: of its messages
 * @rx: message being handled
 * @tx: its answer
 * @here_ns: when all of a STORE or LOAD was received, 0 if its owner did not ask
 * @gen: generations of a STORE or LOAD
 * @result: results of a STORE
 * @status: results of a LOAD
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
	struct task_struct *thread;
	bool done;
	u64 ticket;
	struct nswap_owner *owner;
	struct nswap_wire_run *run;
	void *scratch;
	void *out;
	/* from here on zeros for each new link */
	u64 mover;
	u64 epoch;
	u64 session;
	u64 features;
	u8 class;
	struct nswap_tags tags;
	struct nswap_wire_hdr rx;
	struct nswap_wire_hdr tx;
	u64 here_ns;
	__le32 gen[NSWAP_REQ_SLOTS];
	struct nswap_wire_result result[NSWAP_REQ_SLOTS];
	__le32 status[NSWAP_REQ_SLOTS];
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	struct bio_vec bv[NSWAP_REQ_SLOTS + 2];
	u32 out_bytes;
	u32 out_len;
	u32 out_nr;
	u32 out_pages;
	u32 out_held;
	u32 out_vecs;
	struct bio_vec out_bv[2 * NSWAP_REQ_SLOTS + 2];
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
unsigned int nswap_server_silence_ms(const struct nswap_srv_conn *conn);

/* serve.c */
int nswap_serve(struct nswap_srv_conn *conn);
int nswap_serve_plain(struct nswap_srv_conn *conn, void *buf, size_t bytes);
void nswap_serve_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes);
int nswap_serve_answer(struct nswap_srv_conn *conn, void *payload, u32 bytes);
int nswap_serve_pages(struct nswap_srv_conn *conn, struct list_head *entries);

/* stat.c */
int nswap_serve_stat(struct nswap_srv_conn *conn);

/* answers.c */
int nswap_answers_room(struct nswap_srv_conn *conn, u32 pages, u32 bytes);
int nswap_answers_add(struct nswap_srv_conn *conn, const void *plain, u32 bytes);
void nswap_answers_page(struct nswap_srv_conn *conn, struct nswap_entry *e);
int nswap_answers_send(struct nswap_srv_conn *conn);
int nswap_answers_large(struct nswap_srv_conn *conn, u32 pages);
int nswap_answers_recv(struct nswap_srv_conn *conn, struct iov_iter *to);
int nswap_answers_drain(struct nswap_srv_conn *conn, size_t bytes);

/* conn_pool.c */
struct nswap_spares *nswap_conn_pool_start(struct nswap_node *node,
					   int (*serve)(void *conn));
void nswap_conn_pool_stop(struct nswap_spares *s);
void nswap_conn_pool_fill(struct nswap_spares *s);
struct nswap_srv_conn *nswap_conn_pool_take(struct nswap_spares *s);
void nswap_conn_pool_give(struct nswap_spares *s, struct nswap_srv_conn *conn);
void nswap_conn_pool_end(struct nswap_srv_conn *conn);

#endif
