// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: which connections rest, wait for a hand or have one (hands.c).
 *
 *   RESTING -> READY: a header has come, or the rest of a message up to its pages, or the link
 *	has ended
 *   READY -> SERVED: a hand takes it: an idle one at once, else the next that is free
 *   SERVED -> RESTING: nothing has come, and others wait, or too many hands linger
 *   SERVED -> READY: others wait and it had its turn
 *   SERVED -> ENDED: the link is closed
 *
 * Invariants:
 *  - A connection is in one state at a time, changed under the lock. Only its hand, while
 *    it is SERVED, uses it; the lock orders what one hand wrote before what the next reads.
 *  - The link calls only while the connection is RESTING, or is about to; what came before
 *    it would have called is looked for once more.
 *  - A hand lingers at its connection until the next message, since that costs less than to
 *    rest: three quarters of them at most, and none if a connection waits. It may until it
 *    is called, message after message, without the lock; one that is busy is called, too.
 *  - A connection that is READY waits for no memory: hands that find others waiting give
 *    theirs up after a message that leaves it empty, or TURN of them, more or fewer by the
 *    owner's weight (weights.c). What holds a hand up is bounded, so that some hands are free
 *    whatever is slow, and memory with it:
 *     - a stranger, or a message of which a part has come that is not yet one of its pages,
 *       has none;
 *     - control connections, whose owners may not receive the answer, have half at most;
 *     - movers, whose messages may wait for other nodes, which may wait for this one, have
 *       half of the hands at most; with stores, whose payload is dropped and sent again
 *       while memory is short, three quarters; with loads, whose owner may not receive, all
 *       but KEPT;
 *     - the connections of one owner have half at most.
 */
#include "hands.h"
#include "owner.h"

#define LINGER		(HZ / 50 ?: 1)	/* after so long another hand may linger instead */
#define TURN		32	/* messages, while others wait */
#define TURN_MS		20
#define KEPT		2	/* hands, for control connections and new ones */
/* bytes of pages on their way to an owner while others load: at all, and by a connection */
#define SHARED_MOST	(128u << 10)
#define SHARED_LEAST	(16u << 10)
#define SHARED_FOR	(HZ / 10)	/* since another owner loaded */

static enum nswap_conn_kind conn_kind(const struct nswap_srv_conn *conn)
{
	switch (conn->class) {
	case NSWAP_CLASS_LOAD:
		return NSWAP_CONN_LOAD;
	case NSWAP_CLASS_STORE:
		return NSWAP_CONN_STORE;
	case NSWAP_CLASS_MOVE:
	case NSWAP_CLASS_TELL:
		return NSWAP_CONN_MOVER;
	default:
		return conn->owner ? NSWAP_CONN_CONTROL : NSWAP_CONN_QUICK;
	}
}

/*
 * May one more of a kind be served, when one of kind @left, NSWAP_CONN_KINDS for none, is
 * not any more? A guess without the lock.
 */
static bool kind_may(const struct nswap_hands *h, enum nswap_conn_kind kind,
		     enum nswap_conn_kind left)
{
	unsigned int nr = READ_ONCE(h->nr);
	unsigned int movers = READ_ONCE(h->serving[NSWAP_CONN_MOVER]) -
			      (left == NSWAP_CONN_MOVER);
	unsigned int slow = movers + READ_ONCE(h->serving[NSWAP_CONN_STORE]) -
			    (left == NSWAP_CONN_STORE);
	unsigned int all = slow + READ_ONCE(h->serving[NSWAP_CONN_LOAD]) -
			   (left == NSWAP_CONN_LOAD);

	unsigned int control = READ_ONCE(h->serving[NSWAP_CONN_CONTROL]) -
			       (left == NSWAP_CONN_CONTROL);

	if (kind == NSWAP_CONN_QUICK)
		return true;
	if (kind == NSWAP_CONN_CONTROL)
		return !control || 2 * (control + 1) <= nr;
	if (kind == NSWAP_CONN_MOVER && movers && 2 * (movers + 1) > nr)
		return false;
	if (kind != NSWAP_CONN_LOAD && slow && 4 * (slow + 1) > 3 * nr)
		return false;
	return !all || all + 1 + KEPT <= nr;
}

/* may a hand begin to serve a connection? the lock held */
static bool conn_may(const struct nswap_hands *h, const struct nswap_srv_conn *conn)
{
	return kind_may(h, conn->kind, NSWAP_CONN_KINDS) &&
	       (!conn->owner || !conn->owner->hands || 2 * (conn->owner->hands + 1) <= h->nr);
}

