// SPDX-License-Identifier: GPL-2.0
/*
 * Mover: page migration, at the server that gives RAM back.
 *
 *   surplus, or rebalancing -> pick an owner -> its least recently used pages
 *     a peer has room: MOVE to it -> MOVED to the owner -> dropped here, or kept
 *     no peer has room: RETURN to the owner, which writes them to flash or home
 *         -> dropped here, or kept
 *
 * Several threads run in parallel, one batch each, to keep the link busy while
 * owners and peers answer.
 *
 * Invariants:
 *  - A page is dropped here only when its owner allows it; after any failure it is
 *    kept and tried again later.
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

#include "base/stats.h"
#include "base/types.h"
#include "core/inject.h"
#include "core/node.h"
#include "move_link.h"
#include "mover.h"
#include "observe/trace.h"
#include "pure/wire.h"
#include "rebalance.h"
#include "server/cache.h"
#include "server/owner.h"
#include "server/pick.h"
#include "target.h"
#include "transport/transport.h"

#define NSWAP_MOVERS	4
#define TURN		32	/* batches of one owner */
#define REST		HZ
#define HAND_ON_MIB_S	32u
#define LOOK_EVERY	(HZ / 4)
#define HOMELESS	(10 * HZ)
#define HOME_AFTER	(2 * HZ)	/* since a peer last took a page */
#define IDLE_CLOSE	(10 * HZ)

/**
 * struct mover_thread - one thread, one batch at a time; private to the thread
 * @m: mover
 * @task: the thread
 * @to: link to the peer that takes pages
 * @tell: link to the owner
 * @who: the owner, or the peer, as the message names it
 * @page: names of the pages
 * @entry: the pages
 * @result: answers
 * @bv: the message
 * @hand_on: the batch is moved for rebalancing, it is no surplus
 * @used: jiffies of the last batch
 */
