// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher: one work item per device with flash or a home.
 *
 *   wake up -> when? count? -> batch: which? -> ram to flash: read -> write to
 *                                ^              flash -> link ----------+
 *                                |              disk to ram: move out --+
 *                                |              any other way: carry ---+
 *                                +--------------------------------------+
 *
 * The hand picks pages (prefetch_scan.c), the copier copies them from peers to flash
 * (prefetch_copy.c), promote.c moves them from home to peers, the carrier between any
 * other two tiers (prefetch_move.c). This file decides when, how many and for how long.
 *
 * Invariants:
 *  - Never on the page-out path: the work runs on a queue without a rescuer and
 *    holds no lock while it waits, except the batch lock of promote.c. Its memory
 *    is allocated with the device, the carrier's when a way that needs it is chosen.
 *  - A wake-up takes MOST pages at most. It ends when memory is short, flash is
 *    busy, fails or fills up, page-outs wait, peers have no more room than those
 *    need, or the prefetcher was turned off.
 *  - Copies are evicted when page-outs exceed their reserve of flash (evict.c). The
 *    tick starts the work for that too, whether the prefetcher is on or off; the next
 *    wake-up keeps its time. Copies are also evicted to make room for new ones, at
 *    most as many as pages were swapped out since the last wake-up, so that idle
 *    pages are not churned.
 *  - Only this work touches @hand, @learned, @copier, @carrier and @evictor, except for
 *    @rest_until of the latter, which the tick reads.
 *  - The way is read once per wake-up, which ends when it is another. From and to are
 *    chosen one after the other, so for a moment they may be no way: then nothing is done.
 *  - Stopped before the disk is removed, after the device was taken out of the node
 *    under the node's control lock: turning the prefetcher on needs that lock too,
 *    and does not find the device. A tick may still queue the work after that: for
 *    a dying device it does nothing, and it is waited for once no tick can find the
 *    device.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/log.h"
#include "core/client_state.h"
#include "core/device_policy.h"
#include "core/meminfo.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "evict.h"
#include "peers/place.h"
#include "prefetch_copy.h"
#include "prefetch_move.h"
#include "prefetch_scan.h"
#include "prefetcher.h"
#include "promote.h"

#define MOST	2048		/* pages in one wake-up */
#define BUSY	16		/* reads and writes of flash under way */

static_assert(NSWAP_PREFETCH_ARMS == NSWAP_FLASH_TAGS);

/**
 * struct nswap_prefetcher - the prefetcher of one device
 * @dev: device
 * @work: wakes up every prefetch_period_ms while it is on
 * @wake_at: jiffies of the next wake-up; set by its starter and the work
 * @hand: picks pages
 * @evictor: evicts copies from flash
 * @written: pages the kernel had written at the last wake-up
 * @read: pages it had read
 * @learned: results of prefetching, by way
 * @copier: copies pages from peers to flash; NULL without flash
 * @carrier: moves pages on other ways; NULL before one is chosen
 */
struct nswap_prefetcher {
	struct nswap_device *dev;
	struct delayed_work work;
	unsigned long wake_at;
	struct nswap_hand hand;
	struct nswap_evictor evictor;
	u64 written;
	u64 read;
	struct nswap_prefetch_learned learned[NSWAP_PREFETCH_WAYS];
	struct nswap_copier *copier;
	struct nswap_carrier *carrier;
};

static const struct nswap_policy *
prefetcher_policy(const struct nswap_prefetcher *p, enum nswap_policy_kind kind)
{
	return nswap_device_policy(p->dev, kind);
}

static bool is_on(const struct nswap_prefetcher *p)
{
	return prefetcher_policy(p, NSWAP_PREFETCH_ENABLE) == &nswap_prefetch_on &&
	       !READ_ONCE(p->dev->dying);
}

/* enum nswap_prefetch_way, or negative: the device has not got both tiers */
static int prefetcher_way(const struct nswap_device *dev)
{
	int way = nswap_prefetch_way(nswap_device_policy(dev, NSWAP_PREFETCH_FROM),
				     nswap_device_policy(dev, NSWAP_PREFETCH_TO));

	if ((way != NSWAP_RAM_DISK && way != NSWAP_DISK_RAM && !dev->flash) ||
	    (way != NSWAP_RAM_FLASH && way != NSWAP_FLASH_RAM && !dev->home))
		return -ENOENT;
	return way;
}

static bool way_to_flash(enum nswap_prefetch_way way)
{
	return way == NSWAP_RAM_FLASH || way == NSWAP_DISK_FLASH;
}

