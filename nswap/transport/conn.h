/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One connection of a session, client side: a queue of messages to send and a
 * list of those waiting for their answer.
 */
#ifndef NSWAP_CONN_H
#define NSWAP_CONN_H

#include <linux/bvec.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "keys/tags.h"
#include "pure/wire.h"
#include "transport.h"

struct task_struct;

#define NSWAP_TX_VECS	64	/* segments of messages that leave in one send */

/**
 * enum nswap_msg_at - where a message is; under the connection's lock
 * @NSWAP_MSG_IDLE: on no connection
 * @NSWAP_MSG_QUEUED: on @txq
 * @NSWAP_MSG_SENDING: on @sent, and @cur or behind it: part of it may be on the wire
 * @NSWAP_MSG_SENT: on @sent
 */
enum nswap_msg_at {
	NSWAP_MSG_IDLE,
	NSWAP_MSG_QUEUED,
	NSWAP_MSG_SENDING,
	NSWAP_MSG_SENT,
};

/**
 * struct nswap_msg - a message that expects an answer; memory is its owner's
 * @link: on one of the lists
 * @conn: the connection it was given to; write-once until it is idle again
 * @at: enum nswap_msg_at
 * @begun: part of it was sent; private to the sender
 * @hdr: its header
 * @plain: its payload but for pages; it does not change once it is given to the connection
 * @iter: what is left to send, header included; of bvecs
 * @pages: bytes at its end that are pages which need not be copied: what the peer is
 *	sent of them late, when they hold something else, it keeps for no one. 0: copy all
 * @since: jiffies when it was given to the connection
 * @sent_ns: when the socket had its last byte, see nswap_stamp()
 * @answered_ns: when the header of the answer had come, likewise
 * @received_ns: when the rest of it had come, likewise; the owner's
 * @took: of the answer
 * @answer: the answer has come; @hdr of the answer is in the connection's @rx,
 *	its payload has not been received yet and must be, completely, by this
 *	function. Returns an error to break the session.
 * @lost: the session broke, or the message was taken back: no answer will
 *	come. May not sleep.
 * @over: it was given to nswap_conn_end_soon(), and ends now; not to be touched afterwards
 * @overdue: STORE: it was taken back, unanswered; @unsent if no byte of it was
 *	sent. May not sleep.
 */
struct nswap_msg {
	struct list_head link;
	struct nswap_conn *conn;
	u8 at;
	bool begun;
	struct nswap_wire_hdr hdr;
	const void *plain;
	struct iov_iter iter;
	u32 pages;
	unsigned long since;
	u64 sent_ns;
	u64 answered_ns;
	u64 received_ns;
	u32 took;
	int (*answer)(struct nswap_msg *m);
	void (*lost)(struct nswap_msg *m);
	void (*over)(struct nswap_msg *m);
	void (*overdue)(struct nswap_msg *m, bool unsent);
};

/**
 * struct nswap_conn - one connection
 * @peer: its peer
 * @t: its transport
 * @class: enum nswap_conn_class; write-once
 * @number: within the session; write-once
 * @l: open link; changed by the session's leader, with @tx held
 * @lock: protects @up, @txq, @sent, @cur and the place of every message there;
 *	taken in process context only
 * @up: messages are accepted
 * @txq: to be sent
 * @sent: waiting for answers, oldest first
 * @cur: being sent, with those behind it
 * @asked: jiffies since when a message waits and nothing has come, 0 if none does;
 *	written under @lock
 * @tags: of its messages; changed by the leader while it is not up
 * @tx: held while sending
 * @tx_work: continues sending when the link had no room
 * @bv: segments of what is sent together; under @tx
 * @unpushed: among the connections that are to be pushed, if bit 0 of @held is set
 * @held: it is there, which takes a reference to its peer
 * @rx: header being handled by the receiver
 * @ended: answered, and ended with the next ones; the receiver's
 * @since_ended: messages that have come since the first of them, which counts; 0: none
 * @scratch: a page for payload that is discarded
 * @thread: the receiver
 */
struct nswap_conn {
	struct nswap_peer *peer;
	const struct nswap_transport_ops *t;
	u8 class;
	u8 number;
	struct nswap_link *l;
	spinlock_t lock;
	bool up;
	struct list_head txq;
	struct list_head sent;
	struct nswap_msg *cur;
	unsigned long asked;
	struct nswap_tags tags;
	struct mutex tx;
	struct delayed_work tx_work;
	struct bio_vec bv[NSWAP_TX_VECS];
	struct llist_node unpushed;
	unsigned long held;
	struct nswap_wire_hdr rx;
	struct list_head ended;
	unsigned int since_ended;
	void *scratch;
	struct task_struct *thread;
};

int nswap_conn_init(struct nswap_conn *c, struct nswap_peer *peer, u8 number);
void nswap_conn_exit(struct nswap_conn *c);
void nswap_conn_open(struct nswap_conn *c, struct nswap_link *l);
void nswap_conn_up(struct nswap_conn *c);
void nswap_conn_close(struct nswap_conn *c, struct list_head *lost);
void nswap_conn_shutdown(struct nswap_conn *c);
int nswap_conn_queue(struct nswap_conn *c, struct nswap_msg *m);
void nswap_conn_push(struct nswap_conn *c);
int nswap_conn_send(struct nswap_conn *c, struct nswap_msg *m);
int nswap_conn_receive(struct nswap_conn *c);
void nswap_conn_end_soon(struct nswap_conn *c, struct nswap_msg *m);
void nswap_conn_settle(struct nswap_conn *c);
int nswap_conn_plain(struct nswap_conn *c, void *buf, size_t bytes);
struct nswap_msg *nswap_conn_overdue(struct nswap_conn *c, u8 type,
				     unsigned long since, bool *unsent);
bool nswap_conn_late(struct nswap_conn *c, u8 type, unsigned long since);
struct nswap_msg *nswap_conn_take(struct nswap_conn *c, u8 type,
				  bool (*may)(struct nswap_msg *m));
struct nswap_msg *nswap_conn_take_newest(struct nswap_conn *c, u8 type);
bool nswap_conn_stuck(struct nswap_conn *c, unsigned long since);
unsigned int nswap_conn_unanswered(const struct nswap_conn *c);

#endif
