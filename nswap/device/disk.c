// SPDX-License-Identifier: GPL-2.0
/*
 * Device, disk: /dev/nswapN as the block layer sees it, for mkswap and swapon.
 *
 * blk-mq, so that requests and their driver data are allocated with the device, and
 * adjacent pages of one plug arrive merged in one request and leave in one message.
 *
 * Invariants:
 *  - Non-rotational and not synchronous: a synchronous swap device gets one
 *    page per round trip in reclaim.
 *  - A request is whole, aligned pages, at most NSWAP_REQ_SLOTS of them; the
 *    block layer splits what is larger.
 *  - Every request of a device that is dying fails.
 *  - Slot 0 holds the swap header and never leaves this node's RAM.
 */
#include <linux/blkdev.h>
#include <linux/highmem.h>

#include "base/log.h"
#include "client/free.h"
#include "client/pagein.h"
#include "client/pageout.h"
#include "client/pageout_limit.h"
#include "client/pageout_oom.h"
#include "client/park.h"
#include "client/request_queue.h"
#include "client/row.h"
#include "client/write_cache.h"
#include "client/write_cache_read.h"
#include "core/client_state.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "disk.h"
#include "peers/parked.h"
#include "peers/session.h"
#include "placing.h"

#define DISCARD_SECTORS	(1u << 21)	/* 1 GiB per discard */

static int major;

static bool take_pages(struct nswap_io *io, struct request *rq)
{
	u32 slot = blk_rq_pos(rq) / NSWAP_SECTORS_PER_SLOT;
	struct req_iterator iter;
	struct bio_vec bv;
	unsigned int n = 0;

	rq_for_each_segment(bv, rq, iter) {
		if (bv.bv_offset || bv.bv_len != PAGE_SIZE ||
		    n == NSWAP_REQ_SLOTS)
			return false;
		io->slot[n] = slot + n;
		io->outer[n] = slot + n;
		io->page[n++] = bv.bv_page;
	}
	io->nr = n;
	return n;
}

static void disk_discard(struct nswap_device *dev, struct request *rq)
{
	u64 slot = blk_rq_pos(rq) / NSWAP_SECTORS_PER_SLOT;
	u64 end = slot + blk_rq_sectors(rq) / NSWAP_SECTORS_PER_SLOT, next;

	if (dev->write_cache)
		nswap_cached_discard(dev, max(slot, 1ull), end);
	if (!slot) {
		spin_lock(&dev->header_lock);
		clear_highpage(dev->header);
		spin_unlock(&dev->header_lock);
	}
	for (slot = nswap_slot_map_next(&dev->map, max(slot, 1ull)); slot < end; slot = next) {
		nswap_parity_free(dev, slot);
		next = nswap_slot_map_next(&dev->map, slot + 1);
		if (next % NSWAP_SLOT_CHUNK == 0 || next >= end)
			nswap_slot_tidy(dev, slot);
	}
}

/*
 * An I/O scheduler may have any task dispatch any other's requests: then none waits.
 * @last: the dispatcher has no other request of this queue.
 */
static void disk_write(struct nswap_device *dev, struct nswap_io *io, bool last)
{
	nswap_pageout_limit_take(io);
	nswap_request_submit(io);
	if (!last || dev->disk->queue->elevator)
		return;
	nswap_session_push(dev->node);
	nswap_pageout_limit_wait(dev);
}

/* its write cache, if it has one, takes part: true if nothing else is to be done */
static bool disk_cached(struct nswap_io *io, const struct request *rq)
{
	io->served = 0;
	io->filling = 0;
	io->passing = 0;
	if (!io->dev->write_cache)
		return false;
	if (io->write)
		return nswap_cached_write(io, !(rq->cmd_flags & REQ_FUA));
	return (rq->cmd_flags & NSWAP_REQ_BELOW) != NSWAP_REQ_BELOW && nswap_cached_read(io);
}

