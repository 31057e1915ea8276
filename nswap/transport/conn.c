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
 *    IDLE. It becomes IDLE by being answered, by nswap_conn_overdue(), by
 *    nswap_conn_take_newest(), or by nswap_conn_close(); the one that makes it IDLE
 *    calls ->answer or ->lost.
 *  - A partly sent message cannot be taken back: when it times out the session
 *    is broken instead.
 *
 * Lock order: tx -> lock. Nothing else is taken inside lock.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/timestamp.h"
#include "base/workqueues.h"
#include "conn.h"

/* a link without room is tried again after this, even without a wake-up */
#define TX_AGAIN	msecs_to_jiffies(20)
#define TX_BUDGET	16	/* messages one task sends; it may be any task that reclaims */

static struct nswap_msg *next_to_send(struct nswap_conn *c)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = c->cur;
	if (!m && c->up) {
		m = list_first_entry_or_null(&c->txq, struct nswap_msg, link);
		if (m) {
			m->at = NSWAP_MSG_SENDING;
			list_move_tail(&m->link, &c->sent);
			c->cur = m;
		}
	}
	if (!c->up)
		m = NULL;
	spin_unlock(&c->lock);
	return m;
}

/* the link had no room for a first byte: the message can still be taken back */
static void not_begun(struct nswap_conn *c, struct nswap_msg *m)
{
	spin_lock(&c->lock);
	if (c->cur == m) {
		m->at = NSWAP_MSG_QUEUED;
		list_move(&m->link, &c->txq);
		c->cur = NULL;
	}
	spin_unlock(&c->lock);
}

static void message_sent(struct nswap_conn *c, struct nswap_msg *m)
{
	spin_lock(&c->lock);
	m->sent_ns = nswap_stamp();
	m->at = NSWAP_MSG_SENT;
	c->cur = NULL;
	spin_unlock(&c->lock);
}

