// SPDX-License-Identifier: GPL-2.0
/*
 * Server role: threads, called hands, that serve connections.
 *
 * A connection has a hand while messages come, and for as long as no other needs it. Else it
 * rests: it has no thread, and its link calls when something happens there (conn_queue.c).
 * So hundreds of owners, most of whom rest at any time, take a few threads; an owner that is
 * active has one for each connection, and the scheduler shares the processors out between
 * owners, by their weights, and with this machine's own programs.
 *
 * Invariants:
 *  - FEW hands there are always. More are made when connections wait, while memory is
 *    neither short nor in pieces, and end in the sweep when they have been idle for long;
 *    the one that was idle last is taken first.
 *  - A hand that is taken off the lists under the lock, idle, is given nothing any more.
 *  - All hands have ended before one of them that is on the lists, or struct nswap_hands, is
 *    freed, and so has @more.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/meminfo.h"
#include "core/node.h"
#include "hands.h"
#include "transport/rx_affinity.h"

#define FEW		16
#define IDLE_LONG	(10 * HZ)
#define LINGER_LONG	(5 * HZ)
#define AGAIN		(HZ / 10)
/* enough that what it wakes on this CPU does not come before it sleeps: a switch less a page */
#define HAND_NICE	(-3)

/* sleep until an idle hand is given a connection; NULL: it is to end */
static struct nswap_srv_conn *hand_wait(struct nswap_hand *hand)
{
	struct nswap_srv_conn *conn;

