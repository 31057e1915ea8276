// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of a session, client side.
 *
 * Invariants:
 *  - Giving a message to a connection never sleeps for the network: a task
 *    that gets the sender's mutex by trylock sends without waiting, any other
 *    leaves its message on the queue, which the holder checks again after
 *    unlocking. When the link has no room, or the holder has sent TX_BUDGET
 *    messages, others' among them, tx_work continues.
 *  - A message is on @sent before its first byte leaves, so that an answer
 *    always finds it. A receiver that finds it still SENDING waits for the
 *    sender to unlock: an answer proves that all of it was sent.
 *  - The connection may touch the memory of a message only while it is not
 *    IDLE, or among those held back. It becomes IDLE by being answered, by
 *    nswap_conn_overdue(), by nswap_conn_take_newest(), or by nswap_conn_close(); the
 *    one that makes it IDLE calls ->answer or ->lost.
 *  - A partly sent message cannot be taken back: when it times out the session
 *    is broken instead (conn_take.c).
 *  - Messages that wait leave together, in one send, as far as they surely fit:
 *    so at most one is partly sent, and those behind it go back on the queue. One
 *    whose pages are not copied leaves alone.
 *  - Answers that take long to handle end together (nswap_conn_end_soon()): before the
 *    receiver may wait for a byte or a sender, with any other answer, and before it leaves
 *    the session, none is held back.
 *  - One that is queued without being pushed is the caller's to push: it has more
 *    to queue, and does not sleep in between.
 *
 * Lock order: tx -> lock. Nothing else is taken inside lock.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/timestamp.h"
#include "base/workqueues.h"
#include "conn.h"

/* a link without room is tried again after this, even without a wake-up */
#define TX_AGAIN	msecs_to_jiffies(20)
#define ENDED_MOST	8	/* messages that come while one is held back */
#define TX_BUDGET	16	/* messages one task sends; it may be any task that reclaims */
#define TX_BYTES	(64u << 10)	/* in one send, unless one message is larger */

/* does it leave in a send of its own? what is not copied */
static bool msg_alone(const struct nswap_msg *m)
{
	return m->pages;
}

/* may it leave in one send with those of the batch, of @bytes and @vecs? with the lock */
static bool msg_joins(struct nswap_conn *c, const struct nswap_msg *m,
		      size_t bytes, unsigned int vecs)
{
	return !msg_alone(m) && vecs + m->iter.nr_segs <= NSWAP_TX_VECS &&
	       bytes + iov_iter_count(&m->iter) <= TX_BYTES &&
	       c->t->fits(c->l, bytes + iov_iter_count(&m->iter));
}

/*
 * The messages to be sent next, at most @most; with tx held. Returns how many; the first
 * of them is @cur.
 */
static unsigned int next_to_send(struct nswap_conn *c, struct nswap_msg **batch,
				 unsigned int most)
{
	unsigned int n = 0, vecs = 0;
	struct nswap_msg *m, *next;
	size_t bytes = 0;

	spin_lock(&c->lock);
	if (c->up && c->cur)
		batch[n++] = c->cur;
	if (!c->up || n)
		goto out;
	list_for_each_entry_safe(m, next, &c->txq, link) {
		if (n == most || (n && !msg_joins(c, m, bytes, vecs)))
			break;
		m->at = NSWAP_MSG_SENDING;
		list_move_tail(&m->link, &c->sent);
		batch[n++] = m;
		if (msg_alone(m))
			break;
		bytes += iov_iter_count(&m->iter);
		vecs += m->iter.nr_segs;
	}
	c->cur = n ? batch[0] : NULL;
out:
	spin_unlock(&c->lock);
	return n;
}

/*
 * So much of the batch is sent. What has no byte sent can still be taken back. Returns
 * how many are sent completely; with tx held.
 */
