// SPDX-License-Identifier: GPL-2.0
/*
 * Moves out: pages at home go to peers that have RAM to spare, while their
 * owner swaps.
 *
 *   HOME(g) -> MOVING(no peer, g+1) -> read from home -> STORE g+1 at a peer
 *   acknowledged: MOVING(no peer, g+1) -> REMOTE(peer, g+1)
 *   no room, refused, unanswered, session broken, home failed:
 *                 MOVING(no peer, g+1) -> HOME(g+1)
 *   the slot changed meanwhile: it stays as it is, the new copy is obsolete
 *
 * Invariants:
 *  - Home holds the page, and page-ins read it there, until the new place is
 *    recorded; from then on the data at the slot's place at home is obsolete.
 *  - Home has no generations, so the slot takes the new one when the move begins:
 *    a page-out meanwhile gets a newer one, and no two attempts share a generation.
 *    A copy with a generation that was given up is an orphan like any other.
 *  - Nothing waits for a move: a page-out, a free or a page-in can change or read
 *    the slot's word at once, and the move notices the change. Only on a protected
 *    device page-outs of the batch's slots wait for it: home's copies of the pages
 *    stay valid (home_copy.h), so a page with one place at peers has two until it
 *    gets its second one there, or its cell.
 *  - Page-outs have priority: nothing moves while one waits, and a peer is chosen
 *    only if it has more room than they need. So have page-ins: only one batch of a
 *    device is under way, followed by a pause at least as long as the batch took.
 *  - Pages and messages are allocated with the device. The work sleeps for home and
 *    for peers, which have store_timeout_ms, on a system work queue.
 *  - Pages that were paged in since they came home are moved first: every other
 *    round through the device takes only those.
 *  - While page-outs leave peers for another tier (lean.c), nothing goes to peers.
 *  - What a user has placed at home (bring.c) stays there until its slot is written again,
 *    or the user or the prefetcher brings it elsewhere. If nothing else is there, the work
 *    rests, and asks peers for no room.
 *  - While the prefetcher moves pages from home or there, it decides which and when, and
 *    this work does nothing. A batch is moved under @batch and no other lock; nothing that
 *    page-outs need is taken under it.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "client/follow.h"
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "move_batch.h"
#include "peers/place.h"
#include "prefetcher.h"
#include "promote.h"

#define ACTIVE		(2 * HZ)	/* since the last page-out or page-in */
#define LOOK_AT		262144u	/* slots, in one search */
#define BREATHE		16384u	/* slots between two cond_resched() */
#define REST_MAX_US	1000000u
#define NONE_LEFT	(5 * HZ)	/* two rounds found no page that may move */

/**
 * struct nswap_promote - moves out of one device; only the work uses @cursor, @any and
 *	@in_vain
 * @dev: device
 * @work: moves batches while there is something to do
 * @stop: the work is to end
 * @cursor: slot where the search continues
 * @any: this round takes any page; else only those that were paged in
 * @in_vain: slots looked at since one was found
 * @rest_until: jiffies, before which no search begins
 * @batch: protects @mo
 * @mo: the batch
 * @asked: jiffies when the prefetcher last wanted to move pages
 */
struct nswap_promote {
	struct nswap_device *dev;
	struct work_struct work;
	bool stop;
	u64 cursor;
	bool any;
	u64 in_vain;
	unsigned long rest_until;
	struct mutex batch;
	struct nswap_move_batch mo;
	unsigned long asked;
};

static bool promote_wanted(struct nswap_promote *ho)
{
	struct nswap_device *dev = ho->dev;

	return !READ_ONCE(ho->stop) && nswap_knob(dev->node, home_out_mib_s) &&
	       !nswap_prefetcher_of_disk(dev) && !READ_ONCE(dev->leaning.now) &&
	       nswap_slot_count(dev, NSWAP_SLOT_HOME) > 0 &&
	       !time_before(jiffies, READ_ONCE(ho->rest_until)) &&
	       time_before(jiffies, READ_ONCE(dev->used) + ACTIVE);
}

static bool page_outs_wait(struct nswap_promote *ho)
{
	return nswap_client_waits(ho->dev->node->client);
}

static bool may_go(struct nswap_promote *ho, u64 slot)
{
	struct nswap_slot s = nswap_slot_look(ho->dev, slot);

	return s.state == NSWAP_SLOT_HOME && (ho->any || s.referenced) &&
	       !nswap_page_placed(ho->dev, slot);
}