	for (;;) {
		set_current_state(TASK_IDLE);
		/* pairs with conn_give() */
		conn = smp_load_acquire(&hand->conn);
		if (conn || kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return conn;
}

/* the hand works for an owner of this weight from now on; the hand itself, does not sleep */
void nswap_hand_weigh(struct nswap_hand *hand, u32 weight)
{
	if (hand->weight == weight)
		return;
	hand->weight = weight;
	set_user_nice(current, HAND_NICE + nswap_weight_nice(weight));
}

/* serve one connection for a turn; returns what to serve next, NULL: it is idle */
static struct nswap_srv_conn *hand_turn(struct nswap_hand *hand, struct nswap_srv_conn *conn,
					struct nswap_rx_affinity *f)
{
	struct nswap_hands *h = hand->hands;

	conn->t->on_change(conn->l, NULL, NULL);
	nswap_hand_weigh(hand, nswap_conn_weight(conn));
	if (!h->turn(conn, f)) {
		nswap_conn_over(h, conn);
		conn = NULL;
	} else if (nswap_conn_rest(h, conn)) {
		conn = NULL;
	}
	return nswap_conn_next(hand, conn);
}

static int hand_loop(void *data)
{
	struct nswap_hand *hand = data;
	struct nswap_srv_conn *conn = nswap_conn_next(hand, NULL);
	struct nswap_rx_affinity f;

	nswap_rx_affinity_start(&f);
	nswap_hand_weigh(hand, NSWAP_WEIGHT);
	while (conn || (conn = hand_wait(hand))) {
		conn = hand_turn(hand, conn, &f);
		/* whom it serves next is to be waited for by none */
		if (!conn)
			nswap_hand_weigh(hand, NSWAP_WEIGHT);
		/* what it serves next may come in on another CPU */
		if (!conn && f.cpu >= 0) {
			set_cpus_allowed_ptr(current, cpu_possible_mask);
			nswap_rx_affinity_start(&f);
		}
	}
	return 0;
}

/* one more hand; process, sleeps and allocates. False without memory */
static bool hands_make(struct nswap_hands *h)
{
	struct nswap_hand *hand = kzalloc_obj(*hand);
	struct task_struct *task;

	if (!hand)
		return false;
	hand->hands = h;
	INIT_LIST_HEAD(&hand->link);
	hand->called = true;
	task = kthread_create(hand_loop, hand, "nswap/%u-s%u", h->node->number, ++h->made);
	if (IS_ERR(task)) {
		kfree(hand);
		return false;
	}
	hand->task = task;
	spin_lock_bh(&h->lock);
	list_add_tail(&hand->all, &h->all);
	WRITE_ONCE(h->nr, h->nr + 1);
	spin_unlock_bh(&h->lock);
	wake_up_process(task);
	return true;
}

/*
 * Or in pieces? A thread takes a block of several pages, and where there is none the kernel
 * looks for a program to kill.
 */
static bool hands_memory_short(const struct nswap_hands *h)
{
	struct nswap_mem_view mem;

	nswap_mem_view(h->node, &mem);
	return mem.free < mem.low || mem.in_pieces;
}

/* connections wait: hands for them, as long as any wait */
static void hands_more(struct work_struct *work)
{
	struct nswap_hands *h = container_of(to_delayed_work(work), struct nswap_hands, more);
	unsigned int n = nswap_conn_queued(h);

	mutex_lock(&h->making);
	while (n-- && READ_ONCE(h->nr) < READ_ONCE(h->nr_conns) + FEW &&
	       !hands_memory_short(h) && hands_make(h))
		;
	mutex_unlock(&h->making);
	/* more than there was memory for, or than these may serve */
	if (nswap_conn_queued(h))
		queue_delayed_work(system_dfl_wq, &h->more, AGAIN);
}

/* a hand that has been idle for long and is not needed, taken off the lists; or NULL */
static struct nswap_hand *hands_surplus(struct nswap_hands *h)
{
	struct nswap_hand *hand = NULL;

	spin_lock_bh(&h->lock);
	if (h->nr_idle && h->nr > FEW && !nswap_conn_needs(h, h->nr))
		hand = list_last_entry(&h->idle, struct nswap_hand, link);
	if (hand && time_after(jiffies, hand->idle + IDLE_LONG)) {
		list_del(&hand->link);
		list_del(&hand->all);
		WRITE_ONCE(h->nr_idle, h->nr_idle - 1);
		WRITE_ONCE(h->nr, h->nr - 1);
	} else {
		hand = NULL;
	}
	spin_unlock_bh(&h->lock);
	return hand;
}

/**
 * nswap_hands_sweep() - make hands that are missing, end those that are not needed
 * @h: hands
 *
 * Context: process, sleeps and allocates; never on the reclaim path.
 */
void nswap_hands_sweep(struct nswap_hands *h)
{
	struct nswap_hand *hand;

	nswap_conn_call(h, LINGER_LONG);
	mutex_lock(&h->making);
	while (READ_ONCE(h->nr) < FEW && hands_make(h))
		;
	while ((hand = hands_surplus(h))) {
		kthread_stop(hand->task);
		kfree(hand);
	}
	mutex_unlock(&h->making);
}

/**
 * nswap_hands_start() - the hands of a node
 * @node: node
 * @turn: serves a connection until nswap_conn_stays() says no, or its link is closed;
 *	then it returns false
 *
 * Context: process, sleeps and allocates.
 * Return: the hands, as many as there was memory for; NULL without any.
 */
struct nswap_hands *nswap_hands_start(struct nswap_node *node,
				      bool (*turn)(struct nswap_srv_conn *conn,
						   struct nswap_rx_affinity *f))
{
	struct nswap_hands *h = kzalloc_obj(*h);

	if (!h)
		return NULL;
	h->node = node;
	h->turn = turn;
	spin_lock_init(&h->lock);
	mutex_init(&h->making);
	INIT_LIST_HEAD(&h->all);
	INIT_LIST_HEAD(&h->idle);
	INIT_LIST_HEAD(&h->lingering);
	nswap_conn_queue_init(h);
	INIT_DELAYED_WORK(&h->more, hands_more);
	init_waitqueue_head(&h->none);
	nswap_hands_sweep(h);
	if (h->nr)
		return h;
	kfree(h);
	return NULL;
}

/* all links are shut down, and none is added: wait until they are closed; process, sleeps */
void nswap_hands_stop(struct nswap_hands *h)
{
	struct nswap_hand *hand, *next;

	wait_event(h->none, !READ_ONCE(h->nr_conns));
	cancel_delayed_work_sync(&h->more);
	/* one that ended the last connection may be about to join the idle ones */
	list_for_each_entry(hand, &h->all, all)
		kthread_stop(hand->task);
	list_for_each_entry_safe(hand, next, &h->all, all)
		kfree(hand);
	kfree(h);
}