static unsigned int batch_sent(struct nswap_conn *c, struct nswap_msg **batch,
			       unsigned int n, size_t bytes)
{
	u64 now = nswap_stamp();
	unsigned int i, done;
	struct nswap_msg *m;

	spin_lock(&c->lock);
	for (done = 0; done < n; done++) {
		m = batch[done];
		if (bytes < iov_iter_count(&m->iter))
			break;
		bytes -= iov_iter_count(&m->iter);
		m->begun = true;
		m->sent_ns = now;
		m->at = NSWAP_MSG_SENT;
	}
	if (bytes) {
		iov_iter_advance(&batch[done]->iter, bytes);
		batch[done]->begun = true;
	}
	c->cur = done < n && batch[done]->begun ? batch[done] : NULL;
	for (i = n; i > done && !batch[i - 1]->begun; i--) {
		batch[i - 1]->at = NSWAP_MSG_QUEUED;
		list_move(&batch[i - 1]->link, &c->txq);
		nswap_tags_unsent(&c->tags);
	}
	spin_unlock(&c->lock);
	return done;
}

/* send as much of the batch as there is room for; with tx held */
static ssize_t send_batch(struct nswap_conn *c, struct nswap_msg **batch,
			  unsigned int n)
{
	struct iov_iter it = batch[0]->iter;
	unsigned int i, vecs = 0;
	size_t bytes = 0;

	for (i = 0; i < n; i++) {
		if (batch[i]->begun)
			break;
		nswap_tags_put(&c->tags, &batch[i]->hdr, batch[i]->plain);
		nswap_tags_sent(&c->tags);
	}
	for (i = 0; n > 1 && i < n; i++) {
		struct iov_iter *part = &batch[i]->iter;

		memcpy(&c->bv[vecs], part->bvec, part->nr_segs * sizeof(c->bv[0]));
		vecs += part->nr_segs;
		bytes += iov_iter_count(part);
	}
	if (n > 1)
		iov_iter_bvec(&it, ITER_SOURCE, c->bv, vecs, bytes);
	return c->t->send(c->l, &it, batch[0]->pages, false);
}

/* with tx held; -EAGAIN when the link has no room; @budget: messages left to send */
static int send_queue(struct nswap_conn *c, unsigned int *budget)
{
	struct nswap_msg *batch[TX_BUDGET];
	unsigned int n, done;
	ssize_t ret;

	while (*budget && (n = next_to_send(c, batch, *budget))) {
		ret = send_batch(c, batch, n);
		if (ret < 0 && ret != -EAGAIN) {
			c->t->shutdown(c->l);
			return ret;
		}
		done = batch_sent(c, batch, n, max_t(ssize_t, ret, 0));
		*budget -= done;
		if (done < n)
			return -EAGAIN;
	}
	return 0;
}

static bool queue_waits(struct nswap_conn *c)
{
	bool waits;

	spin_lock(&c->lock);
	waits = c->up && !list_empty(&c->txq);
	spin_unlock(&c->lock);
	return waits;
}

/* Send what is queued. Process, page-out path: never waits for the network or memory. */
void nswap_conn_push(struct nswap_conn *c)
{
	unsigned int budget = TX_BUDGET;
	int ret;

	do {
		if (!mutex_trylock(&c->tx))
			return;
		ret = send_queue(c, &budget);
		mutex_unlock(&c->tx);
		if (ret == -EAGAIN)
			queue_delayed_work(nswap_io_wq, &c->tx_work, TX_AGAIN);
		if (ret || !queue_waits(c))
			return;
	} while (budget);
	mod_delayed_work(nswap_io_wq, &c->tx_work, 0);
}

static void tx_work(struct work_struct *work)
{
	nswap_conn_push(container_of(to_delayed_work(work), struct nswap_conn, tx_work));
}

/* the link has room again; any context */
static void conn_writable(void *arg)
{
	struct nswap_conn *c = arg;

	if (READ_ONCE(c->cur) || !list_empty(&c->txq))
		mod_delayed_work(nswap_io_wq, &c->tx_work, 0);
}

/**
 * nswap_conn_init() - make a connection that is not open yet
 * @c: all zeros
 * @peer: its peer
 * @number: within the session: 0 is control, the last is for stores
 *
 * Context: process, sleeps; never on the reclaim path.
 * Return: 0, or -ENOMEM.
 */