/* advance the cursor to a slot that may move; false if none within LOOK_AT */
static bool promote_search(struct nswap_promote *ho)
{
	const struct nswap_slot_map *map = &ho->dev->map;
	u64 most = min_t(u64, LOOK_AT, 2 * nswap_slot_map_in_use(map));
	unsigned int n;

	for (n = 0; n < most; n++, ho->cursor = nswap_slot_map_next(map, ho->cursor + 1)) {
		if (ho->cursor >= map->nr) {
			ho->cursor = nswap_slot_map_turn(map, 0);
			ho->any = !ho->any;
		}
		if (may_go(ho, ho->cursor)) {
			ho->in_vain = 0;
			return true;
		}
		if (!(n % BREATHE))
			cond_resched();
	}
	ho->in_vain += n;
	if (ho->in_vain >= 2 * nswap_slot_map_in_use(map)) {
		ho->in_vain = 0;
		WRITE_ONCE(ho->rest_until, jiffies + NONE_LEFT);
	}
	return false;
}

/* number of adjacent slots from the cursor on that may move */
static unsigned int promote_run(struct nswap_promote *ho)
{
	u64 slot = ho->cursor;
	unsigned int n = 0;

	while (n < NSWAP_REQ_SLOTS && slot + n < ho->dev->map.nr &&
	       may_go(ho, slot + n))
		n++;
	return n;
}

/* HOME(g) -> MOVING(no peer, g+1) */
static bool promote_slot_begun(struct nswap_slot *s)
{
	if (s->state != NSWAP_SLOT_HOME)
		return false;
	s->state = NSWAP_SLOT_MOVING;
	s->gen = nswap_gen_next(s->gen);
	return true;
}

/* @keep: home's copies are to stay valid */
static void promote_begin(struct nswap_promote *ho, u64 first,
			  unsigned long slots, bool keep)
{
	struct nswap_io *io = &ho->mo.b.io;
	struct nswap_slot was;
	unsigned int i;

	nswap_batch_at(&ho->mo.b, first);
	ho->mo.moved = 0;
	for_each_set_bit(i, &slots, NSWAP_REQ_SLOTS) {
		if (keep && !nswap_home_copy_begin(ho->dev, io->slot[i]))
			continue;
		if (!nswap_slot_update(ho->dev, io->slot[i], &was,
				       promote_slot_begun)) {
			if (keep)
				nswap_follow_end(ho->dev, io->slot[i], 0,
						 false);
			continue;
		}
		io->gen[i] = cpu_to_le32(nswap_gen_next(was.gen));
		io->todo |= BIT(i);
	}
}

/*
 * One read, including slots in between. Returns the slots that home failed to read;
 * their page-ins will report it.
 */
static unsigned long promote_read(struct nswap_promote *ho)
{
	unsigned long todo = ho->mo.b.io.todo;

	return todo & nswap_batch_home(&ho->mo.b, GENMASK(__fls(todo), __ffs(todo)),
				       false);
}

/* what has moved is at home as well; page-outs may claim the slots of the batch */
static void promote_keep(struct nswap_promote *ho, unsigned long begun)
{
	struct nswap_io *io = &ho->mo.b.io;
	unsigned int i;

	for_each_set_bit(i, &begun, NSWAP_REQ_SLOTS)
		nswap_follow_end(ho->dev, io->slot[i],
				 le32_to_cpu(io->gen[i]),
				 ho->mo.moved & BIT(i));
	if (begun)
		nswap_client_kick(ho->dev->node);
}

/**
 * nswap_promote_move() - move those of these slots that are at home
 * @dev: device with a home
 * @first: a slot
 * @slots: bitmap of slots from it on
 * @tag: see nswap_page_tag()
 *
 * Context: process, sleeps for home and for peers, which have store_timeout_ms.
 * Return: those now at peers.
 */
unsigned long nswap_promote_move(struct nswap_device *dev, u64 first,
				 unsigned long slots, u8 tag)
{
	struct nswap_promote *ho = dev->promote;
	struct nswap_io *io = &ho->mo.b.io;
	bool keep = READ_ONCE(ho->dev->protect) != NSWAP_PROTECT_NONE;
	unsigned long moved, unread, begun;

	mutex_lock(&ho->batch);
	ho->mo.tag = tag;
	promote_begin(ho, first, slots, keep);
	begun = io->todo;
	if (begun) {
		unread = promote_read(ho);
		io->todo &= ~unread;
		nswap_move_batch_store(&ho->mo);
		io->todo |= unread;
		nswap_move_batch_stay(&ho->mo);
	}
	moved = ho->mo.moved;
	if (keep)
		promote_keep(ho, begun);
	mutex_unlock(&ho->batch);
	return moved;
}