/*
 * Turned off, chosen otherwise, or memory is short; or where pages go is busy, or has no
 * room but for page-outs
 */
static bool must_stop(const struct nswap_prefetcher *p, enum nswap_prefetch_way way)
{
	struct nswap_device *dev = p->dev;
	struct nswap_mem_view mem;

	nswap_mem_view(dev->node, &mem);
	if (!is_on(p) || prefetcher_way(dev) != way || mem.free < mem.low)
		return true;
	if (way_to_flash(way))
		return nswap_flash_inflight(dev->flash) >= BUSY ||
		       !nswap_evict_room(dev);
	if (way == NSWAP_DISK_RAM)
		return !nswap_promote_ready(dev);
	if (way != NSWAP_FLASH_RAM)
		return false;
	/* ask for grants */
	nswap_client_used(dev->node);
	return nswap_client_waits(dev->node->client) ||
	       !nswap_place_spare(dev->node, NSWAP_REQ_SLOTS);
}

static u64 prefetcher_delta(u64 *was, u64 now)
{
	u64 n = now - *was;

	*was = now;
	return n;
}

/* percent of where pages of a way are that is free */
static u32 prefetcher_free(const struct nswap_device *dev, enum nswap_prefetch_way way)
{
	u64 total, used = 0;

	switch (way) {
	case NSWAP_RAM_FLASH:
	case NSWAP_RAM_DISK:
		nswap_place_room(dev->node, &total, &used);
		break;
	case NSWAP_FLASH_RAM:
	case NSWAP_FLASH_DISK:
		nswap_flash_usable(dev->flash, &total, &used);
		break;
	default:
		return 100;
	}
	return total > used ? (total - used) * 100 / total : 0;
}

/* times of reads where pages of a way are and where they go, zeros where home is one */
static void prefetcher_times(struct nswap_device *dev, enum nswap_prefetch_way way,
			     struct nswap_prefetch_view *v)
{
	struct nswap_read_view times = {};
	bool out = way == NSWAP_RAM_FLASH;

	if (nswap_prefetch_at_disk(way))
		return;
	nswap_read_look(&dev->times, &times);
	v->from_us = times.at[out ? NSWAP_READ_PEERS : NSWAP_READ_FLASH].us;
	v->to_us = times.at[out ? NSWAP_READ_FLASH : NSWAP_READ_PEERS].us;
}

/* pages that the kernel has asked for so far, @op: READ or WRITE */
static u64 prefetcher_asked(struct nswap_device *dev, int op)
{
	u64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(dev->flow, cpu)->asked[op]);
	return n;
}

static void prefetcher_look(struct nswap_prefetcher *p, enum nswap_prefetch_way way,
			    struct nswap_prefetch_view *v)
{
	struct nswap_device *dev = p->dev;

	*v = (struct nswap_prefetch_view){
		.used = nswap_slot_count(dev, NSWAP_SLOT_REMOTE) +
			nswap_slot_count(dev, NSWAP_SLOT_HOME) +
			nswap_slot_count(dev, NSWAP_SLOT_FLASH),
		.swap_outs = prefetcher_delta(&p->written, prefetcher_asked(dev, WRITE)),
		.swap_ins = prefetcher_delta(&p->read, prefetcher_asked(dev, READ)),
		.pct = nswap_knob(dev->node, prefetch_pct),
		.free_pct = prefetcher_free(dev, way),
		.down = nswap_prefetch_down(way),
		.learned = p->learned[way],
	};
	prefetcher_times(dev, way, v);
}

static u64 bring_to_flash(struct nswap_prefetcher *p,
			  const struct nswap_which_ops *which, u64 want)
{
	struct nswap_picked picked[NSWAP_COPY_BATCH];
	bool more = true;
	u64 done = 0, asked = 0;
	unsigned int n;

	while (more && asked < want && !must_stop(p, NSWAP_RAM_FLASH)) {
		n = nswap_hand_pick_remote(&p->hand, which, picked,
					   min_t(u64, want - asked,
						 NSWAP_COPY_BATCH));
		if (!n)
			break;
		asked += n;
		done += nswap_copier_run(p->copier, picked, n, which->arm,
					 &more);
	}
	return done;
}