/* a connection has a hand from now on; the lock held */
static void conn_begin(struct nswap_hands *h, struct nswap_hand *hand,
		       struct nswap_srv_conn *conn)
{
	WRITE_ONCE(conn->state, NSWAP_CONN_SERVED);
	conn->hand = hand;
	conn->served_of = conn->owner;
	if (conn->served_of)
		conn->served_of->hands++;
	WRITE_ONCE(h->serving[conn->kind], h->serving[conn->kind] + 1);
}

/* a connection has no hand any more; the lock held */
static void conn_end(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	if (conn->served_of)
		conn->served_of->hands--;
	conn->served_of = NULL;
	WRITE_ONCE(h->serving[conn->kind], h->serving[conn->kind] - 1);
	conn->kind = conn_kind(conn);
}

/* it waits for a hand; the lock held */
static void conn_queue(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	WRITE_ONCE(conn->state, NSWAP_CONN_READY);
	list_add_tail(&conn->ready, &h->ready[conn->kind]);
	WRITE_ONCE(h->nr_ready[conn->kind], h->nr_ready[conn->kind] + 1);
}

/* an idle hand serves a connection; the lock held */
static void hand_give(struct nswap_hands *h, struct nswap_hand *hand,
		      struct nswap_srv_conn *conn)
{
	list_del_init(&hand->link);
	WRITE_ONCE(h->nr_idle, h->nr_idle - 1);
	conn_begin(h, hand, conn);
	/* pairs with hand_wait() */
	smp_store_release(&hand->conn, conn);
	wake_up_process(hand->task);
}

static struct nswap_hand *hand_idle(struct nswap_hands *h)
{
	return list_first_entry_or_null(&h->idle, struct nswap_hand, link);
}

/* it may linger no longer; the lock held */
static void hand_called(struct nswap_hands *h, struct nswap_hand *hand)
{
	list_del_init(&hand->link);
	h->nr_lingering--;
	/* pairs with the transport's ->wait() */
	WRITE_ONCE(hand->called, true);
}

/* hands that have lingered for @longer jiffies linger no longer; the lock held */
static void hands_call(struct nswap_hands *h, unsigned long longer)
{
	struct nswap_hand *hand, *next;

	list_for_each_entry_safe(hand, next, &h->lingering, link) {
		if (longer && !time_after(jiffies, READ_ONCE(hand->idle) + longer))
			continue;
		hand_called(h, hand);
		wake_up_process(hand->task);
	}
}

/* a connection has something to do: a hand for it, if one is idle; the lock held */
static void conn_give(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	struct nswap_hand *hand = hand_idle(h);

	if (hand && conn_may(h, conn)) {
		hand_give(h, hand, conn);
		return;
	}
	conn_queue(h, conn);
	hands_call(h, 0);
	mod_delayed_work(system_dfl_wq, &h->more, 0);
}

/**
 * nswap_conn_look() - does a connection that rests have something to do?
 * @conn: connection with a link, which stays open
 *
 * Context: any but interrupts; does not sleep.
 */
void nswap_conn_look(struct nswap_srv_conn *conn)
{
	struct nswap_hands *h = conn->hands;

	spin_lock_bh(&h->lock);
	if (conn->state == NSWAP_CONN_RESTING && conn->t->pending(conn->l, conn->need))
		conn_give(h, conn);
	spin_unlock_bh(&h->lock);
}

/* something has happened on a link that rests, or is about to; does not sleep */
static void conn_changed(void *arg)
{
	nswap_conn_look(arg);
}

/* false if something has come meanwhile; else another hand may have it at once; process */
bool nswap_conn_rest(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	bool rests;

	WRITE_ONCE(conn->since, jiffies);
	conn->t->on_change(conn->l, conn_changed, conn);
	spin_lock_bh(&h->lock);
	rests = !conn->t->pending(conn->l, conn->need);
	if (rests) {
		conn_end(h, conn);
		/* after @since, which others read without the lock */
		smp_store_release(&conn->state, NSWAP_CONN_RESTING);
	}
	spin_unlock_bh(&h->lock);
	return rests;
}

/* of a kind, the connection that has waited longest and may be served; the lock held */
static struct nswap_srv_conn *queue_look(const struct nswap_hands *h, enum nswap_conn_kind kind)
{
	struct nswap_srv_conn *conn;

	if (!kind_may(h, kind, NSWAP_CONN_KINDS))
		return NULL;
	list_for_each_entry(conn, &h->ready[kind], ready)
		if (conn_may(h, conn))
			return conn;
	return NULL;
}

