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
 *  - A task waits once all requests of its plug have been dispatched, of whatever queue:
 *    nothing that is under way needs it, and page-ins are never behind it. What it waits
 *    for ends by answers and time-outs.
 *  - It leaves after store_timeout_ms in any case, when it is killed and when the device
 *    goes: the limit is to slow it down, nothing depends on it.
 *  - What kernel threads submit is not counted, and they do not wait: kblockd and the
 *    module's own bring page-outs to an end, kswapd works for all and must not be what
 *    others wait for.
 */
#include <linux/blk-mq.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "core/node.h"
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

/*
 * A page-out begins. @io: of a block request of this task's, its number of slots is
 * final. Context: queue_rq(), page-out path.
 */
void nswap_pageout_limit_take(struct nswap_io *io)
{
	io->limited = !(current->flags & PF_KTHREAD);
	if (io->limited)
		atomic_add(io->nr, &io->dev->out);
}

/* It has ended; any context, perhaps a hard interrupt, page-out path. */
void nswap_pageout_limit_give(struct nswap_io *io)
{
	/* not io->dev, which is the one of its cells by now if it has gone there */
	struct nswap_device *dev = blk_mq_rq_from_pdu(io)->q->queuedata;

	if (!io->limited || atomic_sub_return(io->nr, &dev->out) > PAGEOUT_LIMIT)
		return;
	/* after a full barrier, which pairs with the one of prepare_to_wait() */
	if (waitqueue_active(&dev->out_wait))
		wake_up_all(&dev->out_wait);
}

/**
 * nswap_pageout_limit_wait() - wait until few enough pages are on their way out
 * @dev: device
 *
 * Context: in queue_rq() of its disk, for the last request of this dispatch: may sleep
 * for store_timeout_ms at most. Page-out path.
 */
void nswap_pageout_limit_wait(struct nswap_device *dev)
{
	if (atomic_read(&dev->out) <= PAGEOUT_LIMIT || current->flags & PF_KTHREAD)
		return;
	if (current->plug && !nswap_compat_plug_empty(current->plug))
		return;
	wait_event_killable_timeout(dev->out_wait,
				    atomic_read(&dev->out) <= PAGEOUT_LIMIT ||
				    READ_ONCE(dev->dying),
				    msecs_to_jiffies(nswap_knob(dev->node,
								store_timeout_ms)));
}

/*
 * No task waits here any more, or will. @dev: dying, with its disk; process, sleeps until
 * all who are in queue_rq() have left it.
 */
void nswap_pageout_limit_end(struct nswap_device *dev)
{
	wake_up_all(&dev->out_wait);
	blk_mq_quiesce_queue(dev->disk->queue);
	blk_mq_unquiesce_queue(dev->disk->queue);
}