/* with tx held; -EAGAIN when the link has no room; @budget: messages left to send */
static int send_queue(struct nswap_conn *c, unsigned int *budget)
{
	struct nswap_msg *m;
	size_t left;
	ssize_t ret;

	while (*budget && (m = next_to_send(c))) {
		left = iov_iter_count(&m->iter);
		if (!m->begun)
			nswap_tags_put(&c->tags, &m->hdr, m->plain);
		ret = c->t->send(c->l, &m->iter, false);
		if (ret < 0 && ret != -EAGAIN) {
			c->t->shutdown(c->l);
			return ret;
		}
		if (ret == -EAGAIN && !m->begun)
			not_begun(c, m);
		if (ret == -EAGAIN)
			return ret;
		if (!m->begun)
			nswap_tags_sent(&c->tags);
		m->begun = true;
		if (ret < left)
			return -EAGAIN;
		message_sent(c, m);
		(*budget)--;
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

static void conn_push(struct nswap_conn *c)
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
	conn_push(container_of(to_delayed_work(work), struct nswap_conn, tx_work));
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
 * nswap_conn_send() - send a message; its answer is handled by the receiver
 * @c: the connection
 * @m: an IDLE message with @hdr, @iter, @answer and @lost set
 *
 * Context: process, page-out path: never waits for the network or memory.
 * Return: 0: exactly one of ->answer and ->lost follows, perhaps before the
 * return; -ENOTCONN: neither does, the connection is not up.
 */
int nswap_conn_send(struct nswap_conn *c, struct nswap_msg *m)
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
	conn_push(c);
	return 0;
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
		mutex_lock(&c->tx);
		mutex_unlock(&c->tx);
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

	ret = nswap_recv_buf(c->t, c->l, &c->rx, sizeof(c->rx));
	now = nswap_stamp();
	if (!ret)
		ret = nswap_tags_take(&c->tags, &c->rx);
	if (!ret)
		ret = nswap_wire_check(&c->rx);
	if (ret)
		return ret;
	m = take_answered(c, c->rx.id);
	if (IS_ERR(m))
		return PTR_ERR(m);
	if (!m)
		return 1;
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

/* the oldest message of a type, if it was given to the connection before @since */
static struct nswap_msg *first_before(struct list_head *list, u8 type,
				      unsigned long since)
{
	struct nswap_msg *m;

	list_for_each_entry(m, list, link)
		if (m->hdr.type == type)
			return time_before(m->since, since) ? m : NULL;
	return NULL;
}

/**
 * nswap_conn_overdue() - take back the oldest message of a type if it has timed out
 * @c: a connection
 * @type: STORE or LOAD: the late answer to one of another type would break the session
 * @since: messages given to the connection before this time are overdue
 * @unsent: set if no byte of the message was sent
 *
 * A partly sent message stays: see nswap_conn_stuck().
 *
 * Context: process, page-out path; does not sleep.
 * Return: a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_overdue(struct nswap_conn *c, u8 type,
				     unsigned long since, bool *unsent)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = first_before(&c->sent, type, since);
	*unsent = !m || m->at == NSWAP_MSG_SENDING;
	if (*unsent)
		m = first_before(&c->txq, type, since);
	if (m) {
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
	}
	spin_unlock(&c->lock);
	return m;
}

/* the oldest message of a type; with the lock held */
static struct nswap_msg *conn_oldest(struct nswap_conn *c, u8 type)
{
	struct nswap_msg *m;

	list_for_each_entry(m, &c->sent, link)
		if (m->hdr.type == type)
			return m;
	list_for_each_entry(m, &c->txq, link)
		if (m->hdr.type == type)
			return m;
	return NULL;
}

/* was the oldest message of @type given to it before @since? process; does not sleep */
bool nswap_conn_late(struct nswap_conn *c, u8 type, unsigned long since)
{
	struct nswap_msg *m;
	bool late;

	spin_lock(&c->lock);
	m = conn_oldest(c, type);
	late = m && time_before(m->since, since);
	spin_unlock(&c->lock);
	return late;
}

static struct nswap_msg *last_of(struct list_head *list, u8 type)
{
	struct nswap_msg *m;

	list_for_each_entry_reverse(m, list, link)
		if (m->hdr.type == type && m->at != NSWAP_MSG_SENDING)
			return m;
	return NULL;
}

/**
 * nswap_conn_take_newest() - take back the newest message of a type
 * @c: a connection
 * @type: type; the oldest message of it stays, and so does one partly sent
 *
 * Context: process, page-in path; does not sleep.
 * Return: a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_take_newest(struct nswap_conn *c, u8 type)
{
	struct nswap_msg *m;

	spin_lock(&c->lock);
	m = last_of(&c->txq, type) ?: last_of(&c->sent, type);
	if (m == conn_oldest(c, type))
		m = NULL;
	if (m) {
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
	}
	spin_unlock(&c->lock);
	return m;
}

/*
 * Take back the oldest message of a type that @may says may be, and that is not partly
 * sent; @may is called with the lock held, and does not sleep. Process, page-in path.
 * Returns a message, IDLE, or NULL.
 */
struct nswap_msg *nswap_conn_take(struct nswap_conn *c, u8 type,
				  bool (*may)(struct nswap_msg *m))
{
	struct nswap_msg *m, *found = NULL;

	spin_lock(&c->lock);
	list_for_each_entry(m, &c->sent, link) {
		if (m->hdr.type != type || m->at == NSWAP_MSG_SENDING || !may(m))
			continue;
		found = m;
		list_del_init(&m->link);
		m->at = NSWAP_MSG_IDLE;
		break;
	}
	spin_unlock(&c->lock);
	return found;
}

/* is a message partly sent for too long? process, page-out path; does not sleep */
bool nswap_conn_stuck(struct nswap_conn *c, unsigned long since)
{
	bool stuck;

	spin_lock(&c->lock);
	stuck = c->cur && time_before(c->cur->since, since);
	spin_unlock(&c->lock);
	return stuck;
}

/*
 * For how many ms has nothing come though a message waits, taken back or not; 0 if
 * none does; any context.
 */
unsigned int nswap_conn_unanswered(const struct nswap_conn *c)
{
	unsigned long asked = READ_ONCE(c->asked);

	return asked ? jiffies_to_msecs(jiffies - asked) : 0;
}
