/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One batch of a mover: pages of one owner to a peer, or back to their owner.
 */
#ifndef NSWAP_MOVER_BATCH_H
#define NSWAP_MOVER_BATCH_H

#include <linux/wait.h>

#include "move_link.h"

struct nswap_entry;
struct task_struct;

#define MOVER_LOOK_EVERY	(HZ / 4)
#define MOVER_HOME_AFTER	(2 * HZ)	/* since a peer last took a page */
#define NSWAP_MOVERS	4

/**
 * struct mover_thread - one thread, one batch at a time; private to the thread
 * @m: mover
 * @task: the thread
 * @to: link to the peer that takes pages
 * @tell: link to the owner
 * @names: the owner, or the peer, and the pages, as the message names them; their lengths
 *	behind, if they are sent short
 * @entry: the pages
 * @result: answers
 * @bv: the message
 * @full: peers without room for the owner of the batch, by IPTable index
 * @unmet: those that the owner lets none of its pages go to now, likewise
 * @critical: its target was chosen for critical pages
 * @hand_on: the batch is moved for rebalancing, it is no surplus
 * @used: jiffies of the last batch
 */
struct mover_thread {
	struct nswap_mover *m;
	struct task_struct *task;
	struct nswap_move_link to;
	struct nswap_move_link tell;
	struct nswap_wire_names names;
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	struct nswap_wire_result result[NSWAP_REQ_SLOTS];
	struct bio_vec bv[2 * NSWAP_REQ_SLOTS + 2];
	unsigned long full[BITS_TO_LONGS(NSWAP_MAX_PEERS + 1)];
	unsigned long unmet[BITS_TO_LONGS(NSWAP_MAX_PEERS + 1)];
	bool critical;
	bool hand_on;
	unsigned long used;
};

/**
 * struct nswap_mover - the mover of a node
 * @node: node
 * @wait: where its threads wait for a surplus
 * @under_way: pages in batches
 * @attempt: number of the last batch
 * @rest: per IPTable index, jiffies until which nothing is moved there
 * @took: jiffies when a peer last took a page
 * @stop: the threads are to end
 * @running: threads that have not ended
 * @thread: its threads
 */
struct nswap_mover {
	struct nswap_node *node;
	wait_queue_head_t wait;
	atomic_t under_way;
	atomic_t attempt;
	unsigned long rest[NSWAP_MAX_PEERS + 1];
	unsigned long took;
	bool stop;
	atomic_t running;
	struct mover_thread thread[NSWAP_MOVERS];
};

int nswap_mover_drop(struct mover_thread *w, struct nswap_owner *o, u32 room);
u32 nswap_mover_batch(struct mover_thread *w, struct nswap_owner *o, u32 room);

#endif