int nswap_conn_init(struct nswap_conn *c, struct nswap_peer *peer, u8 number)
{
	c->peer = peer;
	c->number = number;
	c->t = &nswap_tcp_ops;
	spin_lock_init(&c->lock);
	mutex_init(&c->tx);
	INIT_LIST_HEAD(&c->txq);
	INIT_LIST_HEAD(&c->sent);
	INIT_LIST_HEAD(&c->ended);
	INIT_DELAYED_WORK(&c->tx_work, tx_work);
	c->scratch = (void *)__get_free_page(GFP_KERNEL);
	return c->scratch ? 0 : -ENOMEM;
}

void nswap_conn_exit(struct nswap_conn *c)
{
	if (!c->peer)
		return;
	cancel_delayed_work_sync(&c->tx_work);
	free_page((unsigned long)c->scratch);
}

/* attach the link; process, the session's leader */
void nswap_conn_open(struct nswap_conn *c, struct nswap_link *l)
{
	mutex_lock(&c->tx);
	c->l = l;
	c->t->on_writable(l, conn_writable, c);
	mutex_unlock(&c->tx);
}

/* accept messages from now on; process, the session's leader */
void nswap_conn_up(struct nswap_conn *c)
{
	spin_lock(&c->lock);
	c->up = true;
	spin_unlock(&c->lock);
}

/**
 * nswap_conn_close() - stop accepting messages, hand back the pending ones
 * @c: a connection whose receiver has stopped; open or not
 * @lost: the messages that will get no answer are added here, IDLE
 *
 * Context: process, the session's leader; waits for a send in progress, which
 * does not wait for the network.
 */
void nswap_conn_close(struct nswap_conn *c, struct list_head *lost)
{
	struct nswap_link *l;
	struct nswap_msg *m;

	spin_lock(&c->lock);
	c->up = false;
	spin_unlock(&c->lock);

	mutex_lock(&c->tx);
	l = c->l;
	c->l = NULL;
	spin_lock(&c->lock);
	c->cur = NULL;
	WRITE_ONCE(c->asked, 0);
	list_for_each_entry(m, &c->txq, link)
		m->at = NSWAP_MSG_IDLE;
	list_for_each_entry(m, &c->sent, link)
		m->at = NSWAP_MSG_IDLE;
	list_splice_tail_init(&c->sent, lost);
	list_splice_tail_init(&c->txq, lost);
	spin_unlock(&c->lock);
	if (l)
		c->t->close(l);
	memzero_explicit(&c->tags, sizeof(c->tags));
	mutex_unlock(&c->tx);
}

/* make receiver and senders fail; process, sleeps only for a send in progress */
void nswap_conn_shutdown(struct nswap_conn *c)
{
	mutex_lock(&c->tx);
	if (c->l)
		c->t->shutdown(c->l);
	mutex_unlock(&c->tx);
}

/**
 * nswap_conn_queue() - give a message to a connection, to be sent by the next push
 * @c: the connection
 * @m: an IDLE message with @hdr, @iter, @answer and @lost set
 *
 * Context: process, page-out path: never waits for the network or memory.
 * Return: 0: exactly one of ->answer and ->lost follows, perhaps before the
 * return; -ENOTCONN: neither does, the connection is not up.
 */
int nswap_conn_queue(struct nswap_conn *c, struct nswap_msg *m)
{
	spin_lock(&c->lock);
	if (!c->up) {
		spin_unlock(&c->lock);
		return -ENOTCONN;
	}
	m->conn = c;
	m->begun = false;
	m->at = NSWAP_MSG_QUEUED;
	m->since = jiffies;
	if (!c->asked)
		WRITE_ONCE(c->asked, jiffies ?: 1);
	list_add_tail(&m->link, &c->txq);
	spin_unlock(&c->lock);
	return 0;
}

/* the same, and send it; its answer is handled by the receiver */
int nswap_conn_send(struct nswap_conn *c, struct nswap_msg *m)
{
	int ret = nswap_conn_queue(c, m);

	if (!ret)
		nswap_conn_push(c);
	return ret;
}

static struct nswap_msg *find_sent(struct nswap_conn *c, __le64 id)
{
	struct nswap_msg *m;