static u64 bring_from_disk(struct nswap_prefetcher *p,
			   const struct nswap_which_ops *which, u64 want)
{
	u64 done = 0, asked = 0, first;
	unsigned long slots;
	unsigned int n;

	while (asked < want && !must_stop(p, NSWAP_DISK_RAM)) {
		slots = nswap_hand_pick(&p->hand, NSWAP_DISK_RAM, which, want - asked,
					&first);
		if (!slots)
			break;
		asked += hweight_long(slots);
		n = nswap_promote_bring(p->dev, first, slots, which->arm);
		done += n;
		/* no peer took a page, so none will take the next */
		if (!n)
			break;
	}
	nswap_stat_add(p->dev->node, prefetch_called_off, asked - done);
	return done;
}

/* on the ways of the carrier; batches take half of the time at most */
static u64 bring_between(struct nswap_prefetcher *p, enum nswap_prefetch_way way,
			 const struct nswap_which_ops *which, u64 want)
{
	/* pairs with prefetcher_prepare() */
	struct nswap_carrier *c = smp_load_acquire(&p->carrier);
	u64 done = 0, asked = 0, first;
	unsigned int n = 1;
	unsigned long slots;
	ktime_t began;

	if (nswap_prefetch_down(way))
		WRITE_ONCE(p->dev->demotes, true);
	while (c && n && asked < want && !must_stop(p, way)) {
		slots = nswap_hand_pick(&p->hand, way, which, want - asked, &first);
		if (!slots)
			break;
		asked += hweight_long(slots);
		began = ktime_get();
		n = nswap_carrier_run(c, way, first, slots, which->arm);
		done += n;
		nswap_promote_pause(began, 0);
	}
	return done;
}

static const u8 state_from[NSWAP_PREFETCH_WAYS] = {
	[NSWAP_RAM_FLASH] = NSWAP_SLOT_REMOTE, [NSWAP_RAM_DISK] = NSWAP_SLOT_REMOTE,
	[NSWAP_DISK_RAM] = NSWAP_SLOT_HOME, [NSWAP_DISK_FLASH] = NSWAP_SLOT_HOME,
	[NSWAP_FLASH_RAM] = NSWAP_SLOT_FLASH, [NSWAP_FLASH_DISK] = NSWAP_SLOT_FLASH,
};

static u64 prefetcher_bring(struct nswap_prefetcher *p, enum nswap_prefetch_way way,
			    const struct nswap_which_ops *which, u64 want)
{
	p->hand.looked = 0;
	if (!nswap_slot_count(p->dev, state_from[way]))
		return 0;
	switch (way) {
	case NSWAP_RAM_FLASH:
		return bring_to_flash(p, which, want);
	case NSWAP_DISK_RAM:
		return bring_from_disk(p, which, want);
	default:
		return bring_between(p, way, which, want);
	}
}

/* read and clear the count of reads of prefetched pages */
static void take_hits(struct nswap_prefetcher *p, enum nswap_prefetch_way way,
		      u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	if (!way_to_flash(way)) {
		nswap_page_tag_hits(p->dev, hits);
		return;
	}
	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		hits[i] = atomic_xchg(&p->dev->flash->hits[i], 0);
}

static void prefetcher_awake(struct nswap_prefetcher *p)
{
	const struct nswap_when_ops *when =
		container_of(prefetcher_policy(p, NSWAP_PREFETCH_WHEN),
			     struct nswap_when_ops, is);
	const struct nswap_count_ops *count =
		container_of(prefetcher_policy(p, NSWAP_PREFETCH_COUNT),
			     struct nswap_count_ops, is);
	const struct nswap_which_ops *which =
		container_of(prefetcher_policy(p, NSWAP_PREFETCH_WHICH),
			     struct nswap_which_ops, is);
	int way = prefetcher_way(p->dev);
	u64 hits[NSWAP_PREFETCH_ARMS], done = 0, want = 0;
	struct nswap_prefetch_view v;

	if (way < 0)
		return;
	prefetcher_look(p, way, &v);
	if (which->choose)
		which = which->choose(&v);
	if (when->due(&v))
		want = min_t(u64, count->pages(&v), MOST);
	nswap_evict(p->dev, &p->evictor, way_to_flash(way) ? min(want, v.swap_outs) : 0);
	if (want) {
		done = prefetcher_bring(p, way, which, want);
		nswap_prefetch_tried(&p->learned[way], which->arm, done);
	}
	take_hits(p, way, hits);
	nswap_prefetch_note(&p->learned[way], which->arm, done,
			    v.swap_ins, hits);
}

static void set_alarm(struct nswap_prefetcher *p)
{
	u32 period = nswap_knob(p->dev->node, prefetch_period_ms);

	WRITE_ONCE(p->wake_at, jiffies + msecs_to_jiffies(period));
}

