// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher: one work item per device with flash or a home.
 *
 *   wake up -> when? count? -> batch: which? -> ram to flash: read -> write to
 *                                ^              flash -> link ----------+
 *                                |              disk to ram: move out --+
 *                                +--------------------------------------+
 *
 * The hand picks pages (prefetch_scan.c), the copier copies them to flash
 * (prefetch_copy.c), promote.c moves them from home to peers. This file decides when,
 * how many and for how long.
 *
 * Invariants:
 *  - Never on the page-out path: the work runs on a queue without a rescuer and
 *    holds no lock while it waits, except the batch lock of promote.c. Its memory
 *    is allocated with the device.
 *  - A wake-up takes MOST pages at most. It ends when memory is short, flash is
 *    busy, fails or fills up, page-outs wait, peers have no more room than those
 *    need, or the prefetcher was turned off.
 *  - Copies are evicted when page-outs exceed their reserve of flash (evict.c). The
 *    tick starts the work for that too, whether the prefetcher is on or off; the next
 *    wake-up keeps its time. Copies are also evicted to make room for new ones, at
 *    most as many as pages were swapped out since the last wake-up, so that idle
 *    pages are not churned.
 *  - Only this work touches @hand, @learned, @copier and @evictor, except for
 *    @rest_until of the latter, which the tick reads.
 *  - The source policy is read once per wake-up; the destination follows from it.
 *  - Stopped before the disk is removed, after the device was taken out of the node
 *    under the node's control lock: turning the prefetcher on needs that lock too,
 *    and does not find the device. A tick may still queue the work after that: for
 *    a dying device it does nothing, and it is waited for once no tick can find the
 *    device.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/device_policy.h"
#include "core/meminfo.h"
#include "core/page_tag.h"
#include "core/slot_update.h"
#include "evict.h"
#include "prefetch_copy.h"
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
 * @learned: results of prefetching: to flash, and from disk
 * @copier: copies pages to flash; NULL without flash
 */
struct nswap_prefetcher {
	struct nswap_device *dev;
	struct delayed_work work;
	unsigned long wake_at;
	struct nswap_hand hand;
	struct nswap_evictor evictor;
	u64 written;
	u64 read;
	struct nswap_prefetch_learned learned[2];
	struct nswap_copier *copier;
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

/* stop copying to flash: turned off, memory is short, flash is busy or full */
static bool must_stop(const struct nswap_prefetcher *p)
{
	struct nswap_mem_view mem;

	nswap_mem_view(p->dev->node, &mem);
	return !is_on(p) || mem.free < mem.low ||
	       nswap_flash_inflight(p->dev->flash) >= BUSY ||
	       !nswap_evict_room(p->dev);
}

static u64 prefetcher_delta(u64 *was, u64 now)
{
	u64 n = now - *was;

	*was = now;
	return n;
}

static void prefetcher_look(struct nswap_prefetcher *p, bool from_disk,
			    struct nswap_prefetch_view *v)
{
	struct nswap_device *dev = p->dev;
	struct nswap_read_view times = {};

	if (!from_disk)
		nswap_read_look(&dev->times, &times);
	*v = (struct nswap_prefetch_view){
		.used = nswap_slot_count(dev, NSWAP_SLOT_REMOTE) +
			nswap_slot_count(dev, NSWAP_SLOT_HOME) +
			nswap_slot_count(dev, NSWAP_SLOT_FLASH),
		.swap_outs = prefetcher_delta(&p->written, atomic64_read(&dev->written)),
		.swap_ins = prefetcher_delta(&p->read, atomic64_read(&dev->read)),
		.pct = nswap_knob(dev->node, prefetch_pct),
		.ram_us = times.at[NSWAP_READ_PEERS].us,
		.flash_us = times.at[NSWAP_READ_FLASH].us,
		.learned = p->learned[from_disk],
	};
}

static u64 bring_to_flash(struct nswap_prefetcher *p,
			  const struct nswap_which_ops *which, u64 want)
{
	struct nswap_picked picked[NSWAP_COPY_BATCH];
	bool more = true;
	u64 done = 0, asked = 0;
	unsigned int n;

	while (more && asked < want && !must_stop(p)) {
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

/* stop moving from home: turned off, memory is short, or peers have no room to spare */
static bool must_stay(struct nswap_prefetcher *p)
{
	struct nswap_mem_view mem;

	nswap_mem_view(p->dev->node, &mem);
	return !is_on(p) || !nswap_prefetcher_from_disk(p->dev) ||
	       mem.free < mem.low || !nswap_promote_ready(p->dev);
}

static u64 bring_from_disk(struct nswap_prefetcher *p,
			   const struct nswap_which_ops *which, u64 want)
{
	u64 done = 0, asked = 0, first;
	unsigned long slots;
	unsigned int n;

	while (asked < want && !must_stay(p)) {
		slots = nswap_hand_pick_home(&p->hand, which, want - asked,
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

static u64 prefetcher_bring(struct nswap_prefetcher *p, bool from_disk,
			    const struct nswap_which_ops *which, u64 want)
{
	p->hand.looked = 0;
	if (!from_disk)
		return bring_to_flash(p, which, want);
	if (!nswap_slot_count(p->dev, NSWAP_SLOT_HOME))
		return 0;
	return bring_from_disk(p, which, want);
}

/* read and clear the count of reads of prefetched pages */
static void take_hits(struct nswap_prefetcher *p, bool from_disk,
		      u64 hits[NSWAP_PREFETCH_ARMS])
{
	unsigned int i;

	if (from_disk) {
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
	bool from_disk = prefetcher_policy(p, NSWAP_PREFETCH_FROM) == &nswap_prefetch_disk;
	u64 hits[NSWAP_PREFETCH_ARMS], done = 0, want = 0;
	struct nswap_prefetch_view v;

	prefetcher_look(p, from_disk, &v);
	if (from_disk ? !p->dev->home : !p->dev->flash)
		return;
	if (which->choose)
		which = which->choose(&v);
	if (when->due(&v))
		want = min_t(u64, count->pages(&v), MOST);
	nswap_evict(p->dev, &p->evictor, from_disk ? 0 : min(want, v.swap_outs));
	if (want)
		done = prefetcher_bring(p, from_disk, which, want);
	take_hits(p, from_disk, hits);
	nswap_prefetch_note(&p->learned[from_disk], which->arm, done,
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
	kfree(p);
	dev->prefetcher = NULL;
}

/*
 * Start periodic wake-ups, while it is on; @dev: device with a disk, or without a
 * prefetcher; process; the node's control lock is held.
 */
void nswap_prefetcher_start(struct nswap_device *dev)
{
	if (!dev->prefetcher || !is_on(dev->prefetcher))
		return;
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

/* does the prefetcher decide which pages leave home? */
bool nswap_prefetcher_from_disk(const struct nswap_device *dev)
{
	return nswap_device_policy(dev, NSWAP_PREFETCH_ENABLE) ==
	       &nswap_prefetch_on &&
	       nswap_device_policy(dev, NSWAP_PREFETCH_FROM) ==
	       &nswap_prefetch_disk;
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
