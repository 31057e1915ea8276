// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher: one work for each device with flash or a home.
 *
 *   wake up -> when? count? -> batch: which? -> ram to flash: read -> write to
 *                                ^              flash -> link ----------+
 *                                |              disk to ram: move out --+
 *                                +--------------------------------------+
 *
 * Pages are read through the device itself, so a peer that is silent, a page
 * that has moved and a message that was lost need no second implementation. Nor
 * do moves out from home: home_out.c makes them, this file says of which pages.
 *
 * Invariants:
 *  - Never on the path of a page-out: a work of a queue without a rescuer, which
 *    holds no lock while it waits but the one of moves out from its device's
 *    home. Its memory comes with the device.
 *  - A copy is linked only if the slot's word is still what it was before the
 *    page was read, but for the reference bit: a rewrite, a free or a move in
 *    between calls it off. Until then the flash slot is this work's own.
 *  - A wake-up looks at LOOK slots and takes MOST pages at most. It ends when
 *    memory is short, flash is busy, fails or fills up, page-outs wait, peers have
 *    no more room than those need, or somebody turned it off.
 *  - An eighth of flash is left for page-outs that no peer has room for; where
 *    they need more, copies give way (evict.c): the tick starts the work for that
 *    as well, whether the prefetcher is on or not, and it comes back to its next
 *    wake-up afterwards. Copies also give way to others, but not to more than
 *    pages went out: what rests stays as it is.
 *  - A batch for flash is small: programs that page in wait behind it on the way
 *    from the peer and at flash.
 *  - Only this work touches @hand, @evict_hand, @learned and the batch.
 *  - Where pages come from is read once a wake-up; where to follows from that.
 *  - Stopped before the disk goes, when the node's control lock has been held to
 *    take the device out of the node: whoever turns it on holds that too, and
 *    does not find it. A tick may start the work once more after that: for a
 *    device that is dying it does nothing, and it is waited for when no tick
 *    finds the device.
 */
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "device.h"
#include "evict.h"
#include "flash.h"
#include "home_out.h"
#include "memview.h"
#include "node.h"
#include "prefetcher.h"

#define BATCH	2		/* read at once: page-ins wait behind them */
#define MOST	2048		/* pages in one wake-up */
#define LOOK	65536		/* slots looked at in one */
#define BUSY	16		/* reads and writes of flash under way */
#define SPARED	8		/* part of flash left for page-outs */
#define REST	HZ		/* when two rounds have found no copy to evict */

static_assert(NSWAP_PREFETCH_ARMS == NSWAP_FLASH_TAGS);

/**
 * struct slot_copy - one page of a batch
 * @slot: where it belongs
 * @word: the slot's word before it was read
 * @unread: it could not be read
 */
struct slot_copy {
	u64 slot;
	u64 word;
	bool unread;
};

/* adjacent slots that are read together */
struct read_run {
	struct nswap_prefetcher *p;
	unsigned int first;
	struct bio bio;
};

/* pages that are written together */
struct write_run {
	struct nswap_prefetcher *p;
	struct nswap_home_io h;
	u32 flash;
	unsigned int first;
};

/**
 * struct nswap_prefetcher - the prefetcher of one device
 * @dev: device
 * @work: wakes up every prefetch_period_ms while it is on
 * @wake_at: jiffies of the next time; its starter's, and the work's
 * @hand: slot to go on at
 * @evict_hand: likewise, to take copies off flash
 * @in_vain: slots looked at since one was found that gave way
 * @rest_until: jiffies, no tick starts a search for copies before
 * @looked: slots looked at in this wake-up
 * @written: pages the kernel had written at the last wake-up
 * @read: pages it had read
 * @learned: what prefetching came to: to flash, and from disk
 * @copy: the batch
 * @page: memory of each page of it
 * @nr: pages in it
 * @bvec: their memory for reads
 * @chain: likewise for writes
 * @reads: under way; a struct bio may end in an array
 * @writes: likewise
 * @pending: reads or writes under way, plus one while they are started
 * @ended: none is any more
 */
