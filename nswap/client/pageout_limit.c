// SPDX-License-Identifier: GPL-2.0
/*
 * A limit on the pages of a device that are on their way out.
 *
 * Reclaim does not wait for pages under writeback: a program is killed for memory once
 * all pages of its memory cgroup are, as may happen within milliseconds when its peers
 * fall silent. The tags of a device allow 16 MiB, which is more than many a group has. So
 * a task that has submitted page-outs waits here while too many pages are under way. It
 * sleeps instead of being killed.
 *
 * Invariants:
 *  - A task waits after its last request has been dispatched, and no page that is counted
 *    needs it any more: what it waits for ends by answers and by store_timeout_ms.
 *  - Page-ins are never behind it: they have been dispatched too.
 *  - Kernel threads do not wait: kblockd and the module's own bring page-outs to an end,
 *    and kswapd works for all.
 *  - A request that waits for the task's next step, in its plug or on its list of bios,
 *    is not counted yet.
 */
#include <linux/sched.h>
#include <linux/wait.h>

#include "pageout_limit.h"

/*
 * 2 MiB under way: at 10 GB/s the pages of 200 us. What a task has in its plug, up to
 * 4 MiB, comes on top of it.
 */
#define PAGEOUT_LIMIT	512

/* before the disk of a device is made; any context */
void nswap_pageout_limit_init(struct nswap_device *dev)
{
	atomic_set(&dev->out, 0);
	init_waitqueue_head(&dev->out_wait);
}

/* a page-out of @nr pages begins; any context, page-out path */
void nswap_pageout_limit_take(struct nswap_device *dev, unsigned int nr)
{
	atomic_add(nr, &dev->out);
}

/* it has ended; any context, perhaps a hard interrupt, page-out path */
void nswap_pageout_limit_give(struct nswap_device *dev, unsigned int nr)
{
	if (atomic_sub_return(nr, &dev->out) > PAGEOUT_LIMIT)
		return;
	/* after a full barrier, which pairs with the one of prepare_to_wait() */
	if (waitqueue_active(&dev->out_wait))
		wake_up_all(&dev->out_wait);
}

/**
 * nswap_pageout_limit_wait() - wait until few enough pages are on their way out
 * @dev: device
 *
 * Context: in queue_rq() of its disk, for the last request that the caller has: may
 * sleep, for no longer than a page-out may last. Page-out path.
 */
void nswap_pageout_limit_wait(struct nswap_device *dev)
{
	if (atomic_read(&dev->out) <= PAGEOUT_LIMIT || current->flags & PF_KTHREAD)
		return;
	io_wait_event(dev->out_wait, atomic_read(&dev->out) <= PAGEOUT_LIMIT);
}