struct mover_thread {
	struct nswap_mover *m;
	struct task_struct *task;
	struct nswap_move_link to;
	struct nswap_move_link tell;
	struct nswap_wire_node who;
	struct nswap_wire_page page[NSWAP_REQ_SLOTS];
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	struct nswap_wire_result result[NSWAP_REQ_SLOTS];
	struct bio_vec bv[NSWAP_REQ_SLOTS + 3];
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

/* the peer with the most free lent RAM; @rests: skipped one with room in backoff */
static bool mover_choose(struct mover_thread *w, u64 owner, struct nswap_target *to,
			 bool *rests)
{
	const struct nswap_target_rule rule = {
		.owner = owner, .linked = w->to.l ? w->to.id : 0,
		.rest = w->m->rest, .hand_on = w->hand_on,
	};

	return nswap_target_choose(w->m->node, &rule, to, rests);
}

static void set_bv(struct bio_vec *bv, void *buf, unsigned int len)
{
	bvec_set_page(bv, virt_to_page(buf), len, offset_in_page(buf));
}

/* header, node, names and, if @pages is set, the pages; returns entries of @bv */
static unsigned int mover_build(struct mover_thread *w, struct nswap_move_link *ml,
				u8 type, u32 nr, bool pages)
{
	u32 each = sizeof(w->page[0]) + (pages ? PAGE_SIZE : 0), i;

	nswap_wire_init(&ml->hdr, type, nr, sizeof(w->who) + nr * each);
	set_bv(&w->bv[0], &ml->hdr, sizeof(ml->hdr));
	set_bv(&w->bv[1], &w->who, sizeof(w->who));
	set_bv(&w->bv[2], w->page, nr * sizeof(w->page[0]));
	for (i = 0; pages && i < nr; i++)
		bvec_set_page(&w->bv[3 + i], w->entry[i]->page, PAGE_SIZE, 0);
	return 3 + (pages ? nr : 0);
}

static void name_pages(struct mover_thread *w, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		w->page[i] = (struct nswap_wire_page){
			.slot = cpu_to_le64(w->entry[i]->slot),
			.instance = cpu_to_le32(w->entry[i]->instance),
			.gen = cpu_to_le32(w->entry[i]->gen),
		};
}

/* send the pages to another node and wait; false if no answer came */
static bool mover_bring(struct mover_thread *w, const struct nswap_target *to,
			u8 type, u64 owner, u64 epoch, u32 nr)
{
	unsigned int n;

	if (nswap_move_link_open(&w->to, to->id, &to->addr))
		return false;
	if (w->to.epoch != to->epoch) {
		nswap_move_link_close(&w->to);
		return false;
	}
	w->who.id = cpu_to_le64(owner);
	w->who.epoch = cpu_to_le64(epoch);
	name_pages(w, nr);
	n = mover_build(w, &w->to, type, nr, true);
	return !nswap_move_link_ask(&w->to, w->bv, n, type == NSWAP_MOVE ?
				    NSWAP_MOVE_ACK : NSWAP_RETURN_ACK,
				    w->result);
}

/* move the batch to a peer; returns the pages that the peer has now */
static unsigned long mover_move(struct mover_thread *w, const struct nswap_target *to,
				u64 owner, u64 epoch, u32 nr)
{
	unsigned long there = 0;
	u32 i;

	if (!mover_bring(w, to, NSWAP_MOVE, owner, epoch, nr))
		goto rest;
	for (i = 0; i < nr; i++)
		if (le32_to_cpu(w->result[i].status) == NSWAP_ST_OK)
			there |= BIT(i);
	nswap_target_took(w->m->node, to, le64_to_cpu(w->to.hdr.free),
			  hweight_long(there));
	if (there) {
		WRITE_ONCE(w->m->took, jiffies);
		return there;
	}
rest:
	WRITE_ONCE(w->m->rest[to->index], jiffies + REST);
	return 0;
}

/* connect to the owner for MOVED; on failure it is in backoff */
static bool reach_owner(struct mover_thread *w, struct nswap_owner *o)
{
	struct nswap_target owner;

	if (w->tell.l && w->tell.id == o->id)
		return true;
	/* if connecting takes long, it delays only this thread: others skip the owner */
	WRITE_ONCE(o->rest, jiffies + REST);
	if (!nswap_target_owner(w->m->node, o->id, &owner) ||
	    nswap_move_link_open(&w->tell, owner.id, &owner.addr))
		return false;
	WRITE_ONCE(o->rest, jiffies);
	return true;
}

/* send MOVED to the owner; returns the pages that may be dropped here */
static unsigned long mover_tell(struct mover_thread *w, const struct nswap_target *to,
				u64 epoch, unsigned long there)
{
	unsigned long drop = 0;
	unsigned int i, n = 0;
	u32 nr = hweight_long(there);

	if (w->tell.epoch != epoch) {
		/* an older or newer epoch of the owner: reconnect */
		nswap_move_link_close(&w->tell);
		return 0;
	}
	w->who.id = cpu_to_le64(to->id);
	w->who.epoch = cpu_to_le64(to->epoch);
	for_each_set_bit(i, &there, NSWAP_REQ_SLOTS)
		w->page[n++] = w->page[i];
	n = mover_build(w, &w->tell, NSWAP_MOVED, nr, false);
	if (nswap_move_link_ask(&w->tell, w->bv, n, NSWAP_MOVED_ACK,
				w->result)) {
		nswap_inject_met(NSWAP_MET_CUT, nr);
		return 0;
	}
	n = 0;
	for_each_set_bit(i, &there, NSWAP_REQ_SLOTS)
		if (le32_to_cpu(w->result[n++].status) == NSWAP_ST_OK)
			drop |= BIT(i);
	return drop;
}

/* drop or keep each page of the batch; returns how many were dropped */
static u32 mover_finish(struct mover_thread *w, struct nswap_owner *o, u32 attempt,
			u32 nr, unsigned long drop, enum nswap_moved_how otherwise)
{
	struct nswap_cache *c = w->m->node->cache;
	u32 i, gone = 0;

	for (i = 0; i < nr; i++)
		gone += nswap_held_moved(c, o, w->entry[i], attempt,
					 drop & BIT(i) ? NSWAP_GONE : otherwise);
	if (w->hand_on)
		nswap_stat_add(w->m->node, pages_rebalanced, gone);
	nswap_stat_add(w->m->node, moves_failed, nr - hweight_long(drop));
	return gone;
}

static u32 next_attempt(struct nswap_mover *m)
{
	u32 n = atomic_inc_return(&m->attempt);

	return n ?: atomic_inc_return(&m->attempt);
}

static bool bring_back(struct mover_thread *w, struct nswap_owner *o, u64 epoch,
		       u32 nr)
{
	struct nswap_target to;

	if (!nswap_target_owner(w->m->node, o->id, &to))
		return false;
	/* if connecting takes long, it delays only this thread: others skip the owner */
	if (!w->to.l || w->to.id != o->id)
		WRITE_ONCE(o->rest, jiffies + REST);
	/* the epoch that the pages belong to, whatever was announced since */
	to.epoch = epoch;
	return mover_bring(w, &to, NSWAP_RETURN, o->id, epoch, nr);
}

/* pages that are obsolete, or on the owner's flash or home; notes a missing home */
static unsigned long mover_pages_returned(struct mover_thread *w, struct nswap_owner *o,
					  u32 nr)
{
	unsigned long drop = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 status = le32_to_cpu(w->result[i].status);

		if (status == NSWAP_ST_OK)
			drop |= BIT(i);
		if (status != NSWAP_ST_NO_HOME)
			continue;
		WRITE_ONCE(o->homeless_until, jiffies + HOMELESS);
		WRITE_ONCE(o->homeless, w->entry[i]->instance);
	}
	return drop;
}