struct nswap_prefetcher {
	struct nswap_device *dev;
	struct delayed_work work;
	unsigned long wake_at;
	u64 hand;
	u64 evict_hand;
	u64 in_vain;
	unsigned long rest_until;
	u32 looked;
	u64 written;
	u64 read;
	struct nswap_prefetch_learned learned[2];
	struct slot_copy copy[BATCH];
	struct page *page[BATCH];
	unsigned int nr;
	struct bio_vec bvec[BATCH];
	struct page_list chain[BATCH];
	struct read_run *reads[BATCH];
	struct write_run writes[BATCH];
	atomic_t pending;
	struct completion ended;
};

static const struct nswap_prefetch_choice *
chosen(const struct nswap_prefetcher *p, enum nswap_prefetch_kind kind)
{
	return READ_ONCE(p->dev->node->prefetch[kind]);
}

static bool is_on(const struct nswap_prefetcher *p)
{
	return chosen(p, NSWAP_PREFETCH_ENABLE) == &nswap_prefetch_on &&
	       !READ_ONCE(p->dev->dying);
}

/* so much of flash may be used when something is brought there */
static u64 limit(u64 total)
{
	return total - total / SPARED;
}

/* has something more important to do come up? */
static bool must_stop(const struct nswap_prefetcher *p)
{
	struct nswap_flash *flash = p->dev->flash;
	struct nswap_mem_view mem;
	u64 total, used;

	nswap_mem_view(p->dev->node, &mem);
	nswap_flash_usable(flash, &total, &used);
	return !is_on(p) || mem.free < mem.low ||
	       nswap_flash_inflight(flash) >= BUSY ||
	       used >= limit(total);
}

static void begin_wait(struct nswap_prefetcher *p)
{
	atomic_set(&p->pending, 1);
	reinit_completion(&p->ended);
}

static void one_ended(struct nswap_prefetcher *p)
{
	if (atomic_dec_and_test(&p->pending))
		complete(&p->ended);
}

static void end_wait(struct nswap_prefetcher *p)
{
	one_ended(p);
	wait_for_completion(&p->ended);
}

static bool in_batch(const struct nswap_prefetcher *p, u64 slot)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		if (p->copy[i].slot == slot)
			return true;
	return false;
}

/* a page that could be prefetched: shall it be? */
static bool goes(struct nswap_prefetcher *p, const struct nswap_which_ops *which,
		 u64 slot, u64 word)
{
	switch (which->look(nswap_slot_unpack(word).referenced)) {
	case NSWAP_WHICH_CLEAR:
		nswap_slot_unreference(&p->dev->map, slot, word);
		return false;
	case NSWAP_WHICH_TAKE:
		return true;
	default:
		return false;
	}
}

/* slot 0 never leaves this node; false: enough was looked at */
static bool next_slot(struct nswap_prefetcher *p,
		      const struct nswap_which_ops *which, u64 *slot)
{
	u64 slots = p->dev->map.nr;

	if (p->looked >= min_t(u64, slots, LOOK))
		return false;
	*slot = p->hand < slots ? max(p->hand, 1ull) : 1;
	p->hand = which->scattered ? get_random_u64() % slots : *slot + 1;
	if (!(++p->looked % 4096))
		cond_resched();
	return true;
}

/* into the batch, if it could be prefetched and shall be */
static void take(struct nswap_prefetcher *p, const struct nswap_which_ops *which,
		 u64 slot)
{
	u64 word = nswap_slot_read(&p->dev->map, slot);
	struct nswap_slot s = nswap_slot_unpack(word);

	if (s.state != NSWAP_SLOT_REMOTE || s.flash || in_batch(p, slot) ||
	    !goes(p, which, slot, word))
		return;
	p->copy[p->nr].slot = slot;
	p->copy[p->nr].word = word;
	p->copy[p->nr].unread = false;
	p->nr++;
}

static void fill_batch(struct nswap_prefetcher *p,
		       const struct nswap_which_ops *which, u64 want)
{
	u64 slot;

	want = min_t(u64, want, BATCH);
	p->nr = 0;
	while (p->nr < want && next_slot(p, which, &slot))
		take(p, which, slot);
}

static bool goes_out(struct nswap_prefetcher *p,
		     const struct nswap_which_ops *which, u64 slot)
{
	u64 word = nswap_slot_read(&p->dev->map, slot);

	return nswap_slot_unpack(word).state == NSWAP_SLOT_HOME &&
	       goes(p, which, slot, word);
}