static void prefetcher_again(struct nswap_prefetcher *p)
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
		prefetcher_awake(p);
		set_alarm(p);
	} else if (!READ_ONCE(p->dev->dying)) {
		nswap_evict(p->dev, &p->evictor, 0);
	}
	if (is_on(p))
		prefetcher_again(p);
	memalloc_noio_restore(noio);
}

/* allocate a stopped prefetcher. Returns 0, or -ENOMEM */
int nswap_prefetcher_alloc(struct nswap_device *dev)
{
	struct nswap_prefetcher *p;

	if (!dev->flash && !dev->home)
		return 0;
	p = kzalloc_obj(*p);
	if (!p)
		return -ENOMEM;
	p->dev = dev;
	p->hand.dev = dev;
	p->evictor.rest_until = jiffies;
	INIT_DELAYED_WORK(&p->work, prefetch_work);
	/* pairs with nswap_prefetcher_tick() */
	smp_store_release(&dev->prefetcher, p);
	if (dev->flash)
		p->copier = nswap_copier_make(dev);
	return dev->flash && !p->copier ? -ENOMEM : 0;
}

/* also after nswap_prefetcher_alloc() has failed */
void nswap_prefetcher_free(struct nswap_device *dev)
{
	struct nswap_prefetcher *p = dev->prefetcher;

	if (!p)
		return;
	cancel_delayed_work_sync(&p->work);
	nswap_copier_free(p->copier);
	nswap_carrier_free(p->carrier);
	kfree(p);
	dev->prefetcher = NULL;
}

/* what only some ways need; without memory for it they bring nothing, as the log says */
static void prefetcher_prepare(struct nswap_prefetcher *p)
{
	struct nswap_carrier *c = NULL;
	int way = prefetcher_way(p->dev), ret = 0;

	if (way >= 0 && !way_to_flash(way))
		ret = nswap_page_tag_init(p->dev);
	if (way < 0 || way == NSWAP_RAM_FLASH || way == NSWAP_DISK_RAM || p->carrier)
		return;
	if (!ret)
		c = nswap_carrier_make(p->dev, false);
	if (!c)
		nswap_warn(p->dev->node, "%s: no memory to prefetch on this way; nswapctl prefetch on tries again",
			   p->dev->disk->disk_name);
	/* pairs with bring_between() */
	smp_store_release(&p->carrier, c);
}

/*
 * Start periodic wake-ups, while it is on; @dev: device with a disk, or without a
 * prefetcher; process, sleeps; the node's control lock is held.
 */
void nswap_prefetcher_start(struct nswap_device *dev)
{
	if (!dev->prefetcher || !is_on(dev->prefetcher))
		return;
	prefetcher_prepare(dev->prefetcher);
	set_alarm(dev->prefetcher);
	prefetcher_again(dev->prefetcher);
}

/*
 * Stop wake-ups and wait for the one under way; process, sleeps for page-ins, flash,
 * and moves out from home.
 */
void nswap_prefetcher_stop(struct nswap_device *dev)
{
	if (dev->prefetcher)
		cancel_delayed_work_sync(&dev->prefetcher->work);
}

/*
 * Start the work if copies have to be evicted; any context, inside rcu_read_lock(),
 * which keeps the device; does not sleep.
 */
void nswap_prefetcher_tick(struct nswap_device *dev)
{
	/* pairs with nswap_prefetcher_alloc() */
	struct nswap_prefetcher *p = smp_load_acquire(&dev->prefetcher);

	if (p && dev->flash && !READ_ONCE(dev->dying) &&
	    nswap_evict_due(dev, &p->evictor))
		mod_delayed_work(system_dfl_wq, &p->work, 0);
}

/* does the prefetcher decide which pages are at home? */
bool nswap_prefetcher_of_disk(const struct nswap_device *dev)
{
	int way;

	if (nswap_device_policy(dev, NSWAP_PREFETCH_ENABLE) != &nswap_prefetch_on)
		return false;
	way = prefetcher_way(dev);
	return way >= 0 && nswap_prefetch_at_disk(way);
}

/*
 * Prefetchers were turned on, or their period was changed; process; the node's
 * control lock is held.
 */
void nswap_prefetchers_kick(struct nswap_node *node)
{
	struct nswap_device *dev;

	list_for_each_entry(dev, &node->devices, link)
		nswap_prefetcher_start(dev);
}