/* no other peer has room for an owner's pages: return one batch to it */
static u32 return_batch(struct mover_thread *w, struct nswap_owner *o, u32 room)
{
	u32 not_of = nswap_owner_homeless(o) ? READ_ONCE(o->homeless) : 0;
	enum nswap_moved_how otherwise = NSWAP_KEPT;
	u32 gone, nr, attempt = next_attempt(w->m);
	struct nswap_node *node = w->m->node;
	unsigned long drop = 0;
	u64 epoch;

	nr = nswap_held_pick(o, attempt, room, not_of, true, w->entry, &epoch);
	if (!nr) {
		WRITE_ONCE(o->rest, jiffies + LOOK_EVERY);
		return 0;
	}
	if (bring_back(w, o, epoch, nr)) {
		drop = mover_pages_returned(w, o, nr);
		otherwise = NSWAP_REFUSED;
	}
	WRITE_ONCE(o->rest, drop ? jiffies : jiffies + REST);
	gone = mover_finish(w, o, attempt, nr, drop, otherwise);
	nswap_stat_add(node, pages_sent_home, gone);
	trace_nswap_return(node->number, o->id, nr, gone);
	return gone;
}

/*
 * No peer takes pages of this owner now. A peer in backoff may take some soon, and
 * home is the last resort: return pages only when none has taken a page for HOME_AFTER.
 */
static u32 mover_no_target(struct mover_thread *w, struct nswap_owner *o, u32 room,
			   bool rests)
{
	unsigned long took = READ_ONCE(w->m->took);

	if (!w->hand_on &&
	    !(rests && time_before(jiffies, took + HOME_AFTER)))
		return return_batch(w, o, room);
	WRITE_ONCE(o->rest, jiffies + LOOK_EVERY);
	if (w->hand_on)
		nswap_rebalance_nowhere(w->m->node);
	return 0;
}

/* one batch of one owner; any failure starts a backoff of the owner or the peer */
static u32 move_batch(struct mover_thread *w, struct nswap_owner *o, u32 room)
{
	u32 gone, nr, attempt = next_attempt(w->m);
	struct nswap_node *node = w->m->node;
	unsigned long there, drop = 0;
	struct nswap_target to;
	bool rests;
	u64 epoch;

	if (!mover_choose(w, o->id, &to, &rests))
		return mover_no_target(w, o, room, rests);
	if (!reach_owner(w, o))
		return 0;
	nr = nswap_held_pick(o, attempt, min_t(u64, room, to.free), 0, false,
			     w->entry, &epoch);
	if (!nr) {
		WRITE_ONCE(o->rest, jiffies + LOOK_EVERY);
		return 0;
	}
	there = mover_move(w, &to, o->id, epoch, nr);
	if (there && nswap_inject_early_free()) {
		nr = mover_finish(w, o, attempt, nr, there, NSWAP_KEPT);
		mover_tell(w, &to, epoch, there);
		return nr;
	}
	if (there)
		drop = mover_tell(w, &to, epoch, there);
	if (there && !drop) {
		WRITE_ONCE(o->rest, jiffies + REST);
		WRITE_ONCE(w->m->rest[to.index], jiffies + 4 * REST);
	}
	gone = mover_finish(w, o, attempt, nr, drop, NSWAP_KEPT);
	nswap_stat_add(node, pages_moved_out, gone);
	trace_nswap_move(node->number, o->id, nr, gone);
	return gone;
}

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

/*
 * Several batches of one owner, since connecting to another owner costs more than
 * a batch. False if there is nothing to do now.
 */
static bool mover_work(struct mover_thread *w)
{
	struct nswap_mover *m = w->m;
	struct nswap_cache *c = m->node->cache;
	struct nswap_owner *o = nswap_owner_turn(c);
	u32 n, room, gone = 1;
	bool any = false;

	if (!o)
		return false;
	for (n = 0; n < TURN && gone && !READ_ONCE(m->stop); n++) {
		room = take_room(w);
		if (!room)
			break;
		any = true;
		w->used = jiffies;
		gone = move_batch(w, o, room);
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
						 LOOK_EVERY);
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
	m->took = jiffies - HOME_AFTER;
	node->mover = m;
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

/**
 * nswap_mover_stop() - end the threads of a mover
 * @node: node, with or without a mover
 *
 * A thread that kthread_stop() has told to stop spins instead of sleeping in a
 * socket, so @stop is set first and kthread_stop() waits until links are closed.
 *
 * Context: process, sleeps until batches under way have ended.
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
	if (node->mover)
		wake_up_all(&node->mover->wait);
}