/*
 * Pages at home that go out in one batch: bits of slots from @first on, which
 * home reads at once.
 */
static unsigned long pick_out(struct nswap_prefetcher *p,
			      const struct nswap_which_ops *which, u64 want,
			      u64 *first)
{
	unsigned long picked = 0;
	u64 slot;

	want = min_t(u64, want, NSWAP_REQ_SLOTS);
	while (hweight_long(picked) < want && next_slot(p, which, &slot)) {
		if (picked && (slot < *first || slot >= *first + NSWAP_REQ_SLOTS)) {
			p->hand = slot;
			break;
		}
		if (!goes_out(p, which, slot))
			continue;
		if (!picked)
			*first = slot;
		picked |= BIT(slot - *first);
		if (which->scattered)
			break;
	}
	return picked;
}

static void read_ended(struct bio *bio)
{
	struct read_run *r = container_of(bio, struct read_run, bio);
	unsigned int i;

	if (bio->bi_status)
		for (i = 0; i < bio->bi_vcnt; i++)
			r->p->copy[r->first + i].unread = true;
	one_ended(r->p);
}

static void read_run(struct nswap_prefetcher *p, unsigned int first,
		     unsigned int nr)
{
	struct read_run *r = p->reads[first];
	unsigned int i;

	r->p = p;
	r->first = first;
	bio_init(&r->bio, p->dev->disk->part0, &p->bvec[first], nr,
		 REQ_OP_READ | NSWAP_REQ_AHEAD);
	r->bio.bi_iter.bi_sector = p->copy[first].slot * NSWAP_SECTORS_PER_SLOT;
	r->bio.bi_end_io = read_ended;
	for (i = 0; i < nr; i++)
		__bio_add_page(&r->bio, p->page[first + i], PAGE_SIZE, 0);
	atomic_inc(&p->pending);
	submit_bio(&r->bio);
}

/* what could be read stays in the batch */
static void read_batch(struct nswap_prefetcher *p)
{
	unsigned int i, end, n = 0;

	begin_wait(p);
	for (i = 0; i < p->nr; i = end) {
		end = i + 1;
		while (end < p->nr &&
		       p->copy[end].slot == p->copy[end - 1].slot + 1)
			end++;
		read_run(p, i, end - i);
	}
	end_wait(p);
	for (i = 0; i < p->nr; i = end) {
		end = i + p->reads[i]->bio.bi_vcnt;
		bio_uninit(&p->reads[i]->bio);
	}
	for (i = 0; i < p->nr; i++) {
		if (p->copy[i].unread)
			continue;
		swap(p->copy[n], p->copy[i]);
		swap(p->page[n], p->page[i]);
		n++;
	}
	nswap_stat_add(p->dev->node, prefetch_called_off, p->nr - n);
	p->nr = n;
}

static void write_ended(struct nswap_home_io *h)
{
	struct write_run *w = container_of(h, struct write_run, h);

	nswap_flash_ended(w->p->dev->flash, w->flash, h->failed);
	one_ended(w->p);
}

/* how many of the pages from @first on are under way; 0: flash has no room */
static unsigned int write_run(struct nswap_prefetcher *p, unsigned int first)
{
	struct nswap_flash *flash = p->dev->flash;
	struct write_run *w = &p->writes[first];
	unsigned int nr;

	nr = nswap_flash_take(flash, p->nr - first, &w->flash);
	if (!nr)
		return 0;
	w->p = p;
	w->first = first;
	nswap_home_set_pages(&w->h, &p->chain[first], &p->page[first], nr);
	w->h.write = true;
	w->h.end = write_ended;
	atomic_inc(&p->pending);
	nswap_flash_hold(flash, w->flash);
	nswap_flash_submit(flash, w->flash, &w->h);
	return nr;
}