/* @last: the dispatcher has no other request of this queue */
static blk_status_t disk_take(struct nswap_device *dev, struct request *rq, bool last)
{
	struct nswap_io *io = blk_mq_rq_to_pdu(rq);

	if (!take_pages(io, rq)) {
		nswap_warn(dev->node, "%s: refused a request that is not whole, aligned pages; only swap and programs that read and write 4 KiB can use it",
			   dev->disk->disk_name);
		return BLK_STS_IOERR;
	}
	io->dev = dev;
	io->ops = NULL;
	io->over = NULL;
	io->written = NULL;
	io->write = req_op(rq) == REQ_OP_WRITE;
	io->step = io->write ? nswap_pageout :
			       nswap_pagein;
	io->ahead = (rq->cmd_flags & NSWAP_REQ_AHEAD) ==
		    NSWAP_REQ_AHEAD;
	io->resumed = !io->write && nswap_park_resumed(io, rq->bio);
	if (io->ahead)
		rq->rq_flags |= RQF_QUIET;
	else if (dev->home && time_before(READ_ONCE(dev->used), jiffies))
		WRITE_ONCE(dev->used, jiffies);
	io->bounced = 0;
	io->more = !last;
	if (disk_cached(io, rq))
		blk_mq_end_request(rq, BLK_STS_OK);
	else if (io->write)
		disk_write(dev, io, last);
	else
		nswap_request_submit(io);
	return BLK_STS_OK;
}

/* only a device that has early page-outs says it has a cache, and gets flushes */
static void disk_flush(struct nswap_device *dev, struct request *rq)
{
	struct nswap_io *io = blk_mq_rq_to_pdu(rq);

	io->dev = dev;
	if (!dev->write_cache || nswap_cached_flush(io))
		blk_mq_end_request(rq, BLK_STS_OK);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx,
			     const struct blk_mq_queue_data *bd)
{
	struct nswap_device *dev = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	blk_status_t ret = BLK_STS_OK;

	blk_mq_start_request(rq);
	if (READ_ONCE(dev->dying)) {
		ret = BLK_STS_IOERR;
	} else if (req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE) {
		ret = disk_take(dev, rq, bd->last);
	} else if (req_op(rq) == REQ_OP_DISCARD) {
		disk_discard(dev, rq);
		blk_mq_end_request(rq, BLK_STS_OK);
	} else if (req_op(rq) == REQ_OP_FLUSH) {
		disk_flush(dev, rq);
	} else {
		ret = BLK_STS_NOTSUPP;
	}
	if (bd->last)
		nswap_session_push(dev->node);
	return ret;
}

/* the dispatcher has no more for now, though it has said so */
static void commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct nswap_device *dev = hctx->queue->queuedata;

	nswap_session_push(dev->node);
}

/* requests have their own timeouts; the block layer's is ignored */
static enum blk_eh_timer_return disk_timeout(struct request *rq)
{
	return BLK_EH_RESET_TIMER;
}

/* separate queues: page-outs that wait for room must not use up page-ins' tags */
static void map_queues(struct blk_mq_tag_set *set)
{
	struct blk_mq_queue_map *map = set->map;

	map[HCTX_TYPE_DEFAULT].nr_queues = 1;
	map[HCTX_TYPE_DEFAULT].queue_offset = 0;
	map[HCTX_TYPE_READ].nr_queues = 1;
	map[HCTX_TYPE_READ].queue_offset = 1;
	blk_mq_map_queues(&map[HCTX_TYPE_DEFAULT]);
	blk_mq_map_queues(&map[HCTX_TYPE_READ]);
}

static const struct blk_mq_ops mq_ops = {
	.map_queues = map_queues,
	.queue_rq = queue_rq,
	.commit_rqs = commit_rqs,
	.timeout = disk_timeout,
};

#ifndef NSWAP_COMPAT_CANNOT_HEAR_SLOT_FREE
/* called under a spinlock of the swap core, perhaps with interrupts off */
static void slot_free_notify(struct block_device *bdev, unsigned long slot)
{
	struct nswap_device *dev = READ_ONCE(bdev->bd_disk->private_data);

	if (!dev || !slot || slot >= dev->map.nr)
		return;
	if (dev->write_cache)
		nswap_cached_free(dev, slot);
	nswap_parity_free(dev, slot);
}
#endif

static const struct block_device_operations fops = {
	.owner = THIS_MODULE,
	.ioctl = nswap_device_ioctl,
	.compat_ioctl = blkdev_compat_ptr_ioctl,
#ifndef NSWAP_COMPAT_CANNOT_HEAR_SLOT_FREE
	.swap_slot_free_notify = slot_free_notify,
#endif
};

