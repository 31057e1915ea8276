// SPDX-License-Identifier: GPL-2.0
/*
 * Moves out: pages at home go to peers that have RAM to spare, while their
 * owner swaps.
 *
 *   HOME(g) -> MOVING(nobody, g+1) -> read from home -> STORE g+1 at a peer
 *   acknowledged: MOVING(nobody, g+1) -> REMOTE(peer, g+1)
 *   no room, refused, unanswered, session broken, home failed:
 *                 MOVING(nobody, g+1) -> HOME(g+1)
 *   the slot changed meanwhile: it stays as it is, the new copy is obsolete
 *
 * Invariants:
 *  - Home holds the page, and page-ins read it there, until the new place is
 *    recorded; from then on what is at the slot's place at home counts no more.
 *  - Home knows no generations, so the slot takes the new one when the move
 *    begins: a page-out meanwhile gets one that is newer still, and no attempt
 *    has the generation of another. A copy of a generation that was given up is
 *    an orphan like any other.
 *  - Nobody waits for a move: a page-out, a free and a page-in find a word they
 *    can change or read at once, and the move finds out.
 *  - Page-outs come first: nothing moves while one waits, and a peer is chosen
 *    only if it has more than they need. Page-ins come first: one batch of a
 *    device is under way, and it rests for as long as a batch took.
 *  - Pages and messages are made with the device. The work sleeps for home and
 *    for peers, who have store_timeout_ms, on a queue of the system's.
 *  - Pages that were paged in since they went home go first: every other round
 *    through the device takes only those.
 *  - The prefetcher says which pages go, and when, while it brings pages from
 *    disk: then this work rests. Who moves a batch holds @batch, and no other
 *    lock; nothing that page-outs need is under it.
 *  - A page is tagged before its new place is recorded, with 0 unless the
 *    prefetcher chose it, and loses the tag when its slot is written again, or
 *    its move finds that it was. Tags are for counting only: they belong to the
 *    slot, and whoever moves it writes its tag, WRITING or not.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "client.h"
#include "device.h"
#include "home_out.h"
#include "move_out.h"
#include "node.h"
#include "place.h"
#include "prefetcher.h"

#define ACTIVE		(2 * HZ)	/* since the last page-out or page-in */
#define LOOK_AT		262144u	/* slots, in one search */
#define BREATHE		16384u	/* slots, then others may run */
#define REST_MAX_US	1000000u

/**
 * struct nswap_home_out - moves out of one device; @cursor and @any are the
 *	work's own
 * @dev: device
 * @work: a batch, and another, while there is something to do
 * @stop: end soon
 * @cursor: slot where the search goes on
 * @any: this round takes any page; else only those that were paged in
 * @batch: protects @mo
 * @mo: the batch
 * @asked: jiffies when the prefetcher wanted to bring pages last
 * @tags: a side table of the device, one byte a slot: 0, or by whose word its
 *	page was brought
 * @hits: reads of the pages of each tag since they were taken last
 */
struct nswap_home_out {
	struct nswap_device *dev;
	struct work_struct work;
	bool stop;
	u64 cursor;
	bool any;
	struct mutex batch;
	struct nswap_move_out mo;
	unsigned long asked;
	struct nswap_side_table *tags;
	atomic_t hits[NSWAP_PREFETCH_ARMS];
};

static bool wanted(struct nswap_home_out *ho)
{
	struct nswap_device *dev = ho->dev;

	return !READ_ONCE(ho->stop) && nswap_knob(dev->node, home_out_mib_s) &&
	       !nswap_prefetcher_from_disk(dev->node) &&
	       atomic64_read(&dev->count[NSWAP_SLOT_HOME]) > 0 &&
	       time_before(jiffies, READ_ONCE(dev->used) + ACTIVE);
}

static bool page_outs_wait(struct nswap_home_out *ho)
{
	return !list_empty_careful(&ho->dev->node->client->waiting);
}

static bool may_go(struct nswap_home_out *ho, u64 slot)
{
	u64 word = nswap_slot_read(&ho->dev->map, slot);
	struct nswap_slot s = nswap_slot_unpack(word);

	return s.state == NSWAP_SLOT_HOME && (ho->any || s.referenced);
}

/* the next slot that may go; false if there is none nearby */
static bool search(struct nswap_home_out *ho)
{
	u64 nr = ho->dev->map.nr;
	unsigned int n;

	for (n = 0; n < min_t(u64, LOOK_AT, 2 * nr); n++, ho->cursor++) {
		if (ho->cursor >= nr) {
			ho->cursor = 1;
			ho->any = !ho->any;
		}
		if (may_go(ho, ho->cursor))
			return true;
		if (!(n % BREATHE))
			cond_resched();
	}
	return false;
}

