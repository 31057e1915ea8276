// SPDX-License-Identifier: GPL-2.0
/*
 * No program is killed for memory because page-outs are under way.
 *
 * Reclaim does not wait for pages under writeback: while peers are silent it soon finds only
 * these, gives up and calls the OOM killer, though they can be reclaimed once the peers are
 * back, or the page-outs have gone elsewhere, seconds later. So the OOM notifier reports
 * progress, with which the allocation is tried again, while page-outs are under way, for
 * oom_wait_ms in one shortage at most: page-outs that fail, and those of programs that swap all
 * the time, must not keep a machine from its OOM killer for longer. A memory cgroup has no
 * notifier: pageout_limit.c.
 *
 * Invariants:
 *  - A device is in the list only while it has a disk; the list's lock is held while its tags
 *    are looked at, so they cannot go away, nor its node. All who take it are processes.
 *  - A shortage is over when nothing has called for some time and pages have found a place
 *    since. Time alone does not say so: reclaim waits for tags and for pageout_limit.c between
 *    two calls. So page-outs that all fail make for one wait, not for one each time.
 *  - It waits NSWAP_OOM_POLLS times NSWAP_OOM_POLL at most, under oom_lock, and not if the
 *    lender's notifier has just freed pages. Who else allocates tries oom_lock and sleeps a
 *    tick, so what page-outs wait for goes on, or is late by so much.
 *  - kswapd never waits here: it calls for programs that thrash (min_ttl_ms), and all wait for
 *    it. Nor does a task that is killed, which frees its memory soonest.
 *  - Nothing is counted for it while pages leave: only what is about to kill looks.
 */
#include <linux/blk-mq.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>

#include "base/clock.h"
#include "base/oom.h"
#include "core/node.h"
#include "pageout_oom.h"

static DEFINE_SPINLOCK(oom_devices_lock);
static LIST_HEAD(oom_devices);

/**
 * struct oom_look - what all devices do
 * @pageouts: requests that page out, under way
 * @stored: pages that peers, flash and home have taken so far
 * @wait_ms: the most that a node with a device waits
 */
struct oom_look {
	unsigned int pageouts;
	u64 stored;
	u32 wait_ms;
};

/**
 * struct oom_shortage - calls of the notifier, one soon after the other; under oom_lock
 * @began: when the first came, by nswap_now_ms()
 * @called: when the last one ended
 * @stored: &oom_look.stored at that time
 */
static struct oom_shortage {
	u64 began;
	u64 called;
	u64 stored;
} oom_shortage;

static bool oom_count(struct request *rq, void *n)
{
	if (req_op(rq) == REQ_OP_WRITE)
		++*(unsigned int *)n;
	return true;
}

static u64 oom_stored(const struct nswap_node *node)
{
	return nswap_stat_read(node, pages_out) + nswap_stat_read(node, pages_flash_out) +
	       nswap_stat_read(node, pages_home_out);
}

static struct oom_look oom_look(void)
{
	struct oom_look look = {};
	struct nswap_device *dev;

	spin_lock(&oom_devices_lock);
	list_for_each_entry(dev, &oom_devices, oom_link) {
		blk_mq_tagset_busy_iter(&dev->tags, oom_count, &look.pageouts);
		look.stored += oom_stored(dev->node);
		look.wait_ms = max(look.wait_ms, nswap_knob(dev->node, oom_wait_ms));
	}
	spin_unlock(&oom_devices_lock);
	return look;
}

/* does the kill wait? a page-out that has just ended counts as well as one under way */
static bool oom_waits(const struct oom_look *now)
{
	struct oom_shortage *s = &oom_shortage;
	bool stored = now->stored != s->stored;
	u64 ms = nswap_now_ms();

	if (!s->called || (stored && ms > s->called + jiffies_to_msecs(NSWAP_OOM_QUIET)))
		s->began = ms;
	return (now->pageouts || stored) && ms < s->began + now->wait_ms;
}

static int pageout_on_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	unsigned int polls = NSWAP_OOM_POLLS, before;
	unsigned long *progress = freed;
	struct oom_look now;

	if (*progress || current->flags & PF_KSWAPD || fatal_signal_pending(current))
		return NOTIFY_OK;
	now = oom_look();
	before = now.pageouts;
	if (oom_waits(&now)) {
		while (now.pageouts && now.pageouts >= before && polls--) {
			schedule_timeout_uninterruptible(NSWAP_OOM_POLL);
			now = oom_look();
		}
		*progress = 1;
	}
	oom_shortage.called = nswap_now_ms();
	oom_shortage.stored = now.stored;
	return NOTIFY_OK;
}

static struct notifier_block pageout_oom_block = { .notifier_call = pageout_on_oom };

/* its page-outs count from now on; @dev: has tags; process */
void nswap_pageout_oom_watch(struct nswap_device *dev)
{
	spin_lock(&oom_devices_lock);
	list_add_tail(&dev->oom_link, &oom_devices);
	spin_unlock(&oom_devices_lock);
}

/* its tags are not looked at any more; process */
void nswap_pageout_oom_unwatch(struct nswap_device *dev)
{
	spin_lock(&oom_devices_lock);
	list_del(&dev->oom_link);
	spin_unlock(&oom_devices_lock);
}

/* register the notifier; process. Returns 0, or the notifier chain's error */
int nswap_pageout_oom_init(void)
{
	return register_oom_notifier(&pageout_oom_block);
}

/* undo nswap_pageout_oom_init(); process, module exit; waits for running calls */
void nswap_pageout_oom_exit(void)
{
	unregister_oom_notifier(&pageout_oom_block);
}