	list_for_each_entry(m, &c->sent, link)
		if (m->hdr.id == id)
			return m;
	return NULL;
}

/* take the message out of @sent; NULL if no message waits for this answer */
static struct nswap_msg *take_answered(struct nswap_conn *c, __le64 id)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = find_sent(c, id);
	if (m && m->at == NSWAP_MSG_SENDING) {
		spin_unlock(&c->lock);
		nswap_conn_settle(c);
		mutex_lock(&c->tx);
		mutex_unlock(&c->tx);
		/* a task that found it locked meanwhile has left its messages to this one */
		nswap_conn_push(c);
		spin_lock(&c->lock);
		m = find_sent(c, id);
		if (m && m->at == NSWAP_MSG_SENDING)
			m = ERR_PTR(-EPROTO);
	}
	if (!IS_ERR_OR_NULL(m)) {
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
	}
	/* whatever came: the connection lives, and owes from now on */
	WRITE_ONCE(c->asked, list_empty(&c->sent) && list_empty(&c->txq) ?
			     0 : jiffies ?: 1);
	spin_unlock(&c->lock);
	return m;
}

/**
 * nswap_conn_end_soon() - a message was answered: have it end with those that follow at once
 * @c: connection
 * @m: message, with @over
 *
 * For one whose handling has taken so long that the task which waits for it would run before
 * the next: it would ask for one page at a time then, in a send of its own.
 *
 * Context: process, the connection's receiver; does not sleep.
 */
void nswap_conn_end_soon(struct nswap_conn *c, struct nswap_msg *m)
{
	list_add_tail(&m->link, &c->ended);
	c->since_ended = c->since_ended ?: 1;
}

/**
 * nswap_conn_settle() - end the messages that were held back
 * @c: connection
 *
 * Without softirqs, as drivers end their requests: no other task runs in between.
 *
 * Context: process, the connection's receiver; does not sleep.
 */
void nswap_conn_settle(struct nswap_conn *c)
{
	struct nswap_msg *m, *next;

	local_bh_disable();
	list_for_each_entry_safe(m, next, &c->ended, link) {
		list_del_init(&m->link);
		m->over(m);
	}
	local_bh_enable();
	c->since_ended = 0;
}

/*
 * Receive one header and match it with its question. Calls ->answer of the message it
 * answers. Context: process, the connection's receiver; sleeps. Returns 0 to go on; 1
 * if no message waits for this answer (any more): the payload is still to be received;
 * an error to break the session.
 */
int nswap_conn_receive(struct nswap_conn *c)
{
	struct nswap_msg *m;
	u64 now;
	int ret;

	/* each message counts: a peer could go on with answers that no message waits for */
	if (c->since_ended && (c->since_ended++ >= ENDED_MOST ||
			       !c->t->pending(c->l, sizeof(c->rx))))
		nswap_conn_settle(c);
	ret = nswap_recv_buf(c->t, c->l, &c->rx, sizeof(c->rx));
	now = nswap_stamp();
	if (!ret)
		ret = nswap_tags_take(&c->tags, &c->rx);
	if (!ret)
		ret = nswap_wire_check(&c->rx);
	if (ret)
		return ret;
	if (c->since_ended && (c->rx.type != NSWAP_LOAD_REPLY ||
			       !c->t->pending(c->l, le32_to_cpu(c->rx.bytes))))
		nswap_conn_settle(c);
	m = take_answered(c, c->rx.id);
	if (IS_ERR(m))
		return PTR_ERR(m);
	if (!m) {
		nswap_conn_settle(c);
		return 1;
	}
	m->answered_ns = now;
	m->took = le32_to_cpu(c->rx.took);
	return m->answer(m);
}

/*
 * Receive the payload of an answer but for its pages. Context: process, the connection's
 * receiver; sleeps. Returns 0, an error to break the session.
 */
int nswap_conn_plain(struct nswap_conn *c, void *buf, size_t bytes)
{
	return nswap_recv_buf(c->t, c->l, buf, bytes) ?:
	       nswap_tags_plain(&c->tags, buf, bytes);
}