static int disk_alloc_tags(struct nswap_device *dev)
{
	dev->tags.ops = &mq_ops;
	dev->tags.nr_hw_queues = 2;
	dev->tags.nr_maps = HCTX_TYPE_READ + 1;
	dev->tags.queue_depth = NSWAP_TAGS;
	dev->tags.numa_node = NUMA_NO_NODE;
	dev->tags.cmd_size = sizeof(struct nswap_io);
	dev->tags.flags = BLK_MQ_F_BLOCKING | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	dev->tags.timeout = 600 * HZ;
	return blk_mq_alloc_tag_set(&dev->tags);
}

/*
 * Add the disk of a device. Returns 0, or the block layer's error, then without a
 * disk.
 */
int nswap_device_make_disk(struct nswap_device *dev)
{
	struct queue_limits lim = {
		.logical_block_size = PAGE_SIZE,
		.physical_block_size = PAGE_SIZE,
		.io_min = PAGE_SIZE,
		.max_hw_sectors = NSWAP_REQ_SLOTS * NSWAP_SECTORS_PER_SLOT,
		.max_segments = NSWAP_REQ_SLOTS,
		.max_segment_size = PAGE_SIZE * NSWAP_REQ_SLOTS,
		.dma_alignment = PAGE_SIZE - 1,
		.max_hw_discard_sectors = DISCARD_SECTORS,
		.discard_granularity = PAGE_SIZE,
		/*
		 * A page that changed while it was written would spoil the check of
		 * its group (row.c). Parity can be turned on when the swap core has
		 * looked already; a home or flash with checksums needs it, too.
		 */
		.features = BLK_FEAT_STABLE_WRITES | (nswap_pageouts_early(dev) ?
			    BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA : 0),
	};
	struct gendisk *disk;
	int ret;

	nswap_pageout_limit_init(dev);
	ret = disk_alloc_tags(dev);
	if (ret)
		return ret;
	disk = blk_mq_alloc_disk(&dev->tags, &lim, dev);
	if (IS_ERR(disk)) {
		blk_mq_free_tag_set(&dev->tags);
		return PTR_ERR(disk);
	}
	dev->disk = disk;
	if (dev->parity)
		dev->parity->cells->disk = disk;
	/* a page-in that waits for a silent peer must not throttle page-outs */
	blk_queue_flag_set(QUEUE_FLAG_DISABLE_WBT_DEF, disk->queue);
	disk->major = major;
	disk->first_minor = dev->number;
	disk->minors = 1;
	disk->fops = &fops;
	disk->private_data = dev;
	disk->flags |= GENHD_FL_NO_PART;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "nswap%d",
		 dev->number);
	set_capacity(disk, dev->map.nr * NSWAP_SECTORS_PER_SLOT);
	ret = add_disk(disk);
	if (ret) {
		put_disk(disk);
		blk_mq_free_tag_set(&dev->tags);
		return ret;
	}
	nswap_pageout_oom_watch(dev);
	return 0;
}

/*
 * Undo nswap_device_make_disk(); process, sleeps until all requests have ended. Behind the next
 * grace period no task finds the device by its disk, which others may have open.
 */
void nswap_device_end_disk(struct nswap_device *dev)
{
	nswap_pageout_oom_unwatch(dev);
	nswap_parked_forget(dev);
	nswap_pageout_limit_end(dev);
	flush_work(&dev->node->client->unpark);
	del_gendisk(dev->disk);
	WRITE_ONCE(dev->disk->private_data, NULL);
	put_disk(dev->disk);
	blk_mq_free_tag_set(&dev->tags);
}

/*
 * Does a block device belong to this module, on any node? @bdev: open block device.
 */
bool nswap_device_is_one(const struct block_device *bdev)
{
	return bdev->bd_disk->major == major;
}

int nswap_device_init(void)
{
	int ret = nswap_pageout_oom_init();

	if (ret)
		return ret;
	major = register_blkdev(0, "nswap");
	if (major >= 0)
		return 0;
	nswap_pageout_oom_exit();
	return major;
}

void nswap_device_exit(void)
{
	unregister_blkdev(major, "nswap");
	nswap_pageout_oom_exit();
}