/* likewise of each kind in turn, taken off its list */
static struct nswap_srv_conn *queue_pop(struct nswap_hands *h)
{
	struct nswap_srv_conn *conn = NULL;
	unsigned int i;

	for (i = 0; i < NSWAP_CONN_KINDS && !conn; i++)
		conn = queue_look(h, (h->first + i) % NSWAP_CONN_KINDS);
	h->first = (h->first + 1) % NSWAP_CONN_KINDS;
	if (!conn)
		return NULL;
	list_del(&conn->ready);
	WRITE_ONCE(h->nr_ready[conn->kind], h->nr_ready[conn->kind] - 1);
	return conn;
}

/* one may be served that might not before: idle hands take what waits; the lock held */
static void queue_share(struct nswap_hands *h)
{
	struct nswap_srv_conn *conn;
	struct nswap_hand *hand;

	while ((hand = hand_idle(h)) && (conn = queue_pop(h)))
		hand_give(h, hand, conn);
}

/* The connection is about to leave its owner, who may go then; its hand. */
void nswap_conn_leaves(struct nswap_srv_conn *conn)
{
	struct nswap_hands *h = conn->hands;

	spin_lock_bh(&h->lock);
	if (conn->served_of)
		conn->served_of->hands--;
	conn->served_of = NULL;
	queue_share(h);
	spin_unlock_bh(&h->lock);
}

/* the link is closed; nothing of the connection is touched after this; process */
void nswap_conn_over(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	bool last;

	spin_lock_bh(&h->lock);
	last = !--h->nr_conns;
	conn_end(h, conn);
	/* pairs with nswap_conn_ended() */
	smp_store_release(&conn->state, NSWAP_CONN_ENDED);
	spin_unlock_bh(&h->lock);
	if (last)
		wake_up_all(&h->none);
}

/**
 * nswap_conn_next() - what a hand serves next
 * @hand: hand
 * @conn: what it has, and others may wait before; or NULL
 *
 * Context: process; does not sleep.
 * Return: a connection, of each kind in turn; NULL if none may be served: it is idle, or was
 * given one since.
 */
struct nswap_srv_conn *nswap_conn_next(struct nswap_hand *hand, struct nswap_srv_conn *conn)
{
	struct nswap_hands *h = hand->hands;

	spin_lock_bh(&h->lock);
	if (!hand->called)
		hand_called(h, hand);
	if (conn) {
		conn_end(h, conn);
		conn_queue(h, conn);
	}
	conn = queue_pop(h);
	if (conn) {
		conn_begin(h, hand, conn);
	} else {
		hand->idle = jiffies;
		list_add(&hand->link, &h->idle);
		WRITE_ONCE(h->nr_idle, h->nr_idle + 1);
	}
	WRITE_ONCE(hand->conn, conn);
	queue_share(h);
	if (nswap_conn_queued(h)) {
		hands_call(h, 0);
		mod_delayed_work(system_dfl_wq, &h->more, 0);
	}
	spin_unlock_bh(&h->lock);
	return conn;
}

/* how many wait for a hand? any context; a snapshot */
unsigned int nswap_conn_queued(const struct nswap_hands *h)
{
	unsigned int kind, n = 0;

	for (kind = 0; kind < NSWAP_CONN_KINDS; kind++)
		n += READ_ONCE(h->nr_ready[kind]);
	return n;
}

/* are @nr hands the fewest that may serve what is served now? the lock held */
bool nswap_conn_needs(const struct nswap_hands *h, unsigned int nr)
{
	unsigned int movers = h->serving[NSWAP_CONN_MOVER];
	unsigned int slow = movers + h->serving[NSWAP_CONN_STORE];

	return 2 * movers + 1 > nr || 4 * slow + 3 > 3 * nr ||
	       slow + h->serving[NSWAP_CONN_LOAD] + KEPT + 1 > nr ||
	       2 * h->serving[NSWAP_CONN_CONTROL] + 1 > nr;
}

/* does any wait that might be served in place of @conn? likewise */
static bool queue_waits(const struct nswap_hands *h, const struct nswap_srv_conn *conn)
{
	bool idle = READ_ONCE(h->nr_idle);
	unsigned int kind;

	for (kind = 0; kind < NSWAP_CONN_KINDS; kind++)
		if (READ_ONCE(h->nr_ready[kind]) && kind_may(h, kind, conn->kind) &&
		    !(idle && kind_may(h, kind, NSWAP_CONN_KINDS)))
			return true;
	return false;
}