/* flash has the page: say so, if it still is what the slot holds */
static bool link_copy(struct nswap_prefetcher *p, const struct slot_copy *c,
		      u32 flash)
{
	bool move = chosen(p, NSWAP_PREFETCH_AFTER) == &nswap_prefetch_move;
	struct nswap_device *dev = p->dev;
	struct nswap_slot was, to;
	u64 old;

	do {
		old = nswap_slot_read(&dev->map, c->slot);
		if (!nswap_slot_same(old, c->word))
			return false;
		was = nswap_slot_unpack(old);
		to = was;
		to.flash = flash;
		if (move) {
			to.state = NSWAP_SLOT_FLASH;
			to.peer = 0;
		}
	} while (!nswap_device_slot_move(dev, c->slot, old, &to));
	if (move)
		nswap_free_orphan(dev, c->slot, was.gen, was.peer);
	return true;
}

/* pages linked */
static unsigned int link_run(struct nswap_prefetcher *p,
			     const struct write_run *w, u8 arm)
{
	struct nswap_flash *flash = p->dev->flash;
	unsigned int i, n = 0;

	for (i = 0; i < w->h.nr; i++) {
		nswap_flash_tag(flash, w->flash + i, arm);
		if (!w->h.failed &&
		    link_copy(p, &p->copy[w->first + i], w->flash + i))
			n++;
		else
			nswap_flash_put(flash, w->flash + i);
	}
	return n;
}

/* writes the batch to flash; pages that are there now; @more: go on? */
static unsigned int write_batch(struct nswap_prefetcher *p, u8 arm, bool *more)
{
	unsigned int i, nr, end, n = 0;

	begin_wait(p);
	for (end = 0; end < p->nr; end += nr) {
		nr = write_run(p, end);
		if (!nr)
			break;
	}
	end_wait(p);
	*more = end == p->nr;
	for (i = 0; i < end; i += p->writes[i].h.nr) {
		n += link_run(p, &p->writes[i], arm);
		if (p->writes[i].h.failed)
			*more = false;
	}
	nswap_stat_add(p->dev->node, pages_prefetched, n);
	nswap_stat_add(p->dev->node, prefetch_called_off, p->nr - n);
	return n;
}

static u64 since(u64 *was, u64 now)
{
	u64 n = now - *was;

	*was = now;
	return n;
}

static void look(struct nswap_prefetcher *p, bool from_disk,
		 struct nswap_prefetch_view *v)
{
	struct nswap_device *dev = p->dev;
	struct nswap_read_view times = {};

	if (!from_disk)
		nswap_read_look(&dev->times, &times);
	*v = (struct nswap_prefetch_view){
		.used = atomic64_read(&dev->count[NSWAP_SLOT_REMOTE]) +
			atomic64_read(&dev->count[NSWAP_SLOT_HOME]) +
			atomic64_read(&dev->count[NSWAP_SLOT_FLASH]),
		.swap_outs = since(&p->written, atomic64_read(&dev->written)),
		.swap_ins = since(&p->read, atomic64_read(&dev->read)),
		.pct = nswap_knob(dev->node, prefetch_pct),
		.ram_us = times.at[NSWAP_READ_PEERS].us,
		.flash_us = times.at[NSWAP_READ_FLASH].us,
		.learned = p->learned[from_disk],
	};
}

/* for @want pages, and for what page-outs have taken of their eighth */
static void make_room(struct nswap_prefetcher *p, u64 want)
{
	u64 total, used;

	if (!p->dev->flash)
		return;
	nswap_flash_usable(p->dev->flash, &total, &used);
	used += want;
	if (used <= limit(total))
		return;
	p->in_vain += LOOK;
	if (nswap_evict(p->dev, &p->evict_hand, used - limit(total), LOOK))
		p->in_vain = 0;
	if (p->in_vain < 2 * p->dev->map.nr)
		return;
	p->in_vain = 0;
	WRITE_ONCE(p->rest_until, jiffies + REST);
}

static u64 bring_to_flash(struct nswap_prefetcher *p,
			  const struct nswap_which_ops *which, u64 want)
{
	bool more = true;
	u64 done = 0, asked = 0;

	while (more && asked < want && !must_stop(p)) {
		fill_batch(p, which, want - asked);
		if (!p->nr)
			break;
		asked += p->nr;
		read_batch(p);
		if (p->nr)
			done += write_batch(p, which->arm, &more);
	}
	return done;
}