/* adjacent slots from the cursor on; how many */
static unsigned int run(struct nswap_home_out *ho)
{
	u64 slot = ho->cursor;
	unsigned int n = 0;

	while (n < NSWAP_REQ_SLOTS && slot + n < ho->dev->map.nr &&
	       may_go(ho, slot + n))
		n++;
	return n;
}

static void begin(struct nswap_home_out *ho, u64 first, unsigned long slots)
{
	struct nswap_io *io = &ho->mo.io;
	unsigned int i;

	io->slot = first;
	io->todo = 0;
	ho->mo.moved = 0;
	for_each_set_bit(i, &slots, NSWAP_REQ_SLOTS) {
		u64 old = nswap_slot_read(&ho->dev->map, io->slot + i);
		struct nswap_slot s = nswap_slot_unpack(old);

		if (s.state != NSWAP_SLOT_HOME)
			continue;
		s.state = NSWAP_SLOT_MOVING;
		s.gen = nswap_gen_next(s.gen);
		if (!nswap_device_slot_move(ho->dev, io->slot + i, old, &s))
			continue;
		io->gen[i] = cpu_to_le32(s.gen);
		io->todo |= BIT(i);
	}
}

/* false if home failed: the page-ins that need it will say so */
static bool read_home(struct nswap_home_out *ho)
{
	struct nswap_io *io = &ho->mo.io;
	unsigned int first = __ffs(io->todo);
	struct nswap_op *op;

	nswap_move_out_begin(&ho->mo);
	op = nswap_move_out_op(&ho->mo, first, __fls(io->todo) - first + 1);
	op->h.slot = io->slot + first;
	nswap_home_submit(ho->dev->home, &op->h);
	nswap_move_out_wait(&ho->mo);
	return !op->h.failed;
}

/* move what of these slots is at home; which of them now are at peers */
static unsigned long move(struct nswap_home_out *ho, u64 first,
			  unsigned long slots, u8 tag)
{
	unsigned long moved;

	mutex_lock(&ho->batch);
	ho->mo.tag = tag;
	begin(ho, first, slots);
	if (ho->mo.io.todo) {
		if (read_home(ho))
			nswap_move_out_store(&ho->mo);
		nswap_move_out_stay(&ho->mo);
	}
	moved = ho->mo.moved;
	mutex_unlock(&ho->batch);
	return moved;
}

static bool may_begin(struct nswap_home_out *ho)
{
	return !page_outs_wait(ho) &&
	       nswap_place_spare(ho->dev->node, NSWAP_REQ_SLOTS);
}

/* false: there is nothing to do, or nothing could be done, just now */
static bool batch(struct nswap_home_out *ho, unsigned long *moved)
{
	unsigned int nr;
	u64 first;

	*moved = 0;
	if (!may_begin(ho) || !search(ho))
		return false;
	first = ho->cursor;
	nr = run(ho);
	ho->cursor += nr;
	if (nr)
		*moved = move(ho, first, GENMASK(nr - 1, 0), 0);
	return !nr || *moved;
}

/* no more than half of the time, and all in all at least @least_us a batch */
static void rest(ktime_t began, u64 least_us)
{
	u64 took = ktime_us_delta(ktime_get(), began);
	u64 us = least_us > 2 * took ? least_us - took : took;

	us = clamp_t(u64, us, 1, REST_MAX_US);
	usleep_range(us, us + us / 8);
}

/* no faster than the knob says */
static u64 least_us(struct nswap_home_out *ho, unsigned long moved)
{
	u32 limit = nswap_knob(ho->dev->node, home_out_mib_s);

	return hweight_long(moved) * 3906ul / max(limit, 1u);
}

static void work(struct work_struct *work)
{
	struct nswap_home_out *ho = container_of(work, struct nswap_home_out,
						 work);
	ktime_t began = ktime_get();
	unsigned long moved;

	while (wanted(ho) && batch(ho, &moved)) {
		rest(began, least_us(ho, moved));
		began = ktime_get();
	}
}

/**
 * nswap_home_out_make() - what moves out need
 * @dev: a new device, its map is there; it gets a side table
 *
 * Context: process, sleeps.
 * Return: it, or NULL without memory.
 */
struct nswap_home_out *nswap_home_out_make(struct nswap_device *dev)
{
	struct nswap_home_out *ho = kzalloc(sizeof(*ho), GFP_KERNEL);