/* hands that have lingered for so long, jiffies, linger no longer; process */
void nswap_conn_call(struct nswap_hands *h, unsigned long longer)
{
	spin_lock_bh(&h->lock);
	hands_call(h, longer);
	spin_unlock_bh(&h->lock);
}

/* may a hand linger from now on, until it is called? */
static bool hand_may_linger(struct nswap_hands *h, struct nswap_hand *hand)
{
	bool may;

	spin_lock_bh(&h->lock);
	if (4 * h->nr_lingering >= 3 * h->nr)
		hands_call(h, LINGER);
	may = !nswap_conn_queued(h) && 4 * h->nr_lingering < 3 * h->nr;
	if (may) {
		WRITE_ONCE(hand->called, false);
		list_add_tail(&hand->link, &h->lingering);
		h->nr_lingering++;
	}
	spin_unlock_bh(&h->lock);
	return may;
}

/* wait for the next message of a connection, as long as no other needs the hand */
static bool conn_linger(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	struct nswap_hand *hand = conn->hand;

	WRITE_ONCE(hand->idle, jiffies);
	/* if it was not called, none waits that has not called it since */
	if (READ_ONCE(hand->called) && !hand_may_linger(h, hand))
		return false;
	return conn->t->wait(conn->l, conn->need, &hand->called);
}

/* have answers to loads of more than one owner left lately? without the lock */
static bool loads_shared(struct nswap_hands *h, const struct nswap_owner *o)
{
	unsigned long now = jiffies;

	/* written once a jiffy at most: hands on all processors read it */
	if (READ_ONCE(h->loader) != o && READ_ONCE(h->shared_at) != now) {
		WRITE_ONCE(h->loader, o);
		WRITE_ONCE(h->shared_at, now);
	}
	return time_before(now, READ_ONCE(h->shared_at) + SHARED_FOR);
}

/**
 * nswap_conn_send_most() - how many bytes of answers may be on their way to an owner
 * @conn: connection of it, which is served, and carries loads
 * @sending: so many of its connections send some just now, this one included
 *
 * Answers of all owners leave by one line, and what one of them has in front there the
 * others wait for. While one owner alone loads there is no such limit.
 *
 * Context: process, the connection's hand; does not sleep. A guess without the lock.
 * Return: bytes for this connection.
 */
u32 nswap_conn_send_most(const struct nswap_srv_conn *conn, unsigned int sending)
{
	if (!loads_shared(conn->hands, conn->owner))
		return U32_MAX;
	return max(SHARED_MOST / sending, SHARED_LEAST);
}

/* how long a turn of a connection may take while others wait */
static unsigned long turn_jiffies(u32 weight)
{
	return msecs_to_jiffies(nswap_weight_turn(TURN_MS, weight));
}

/**
 * nswap_conn_stays() - is a hand to serve another message of a connection?
 * @conn: connection it serves; no answer is held back
 * @served: so many messages in this turn
 * @begun: jiffies when it began
 *
 * Context: process, the connection's hand; sleeps as long as no other needs the hand.
 * Return: true if its header has come, or the link has ended.
 */
bool nswap_conn_stays(struct nswap_srv_conn *conn, unsigned int served, unsigned long begun)
{
	struct nswap_hands *h = conn->hands;
	bool others = queue_waits(h, conn);
	u32 weight = nswap_conn_weight(conn);

	nswap_hand_weigh(conn->hand, weight);
	if (conn->t->pending(conn->l, conn->need))
		return !others || (served < nswap_weight_turn(TURN, weight) &&
				   !time_after(jiffies, begun + turn_jiffies(weight)));
	return !others && conn->phase == NSWAP_CONN_KNOWN && conn_linger(h, conn);
}

/* serve a connection, whose link is open, from now on; process, does not sleep */
void nswap_conn_add(struct nswap_hands *h, struct nswap_srv_conn *conn)
{
	conn->hands = h;
	conn->kind = NSWAP_CONN_QUICK;
	spin_lock_bh(&h->lock);
	h->nr_conns++;
	conn_give(h, conn);
	spin_unlock_bh(&h->lock);
}

/* none rests or waits; process */
void nswap_conn_queue_init(struct nswap_hands *h)
{
	unsigned int kind;

	for (kind = 0; kind < NSWAP_CONN_KINDS; kind++)
		INIT_LIST_HEAD(&h->ready[kind]);
	h->shared_at = jiffies - SHARED_FOR;
}