/* something more important has come up, or peers have no room to spare */
static bool must_stay(struct nswap_prefetcher *p)
{
	struct nswap_mem_view mem;

	nswap_mem_view(p->dev->node, &mem);
	return !is_on(p) || !nswap_prefetcher_from_disk(p->dev->node) ||
	       mem.free < mem.low || !nswap_home_out_ready(p->dev);
}

static u64 bring_from_disk(struct nswap_prefetcher *p,
			   const struct nswap_which_ops *which, u64 want)
{
	u64 done = 0, asked = 0, first;
	unsigned long slots;
	unsigned int n;

	while (asked < want && !must_stay(p)) {
		slots = pick_out(p, which, want - asked, &first);
		if (!slots)
			break;
		asked += hweight_long(slots);
		n = nswap_home_out_bring(p->dev, first, slots, which->arm);
		done += n;
		/* nobody took one: nobody will take the next */
		if (!n)
			break;
	}
	nswap_stat_add(p->dev->node, prefetch_called_off, asked - done);
	return done;
}

static u64 bring(struct nswap_prefetcher *p, bool from_disk,
		 const struct nswap_which_ops *which, u64 want)
{
	p->looked = 0;
	if (!from_disk)
		return bring_to_flash(p, which, want);
	if (!atomic64_read(&p->dev->count[NSWAP_SLOT_HOME]))
		return 0;
	return bring_from_disk(p, which, want);
}

/* reads of what was brought, since they were taken last */
static void take_hits(struct nswap_prefetcher *p, bool from_disk,
		      u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	if (from_disk) {
		nswap_home_out_hits(p->dev, hits);
		return;
	}
	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		hits[i] = atomic_xchg(&p->dev->flash->hits[i], 0);
}

static void awake(struct nswap_prefetcher *p)
{
	const struct nswap_when_ops *when =
		container_of(chosen(p, NSWAP_PREFETCH_WHEN),
			     struct nswap_when_ops, is);
	const struct nswap_count_ops *count =
		container_of(chosen(p, NSWAP_PREFETCH_COUNT),
			     struct nswap_count_ops, is);
	const struct nswap_which_ops *which =
		container_of(chosen(p, NSWAP_PREFETCH_WHICH),
			     struct nswap_which_ops, is);
	bool from_disk = chosen(p, NSWAP_PREFETCH_FROM) == &nswap_prefetch_disk;
	u64 hits[NSWAP_PREFETCH_ARMS], done = 0, want = 0;
	struct nswap_prefetch_view v;

	look(p, from_disk, &v);
	if (from_disk ? !p->dev->home : !p->dev->flash)
		return;
	if (which->choose)
		which = which->choose(&v);
	if (when->due(&v))
		want = min_t(u64, count->pages(&v), MOST);
	make_room(p, from_disk ? 0 : min(want, v.swap_outs));
	if (want)
		done = bring(p, from_disk, which, want);
	take_hits(p, from_disk, hits);
	nswap_prefetch_note(&p->learned[from_disk], which->arm, done,
			    v.swap_ins, hits);
}

static void set_alarm(struct nswap_prefetcher *p)
{
	u32 period = nswap_knob(p->dev->node, prefetch_period_ms);

	WRITE_ONCE(p->wake_at, jiffies + msecs_to_jiffies(period));
}

static void again(struct nswap_prefetcher *p)
{
	long left = READ_ONCE(p->wake_at) - jiffies;

	mod_delayed_work(system_dfl_wq, &p->work, max(left, 0L));
}

static void prefetch_work(struct work_struct *work)
{
	struct nswap_prefetcher *p = container_of(to_delayed_work(work),
						  struct nswap_prefetcher,
						  work);
	unsigned int noio = memalloc_noio_save();

	if (is_on(p) && !time_before(jiffies, READ_ONCE(p->wake_at))) {
		awake(p);
		set_alarm(p);
	} else if (!READ_ONCE(p->dev->dying)) {
		make_room(p, 0);
	}
	if (is_on(p))
		again(p);
	memalloc_noio_restore(noio);
}

/**
 * nswap_prefetcher_alloc() - make a device's prefetcher, at rest
 * @dev: device; nothing happens if it has neither flash nor a home
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOMEM.
 */
