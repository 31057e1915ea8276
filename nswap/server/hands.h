/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hands, the threads that serve connections, and the connections that wait for one: shared
 * by hands.c and conn_queue.c alone.
 */
#ifndef NSWAP_HANDS_H
#define NSWAP_HANDS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "cache.h"
#include "pure/weight.h"
#include "server.h"

/**
 * struct nswap_hand - a thread that serves one connection at a time
 * @hands: of the node
 * @all: among all hands of the node; the lock
 * @link: among the idle ones, or those that linger; the lock
 * @task: the thread
 * @conn: what it serves, NULL while it is idle; the lock
 * @idle: jiffies since when it is idle, or lingered last
 * @called: it may not linger, or no longer; not set: it is among those that may
 * @weight: of the owner it serves now; its own
 */
struct nswap_hand {
	struct nswap_hands *hands;
	struct list_head all;
	struct list_head link;
	struct task_struct *task;
	struct nswap_srv_conn *conn;
	unsigned long idle;
	bool called;
	u32 weight;
};

/**
 * struct nswap_hands - the hands of a node
 * @node: node
 * @turn: serves a connection: see nswap_hands_start()
 * @making: hands are made and ended; outside @lock
 * @made: so many so far, to name threads; under @making
 * @lock: protects the lists and counts; with bottom halves off
 * @all: hands
 * @nr: how many
 * @idle: hands, the one that was busy last first
 * @nr_idle: how many; read without the lock, too
 * @lingering: hands that may wait for the next message of their connection
 * @nr_lingering: how many
 * @ready: connections that wait for a hand, by kind, the first one first
 * @nr_ready: how many; read without the lock, too
 * @serving: connections that have a hand, by kind; likewise
 * @loader: the owner whose answers to loads left last, or nearly; to compare, no reference;
 *	without the lock, as the next one
 * @shared_at: jiffies when it was another one before
 * @first: the kind that is looked at first next time
 * @nr_conns: connections that have not ended
 * @more: makes hands
 * @none: woken when no connection is left
 */
struct nswap_hands {
	struct nswap_node *node;
	bool (*turn)(struct nswap_srv_conn *conn, struct nswap_rx_affinity *f);
	struct mutex making;
	unsigned int made;
	spinlock_t lock;
	struct list_head all;
	unsigned int nr;
	struct list_head idle;
	unsigned int nr_idle;
	struct list_head lingering;
	unsigned int nr_lingering;
	struct list_head ready[NSWAP_CONN_KINDS];
	unsigned int nr_ready[NSWAP_CONN_KINDS];
	unsigned int serving[NSWAP_CONN_KINDS];
	const struct nswap_owner *loader;
	unsigned long shared_at;
	unsigned int first;
	unsigned int nr_conns;
	struct delayed_work more;
	wait_queue_head_t none;
};

/* hands.c */
void nswap_hand_weigh(struct nswap_hand *hand, u32 weight);

/* conn_queue.c */
void nswap_conn_queue_init(struct nswap_hands *h);
struct nswap_srv_conn *nswap_conn_next(struct nswap_hand *hand, struct nswap_srv_conn *conn);
bool nswap_conn_rest(struct nswap_hands *h, struct nswap_srv_conn *conn);
void nswap_conn_over(struct nswap_hands *h, struct nswap_srv_conn *conn);
unsigned int nswap_conn_queued(const struct nswap_hands *h);
void nswap_conn_call(struct nswap_hands *h, unsigned long longer);
bool nswap_conn_needs(const struct nswap_hands *h, unsigned int nr);

/* what the owner of a connection gets beside others; its hand */
static inline u32 nswap_conn_weight(const struct nswap_srv_conn *conn)
{
	return conn->owner ? READ_ONCE(conn->owner->weight) : NSWAP_WEIGHT;
}

#endif