static bool may_begin(struct nswap_promote *ho)
{
	return !page_outs_wait(ho) &&
	       nswap_place_spare(ho->dev->node, NSWAP_REQ_SLOTS);
}

/* false: nothing to do, or nothing can be done now */
static bool promote_batch(struct nswap_promote *ho, unsigned long *moved)
{
	unsigned int nr;
	u64 first;

	*moved = 0;
	if (!may_begin(ho) || !promote_search(ho))
		return false;
	first = ho->cursor;
	nr = promote_run(ho);
	ho->cursor += nr;
	if (nr)
		*moved = nswap_promote_move(ho->dev, first, GENMASK(nr - 1, 0), 0);
	return !nr || *moved;
}

/*
 * Work at most half of the time: pause for as long as took what @began, and spend at
 * least @least_us per batch; process, sleeps for a second at most.
 */
void nswap_promote_pause(ktime_t began, u64 least_us)
{
	u64 took = ktime_us_delta(ktime_get(), began);
	u64 us = least_us > 2 * took ? least_us - took : took;

	us = clamp_t(u64, us, 1, REST_MAX_US);
	usleep_range(us, us + us / 8);
}

/* the least time for a batch under home_out_mib_s */
static u64 least_us(struct nswap_promote *ho, unsigned long moved)
{
	u32 limit = nswap_knob(ho->dev->node, home_out_mib_s);

	return hweight_long(moved) * 3906ul / max(limit, 1u);
}

static void promote_work(struct work_struct *work)
{
	struct nswap_promote *ho = container_of(work, struct nswap_promote,
						work);
	ktime_t began = ktime_get();
	unsigned long moved;

	while (promote_wanted(ho) && promote_batch(ho, &moved)) {
		nswap_promote_pause(began, least_us(ho, moved));
		began = ktime_get();
	}
}

/* NULL without memory */
struct nswap_promote *nswap_promote_make(struct nswap_device *dev)
{
	struct nswap_promote *ho = kzalloc(sizeof(*ho), GFP_KERNEL);

	if (!ho)
		return NULL;
	ho->dev = dev;
	ho->cursor = 1;
	ho->asked = jiffies - ACTIVE;
	ho->rest_until = jiffies;
	mutex_init(&ho->batch);
	INIT_WORK(&ho->work, promote_work);
	ho->mo.state = NSWAP_SLOT_MOVING;
	ho->mo.spare = true;
	if (!nswap_batch_init(&ho->mo.b, dev, NSWAP_REQ_SLOTS)) {
		kfree(ho);
		return NULL;
	}
	return ho;
}

/*
 * End the moves out of a device; @dev: device that no tick finds any more, without
 * requests and prefetcher, perhaps without a home; process, sleeps until the batch
 * under way is over, which is store_timeout_ms for a peer that does not answer, or a
 * few times that if its message was sent in part.
 */
void nswap_promote_end(struct nswap_device *dev)
{
	struct nswap_promote *ho = dev->promote;

	if (!ho)
		return;
	WRITE_ONCE(ho->stop, true);
	cancel_work_sync(&ho->work);
	nswap_batch_exit(&ho->mo.b);
	kfree(ho);
	dev->promote = NULL;
}

/*
 * Tick: start the work if there is something to move. @dev: device, with or without a
 * home. Context: any, inside rcu_read_lock(), which keeps the device; does not sleep.
 * Returns true if grants are wanted.
 */
bool nswap_promote_kick(struct nswap_device *dev)
{
	struct nswap_promote *ho = dev->promote;

	if (!ho)
		return false;
	if (promote_wanted(ho)) {
		queue_work(system_dfl_wq, &ho->work);
		return true;
	}
	return time_before(jiffies, READ_ONCE(ho->asked) + ACTIVE);
}

/*
 * For the prefetcher: may pages move out now? Also asks for grants for the next ACTIVE
 * jiffies; process, does not sleep.
 */
bool nswap_promote_ready(struct nswap_device *dev)
{
	WRITE_ONCE(dev->promote->asked, jiffies);
	return may_begin(dev->promote);
}

/*
 * For the prefetcher: move chosen pages to peers, then pause for as long as it took;
 * process, sleeps for home and for peers, which have store_timeout_ms.
 */
unsigned int nswap_promote_bring(struct nswap_device *dev, u64 first,
				 unsigned long slots, u8 tag)
{
	ktime_t began = ktime_get();
	unsigned long moved;

	moved = nswap_promote_move(dev, first, slots, tag);
	nswap_promote_pause(began, 0);
	return hweight_long(moved);
}