int nswap_prefetcher_alloc(struct nswap_device *dev)
{
	struct nswap_prefetcher *p;
	unsigned int i;

	if (!dev->flash && !dev->home)
		return 0;
	p = kzalloc_obj(*p);
	if (!p)
		return -ENOMEM;
	p->dev = dev;
	init_completion(&p->ended);
	p->rest_until = jiffies;
	INIT_DELAYED_WORK(&p->work, prefetch_work);
	/* pairs with nswap_prefetcher_tick() */
	smp_store_release(&dev->prefetcher, p);
	for (i = 0; dev->flash && i < BATCH; i++) {
		p->page[i] = alloc_page(GFP_KERNEL);
		p->reads[i] = kzalloc_obj(*p->reads[i]);
		if (!p->page[i] || !p->reads[i])
			return -ENOMEM;
	}
	return 0;
}

/**
 * nswap_prefetcher_free() - undo nswap_prefetcher_alloc(), failed or not
 * @dev: device that no tick finds any more, whose prefetcher was stopped or
 *	never started
 *
 * Context: process, sleeps.
 */
void nswap_prefetcher_free(struct nswap_device *dev)
{
	struct nswap_prefetcher *p = dev->prefetcher;
	unsigned int i;

	if (!p)
		return;
	cancel_delayed_work_sync(&p->work);
	for (i = 0; i < BATCH; i++) {
		if (p->page[i])
			__free_page(p->page[i]);
		kfree(p->reads[i]);
	}
	kfree(p);
	dev->prefetcher = NULL;
}

/**
 * nswap_prefetcher_start() - wake up again and again while the node says so
 * @dev: device with a disk, or without a prefetcher
 *
 * Context: process; the node's control lock is held.
 */
void nswap_prefetcher_start(struct nswap_device *dev)
{
	if (!dev->prefetcher || !is_on(dev->prefetcher))
		return;
	set_alarm(dev->prefetcher);
	again(dev->prefetcher);
}

/**
 * nswap_prefetcher_stop() - not any more; what is under way ends first
 * @dev: device that is dying, and is in no node's list any more
 *
 * Context: process, sleeps for reads of peers, flash, and moves out from home.
 */
void nswap_prefetcher_stop(struct nswap_device *dev)
{
	if (dev->prefetcher)
		cancel_delayed_work_sync(&dev->prefetcher->work);
}

/* are there copies, and have page-outs taken some of their eighth? */
static bool crowded(const struct nswap_device *dev)
{
	u64 total, used;

	nswap_flash_usable(dev->flash, &total, &used);
	return used > limit(total) &&
	       used > atomic64_read(&dev->count[NSWAP_SLOT_FLASH]);
}

/**
 * nswap_prefetcher_tick() - time has passed: do copies have to make room?
 * @dev: device
 *
 * Context: any, inside rcu_read_lock(), which keeps the device; does not sleep.
 */
void nswap_prefetcher_tick(struct nswap_device *dev)
{
	/* pairs with nswap_prefetcher_alloc() */
	struct nswap_prefetcher *p = smp_load_acquire(&dev->prefetcher);

	if (p && dev->flash && !READ_ONCE(dev->dying) && crowded(dev) &&
	    !time_before(jiffies, READ_ONCE(p->rest_until)))
		mod_delayed_work(system_dfl_wq, &p->work, 0);
}

/**
 * nswap_prefetcher_from_disk() - do prefetchers say which pages leave home?
 * @node: node
 *
 * Context: any.
 * Return: true while they are on, and bring pages from there.
 */
bool nswap_prefetcher_from_disk(const struct nswap_node *node)
{
	return READ_ONCE(node->prefetch[NSWAP_PREFETCH_ENABLE]) ==
	       &nswap_prefetch_on &&
	       READ_ONCE(node->prefetch[NSWAP_PREFETCH_FROM]) ==
	       &nswap_prefetch_disk;
}

/**
 * nswap_prefetchers_kick() - prefetchers were turned on, or how often they wake
 *	up has changed
 * @node: node
 *
 * Context: process; the node's control lock is held.
 */
void nswap_prefetchers_kick(struct nswap_node *node)
{
	struct nswap_device *dev;

	list_for_each_entry(dev, &node->devices, link)
		nswap_prefetcher_start(dev);
}