	if (!ho)
		return NULL;
	ho->dev = dev;
	ho->cursor = 1;
	ho->asked = jiffies - ACTIVE;
	mutex_init(&ho->batch);
	INIT_WORK(&ho->work, work);
	ho->tags = nswap_side_add(&dev->side, "prefetched", BITS_PER_BYTE);
	if (!ho->tags || !nswap_move_out_init(&ho->mo, dev, NSWAP_SLOT_MOVING)) {
		kfree(ho);
		return NULL;
	}
	return ho;
}

/**
 * nswap_home_out_end() - end the moves out of a device
 * @dev: device that no tick finds any more, without requests and prefetcher;
 *	one without home is fine
 *
 * Context: process, sleeps until the batch under way is over: a peer that does
 * not answer has store_timeout_ms, and a few of them with half of it sent.
 */
void nswap_home_out_end(struct nswap_device *dev)
{
	struct nswap_home_out *ho = dev->home_out;

	if (!ho)
		return;
	WRITE_ONCE(ho->stop, true);
	cancel_work_sync(&ho->work);
	nswap_move_out_exit(&ho->mo);
	kfree(ho);
	dev->home_out = NULL;
}

/**
 * nswap_home_out_kick() - time has passed: is there something to move?
 * @dev: device, with or without a home
 *
 * Context: any, inside rcu_read_lock(), which keeps the device; does not sleep.
 * Return: true if grants are of use now.
 */
bool nswap_home_out_kick(struct nswap_device *dev)
{
	struct nswap_home_out *ho = dev->home_out;

	if (!ho)
		return false;
	if (wanted(ho)) {
		queue_work(system_dfl_wq, &ho->work);
		return true;
	}
	return time_before(jiffies, READ_ONCE(ho->asked) + ACTIVE);
}

/**
 * nswap_home_out_ready() - pages are wanted out: can some go now?
 * @dev: device with a home
 *
 * Grants are asked for from now on, for a while.
 *
 * Context: process, does not sleep; the prefetcher.
 * Return: true if no page-out waits and a peer has more than they need.
 */
bool nswap_home_out_ready(struct nswap_device *dev)
{
	WRITE_ONCE(dev->home_out->asked, jiffies);
	return may_begin(dev->home_out);
}

/**
 * nswap_home_out_bring() - bring chosen pages to peers, then rest for as long as
 *	it took
 * @dev: device with a home
 * @first: a slot
 * @slots: bits of slots from it on; those not at home are left alone
 * @tag: by whose word, for nswap_home_out_hits()
 *
 * Context: process, sleeps for home and for peers, who have store_timeout_ms;
 * the prefetcher.
 * Return: how many peers have now.
 */
unsigned int nswap_home_out_bring(struct nswap_device *dev, u64 first,
				  unsigned long slots, u8 tag)
{
	struct nswap_home_out *ho = dev->home_out;
	ktime_t began = ktime_get();
	unsigned long moved;

	moved = move(ho, first, slots, tag);
	rest(began, 0);
	return hweight_long(moved);
}

static u8 *tag_of(struct nswap_device *dev, u64 slot)
{
	struct nswap_home_out *ho = dev->home_out;

	return ho ? nswap_side_entry(ho->tags, slot) : NULL;
}

/**
 * nswap_home_out_tag() - note by whose word a slot's page is at its peer
 * @dev: device, with or without a home
 * @slot: slot that is about to get a new place, or has become WRITING
 * @tag: below NSWAP_PREFETCH_ARMS; 0 for nobody's
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_home_out_tag(struct nswap_device *dev, u64 slot, u8 tag)
{
	u8 *at = tag_of(dev, slot);

	if (at && READ_ONCE(*at) != tag)
		WRITE_ONCE(*at, tag);
}

/**
 * nswap_home_out_hit() - a page was read from a peer: count it for its tag
 * @dev: device, with or without a home
 * @slot: slot
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_home_out_hit(struct nswap_device *dev, u64 slot)
{
	u8 *at = tag_of(dev, slot);
	u8 tag = at ? READ_ONCE(*at) : 0;

	if (!tag)
		return;
	atomic_inc(&dev->home_out->hits[tag]);
	nswap_stat_inc(dev->node, prefetch_ram_hits);
}

/**
 * nswap_home_out_hits() - take the counts of hits
 * @dev: device with a home
 * @hits: result, by tag, since they were taken last
 *
 * Context: any.
 */
void nswap_home_out_hits(struct nswap_device *dev,
			 u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		hits[i] = atomic_xchg(&dev->home_out->hits[i], 0);
}
