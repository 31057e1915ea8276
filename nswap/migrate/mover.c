// SPDX-License-Identifier: GPL-2.0
/*
 * Mover: page migration, at the server that gives RAM back.
 *
 *   surplus -> droppable pages of any owner: dropped, then their owner is told
 *   surplus, or rebalancing -> pick an owner -> its least recently used pages, critical
 *   ones first
 *     a peer has room: MOVE to it -> MOVED to the owner -> dropped here, or kept
 *     no peer has room: RETURN to the owner, which writes them to flash or home
 *         -> dropped here, or kept
 *
 * Several threads run in parallel, one batch each, to keep the link busy while
 * owners and peers answer.
 *
 * Invariants:
 *  - A page that is not droppable is dropped here only when its owner allows it, or is in
 *    another epoch; after any failure it is kept and tried again later. Droppable ones go
 *    first, and only for a surplus.
 *  - A page-out path: messages and threads are made with the node, pages are sent
 *    without copying, links are opened with memory reserves as those of sessions
 *    are. At most NSWAP_MOVERS batches are under way.
 *  - Pages moved for rebalancing (rebalance.c) go only to peers that are emptier,
 *    never back to the owner, and no faster than HAND_ON_MIB_S.
 *  - Back off 1 s after a peer refuses or fails, and after an owner cannot be
 *    reached. Once an owner has answered that a device has no home, the pages of
 *    that device are not returned to it for a while.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "core/node.h"
#include "mover.h"
#include "mover_batch.h"
#include "rebalance.h"
#include "server/owner.h"
#include "server/held.h"

#define TURN		32	/* batches of one owner */
#define HAND_ON_MIB_S	32u
#define LOOK_AGAIN	(HZ / 50)	/* while an owner is being connected to */
#define IDLE_CLOSE	(10 * HZ)

static void keep_speed(struct nswap_mover *m, bool hand_on)
{
	u32 limit = nswap_knob(m->node, move_mib_s);

	if (hand_on)
		limit = min_not_zero(limit, HAND_ON_MIB_S);
	if (limit)
		usleep_range(NSWAP_MOVERS * NSWAP_REQ_SLOTS * 3906ul / limit,
			     NSWAP_MOVERS * NSWAP_REQ_SLOTS * 4096ul / limit);
}

/* pages to move: the surplus, or what rebalancing asks for if that is more */
static u64 to_move(struct nswap_mover *m)
{
	return max(nswap_cache_surplus(m->node->cache),
		   nswap_rebalance_excess(m->node));
}

/* how many pages this thread may move now; they count as under way */
static u32 take_room(struct mover_thread *w)
{
	struct nswap_mover *m = w->m;
	u32 busy = atomic_add_return(NSWAP_REQ_SLOTS, &m->under_way);
	u32 before = busy - NSWAP_REQ_SLOTS, room;
	/* read last: a batch no longer counted in @before has already lowered it */
	u64 all = to_move(m);

	room = all > before ? min_t(u64, all - before, NSWAP_REQ_SLOTS) : 0;
	w->hand_on = nswap_cache_surplus(m->node->cache) <= before;
	atomic_sub(NSWAP_REQ_SLOTS - room, &m->under_way);
	return room;
}

/* drop droppable pages of one owner; false if there are none, or no surplus */
static bool mover_drops(struct mover_thread *w)
{
	struct nswap_cache *c = w->m->node->cache;
	struct nswap_owner *o;
	int n = 0;
	u32 room;

	if (!nswap_cache_surplus(c))
		return false;
	/* reclaim lowers the target without that: what is ready would count as held */
	nswap_cache_gather(c);
	if (!nswap_cache_surplus(c))
		return false;
	o = nswap_owner_droppable(c);
	if (!o)
		return false;
	room = take_room(w);
	if (room && !w->hand_on)
		n = nswap_mover_drop(w, o, min_t(u64, room, nswap_cache_surplus(c)));
	atomic_sub(room, &w->m->under_way);
	nswap_owner_leave(c, o);
	if (n == -EAGAIN)
		schedule_timeout_interruptible(LOOK_AGAIN);
	return n;
}

/*
 * Several batches of one owner, since connecting to another owner costs more than
 * a batch. False if there is nothing to do now.
 */
static bool mover_work(struct mover_thread *w)
{
	struct nswap_mover *m = w->m;
	struct nswap_cache *c = m->node->cache;
	struct nswap_owner *o;
	u32 n, room, gone = 1;
	bool any = false;

	if (mover_drops(w))
		return true;
	o = nswap_owner_turn(c);
	if (!o)
		return false;
	for (n = 0; n < TURN && gone && !READ_ONCE(m->stop); n++) {
		nswap_held_tidy(c, o);
		room = take_room(w);
		if (!room)
			break;
		any = true;
		w->used = jiffies;
		if (!w->hand_on)
			nswap_pending_give_up(c, o);
		gone = nswap_mover_batch(w, o, room);
		atomic_sub(room, &m->under_way);
		if (gone)
			keep_speed(m, w->hand_on);
	}
	nswap_owner_leave(c, o);
	return any;
}

static void wait_for_work(struct nswap_mover *m)
{
	if (to_move(m))
		wait_event_interruptible_timeout(m->wait, READ_ONCE(m->stop),
						 MOVER_LOOK_EVERY);
	else
		wait_event_interruptible_timeout(m->wait,
						 READ_ONCE(m->stop) ||
						 to_move(m),
						 IDLE_CLOSE);
}

static int mover_loop(void *data)
{
	struct mover_thread *w = data;
	struct nswap_mover *m = w->m;

	while (!READ_ONCE(m->stop)) {
		if (mover_work(w))
			continue;
		if (time_after(jiffies, w->used + IDLE_CLOSE)) {
			nswap_move_link_close(&w->to);
			nswap_move_link_close(&w->tell);
		}
		wait_for_work(m);
	}
	nswap_move_link_close(&w->to);
	nswap_move_link_close(&w->tell);
	atomic_dec(&m->running);
	wake_up_all(&m->wait);
	while (!kthread_should_stop())
		wait_event_interruptible(m->wait, kthread_should_stop());
	return 0;
}

static void init_thread(struct nswap_mover *m, struct mover_thread *w)
{
	w->m = m;
	w->to.node = m->node;
	w->to.t = &nswap_tcp_ops;
	w->to.class = NSWAP_CLASS_MOVE;
	w->tell = w->to;
	w->tell.class = NSWAP_CLASS_TELL;
	w->used = jiffies;
}

/*
 * Start the mover of a node. Returns 0, -ENOMEM or another error of kthread creation.
 */
int nswap_mover_start(struct nswap_node *node)
{
	struct nswap_mover *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct task_struct *t;
	unsigned int i;

	if (!m)
		return -ENOMEM;
	m->node = node;
	init_waitqueue_head(&m->wait);
	for (i = 0; i <= NSWAP_MAX_PEERS; i++)
		m->rest[i] = jiffies;
	m->took = jiffies - MOVER_HOME_AFTER;
	/* the server is up already; pairs with nswap_mover_kick() */
	smp_store_release(&node->mover, m);
	for (i = 0; i < NSWAP_MOVERS; i++) {
		init_thread(m, &m->thread[i]);
		t = kthread_run(mover_loop, &m->thread[i], "nswap/%u-move%u",
				node->number, i);
		if (IS_ERR(t))
			return PTR_ERR(t);
		m->thread[i].task = t;
		atomic_inc(&m->running);
	}
	return 0;
}

/*
 * End the threads of a mover. @node: node, with or without a mover. A thread that
 * kthread_stop() has told to stop spins instead of sleeping in a socket, so @stop is
 * set first and kthread_stop() waits until links are closed. Context: process, sleeps
 * until batches under way have ended.
 */
void nswap_mover_stop(struct nswap_node *node)
{
	struct nswap_mover *m = node->mover;
	unsigned int i;

	if (!m)
		return;
	WRITE_ONCE(m->stop, true);
	wake_up_all(&m->wait);
	wait_event(m->wait, !atomic_read(&m->running));
	for (i = 0; i < NSWAP_MOVERS; i++)
		if (m->thread[i].task)
			kthread_stop(m->thread[i].task);
}

/*
 * Free a stopped mover; @node: node without a cache, so that reclaim does not kick
 * its mover any more.
 */
void nswap_mover_free(struct nswap_node *node)
{
	kfree(node->mover);
	node->mover = NULL;
}

/* wake the mover: there may be a surplus */
void nswap_mover_kick(struct nswap_node *node)
{
	/* pairs with nswap_mover_start() */
	struct nswap_mover *m = smp_load_acquire(&node->mover);

	if (m)
		wake_up_all(&m->wait);
}
