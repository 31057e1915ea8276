// SPDX-License-Identifier: GPL-2.0
/*
 * Device: /dev/nswapN, good for mkswap and swapon.
 *
 * blk-mq, because requests and all that belongs to them are then allocated
 * with the device, and adjacent pages of one plug arrive merged in one request
 * and leave in one message.
 *
 * Invariants:
 *  - Non-rotational and not synchronous: a synchronous swap device gets one
 *    page per round trip in reclaim.
 *  - A request is whole, aligned pages, at most NSWAP_REQ_SLOTS of them; the
 *    block layer splits what is larger.
 *  - A device goes only when nobody has it open; until its disk is gone,
 *    whoever opens it nevertheless gets errors, not pages.
 *  - Slot 0 holds the swap header and never leaves this node's RAM.
 *  - A home is opened before its device is there, and closed after its last
 *    request has ended, and the last page a server brought back is written.
 *  - A home or flash that does not answer keeps its device from going, and
 *    nothing else: a device leaves the node's list under its control lock, and
 *    is waited for without. Until then the node stays (its @leaving_devices).
 *
 * Lock order: node->control -> devices_lock -> disk->open_mutex.
 */
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "client.h"
#include "device.h"
#include "home_out.h"
#include "inject.h"
#include "log.h"
#include "meter.h"
#include "node.h"
#include "peer.h"
#include "place.h"
#include "prefetcher.h"
#include "returned.h"
#include "tier.h"

#define QUEUE_DEPTH	128	/* page-outs, and as many page-ins */
#define DISCARD_SECTORS	(1u << 21)	/* 1 GiB at once */
#define MAX_SLOTS	(1ull << 28)	/* what the slot map has bits for */
#define FORGET_WAIT	(2 * HZ)
#define CONNECT_WAIT	(2 * HZ)

static int major;
static DEFINE_IDA(numbers);
static DEFINE_MUTEX(devices_lock);
static unsigned int nr_devices;
static struct nswap_device *devices[NSWAP_MAX_DEVICES];

static bool take_pages(struct nswap_io *io, struct request *rq)
{
	struct req_iterator iter;
	struct bio_vec bv;
	unsigned int n = 0;

	rq_for_each_segment(bv, rq, iter) {
		if (bv.bv_offset || bv.bv_len != PAGE_SIZE ||
		    n == NSWAP_REQ_SLOTS)
			return false;
		io->page[n++] = bv.bv_page;
	}
	io->nr = n;
	return n;
}

static void discard(struct nswap_device *dev, struct request *rq)
{
	u64 slot = blk_rq_pos(rq) / NSWAP_SECTORS_PER_SLOT;
	u64 end = slot + blk_rq_sectors(rq) / NSWAP_SECTORS_PER_SLOT;

	if (!slot) {
		spin_lock(&dev->header_lock);
		clear_highpage(dev->header);
		spin_unlock(&dev->header_lock);
	}
	for (slot = max(slot, 1ull); slot < end; slot++)
		nswap_free_slot(dev, slot);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx,
			     const struct blk_mq_queue_data *bd)
{
	struct nswap_device *dev = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct nswap_io *io = blk_mq_rq_to_pdu(rq);

	blk_mq_start_request(rq);
	if (READ_ONCE(dev->dying))
		return BLK_STS_IOERR;
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		if (!take_pages(io, rq)) {
			nswap_warn(dev->node, "%s: a request that is not whole, aligned pages",
				   dev->disk->disk_name);
			return BLK_STS_IOERR;
		}
		io->dev = dev;
		io->slot = blk_rq_pos(rq) / NSWAP_SECTORS_PER_SLOT;
		io->write = req_op(rq) == REQ_OP_WRITE;
		io->ahead = (rq->cmd_flags & NSWAP_REQ_AHEAD) ==
			    NSWAP_REQ_AHEAD;
		if (io->ahead)
			rq->rq_flags |= RQF_QUIET;
		else if (dev->home && time_before(READ_ONCE(dev->used), jiffies))
			WRITE_ONCE(dev->used, jiffies);
		nswap_client_submit(io);
		return BLK_STS_OK;
	case REQ_OP_DISCARD:
		discard(dev, rq);
		blk_mq_end_request(rq, BLK_STS_OK);
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

/* requests have their own time-outs; the block layer's is only a reminder */
static enum blk_eh_timer_return timeout(struct request *rq)
{
	return BLK_EH_RESET_TIMER;
}

/* page-outs that wait for room must not take the tags page-ins need */
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
	.timeout = timeout,
};

#ifndef NSWAP_COMPAT_CANNOT_HEAR_SLOT_FREE
/* under a spinlock of the swap core, perhaps with interrupts off */
static void slot_free_notify(struct block_device *bdev, unsigned long slot)
{
	struct nswap_device *dev = bdev->bd_disk->private_data;

	if (slot && slot < dev->map.nr)
		nswap_free_slot(dev, slot);
}
#endif

static const struct block_device_operations fops = {
	.owner = THIS_MODULE,
#ifndef NSWAP_COMPAT_CANNOT_HEAR_SLOT_FREE
	.swap_slot_free_notify = slot_free_notify,
#endif
};

/* is it the same page, which can still be had? */
static bool lives_on(const struct nswap_slot *was, const struct nswap_slot *to)
{
	return was->gen == to->gen && to->state != NSWAP_SLOT_EMPTY &&
	       to->state != NSWAP_SLOT_FREEING;
}

/**
 * nswap_device_slot_move() - nswap_slot_move() and count the states
 * @dev: device
 * @slot: slot
 * @old: the word the decision was made on
 * @to: the new entry
 *
 * A flash slot that the new entry has not got any more is put back.
 *
 * Context: any; does not sleep, on the page-out path.
 * Return: as nswap_slot_move().
 */
bool nswap_device_slot_move(struct nswap_device *dev, u64 slot, u64 old,
			    const struct nswap_slot *to)
{
	struct nswap_slot was = nswap_slot_unpack(old);
	u8 from = was.state;

	if (!nswap_slot_move(&dev->map, slot, old, to))
		return false;
	nswap_inject_count(from, to->state);
	if (was.flash && was.flash != to->flash) {
		if (lives_on(&was, to))
			nswap_flash_unlinked(dev->flash, was.flash);
		nswap_flash_put(dev->flash, was.flash);
	}
	if (from != to->state) {
		if (from != NSWAP_SLOT_EMPTY)
			atomic64_dec(&dev->count[from]);
		if (to->state != NSWAP_SLOT_EMPTY)
			atomic64_inc(&dev->count[to->state]);
		/* from now on it is another page's */
		if (to->state == NSWAP_SLOT_WRITING)
			nswap_home_out_tag(dev, slot, 0);
	}
	return true;
}

/**
 * nswap_device_find() - the device of an instance
 * @node: node
 * @instance: as on the wire
 *
 * Context: inside rcu_read_lock(), which keeps the device.
 * Return: device, or NULL.
 */
struct nswap_device *nswap_device_find(struct nswap_node *node, u32 instance)
{
	struct nswap_device *dev;

	list_for_each_entry_rcu(dev, &node->devices, link)
		if (dev->instance == instance)
			return dev;
	return NULL;
}

/**
 * nswap_device_complain() - a read or write of home or flash has failed
 * @dev: device
 * @h: it
 * @then: what that means for its page
 *
 * Says so once in a while, not once a page.
 *
 * Context: process; does not sleep, on the page-out path.
 */
void nswap_device_complain(struct nswap_device *dev,
			   const struct nswap_home_io *h, const char *then)
{
	struct nswap_home *home = h->home;

	if (__ratelimit(&home->errors))
		pr_warn("node %u: %s: %s %s: %s sector %llu failed, %s\n",
			dev->node->number, dev->disk->disk_name, home->what,
			home->name, h->write ? "writing" : "reading",
			h->slot * NSWAP_SECTORS_PER_SLOT, then);
}

static void free_device(struct nswap_device *dev)
{
	nswap_home_out_end(dev);
	if (dev->home)
		nswap_home_close(dev->home);
	nswap_prefetcher_free(dev);
	if (dev->flash)
		nswap_flash_close(dev->flash);
	nswap_slot_map_exit(&dev->map);
	nswap_return_exit(dev);
	vfree(dev->returning);
	vfree(dev->dirty);
	if (dev->header)
		__free_page(dev->header);
	if (dev->number >= 0)
		ida_free(&numbers, dev->number);
	kfree(dev);
}

/* what moves out need, and marks of pages that are brought back */
static int init_for_home(struct nswap_device *dev, u64 slots)
{
	dev->returning = vzalloc(BITS_TO_LONGS(slots) * sizeof(long));
	dev->home_out = nswap_home_out_make(dev);
	return dev->returning && dev->home_out ? 0 : -ENOMEM;
}

/* what lies behind a device that is wanted */
struct backing {
	u64 bytes;
	struct nswap_home *home;
	struct nswap_flash *flash;
};

/* @b stays the caller's if this fails */
static struct nswap_device *alloc_device(struct nswap_node *node,
					 const struct backing *b)
{
	u64 slots = b->bytes / PAGE_SIZE;
	struct nswap_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	dev->node = node;
	spin_lock_init(&dev->header_lock);
	dev->number = ida_alloc_max(&numbers, NSWAP_MAX_DEVICES - 1, GFP_KERNEL);
	dev->header = alloc_page(GFP_KERNEL | __GFP_ZERO);
	dev->dirty = vzalloc(BITS_TO_LONGS(slots) * sizeof(long));
	if (dev->number < 0 || !dev->header || !dev->dirty ||
	    nswap_slot_map_init(&dev->map, slots) ||
	    (b->home && init_for_home(dev, slots)) ||
	    ((b->home || b->flash) && nswap_return_init(dev))) {
		free_device(dev);
		return NULL;
	}
	dev->home = b->home;
	dev->flash = b->flash;
	dev->used = jiffies;
	return dev;
}

static int make_disk(struct nswap_device *dev)
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
	};
	struct gendisk *disk;
	int ret;

	/* a block device with checksums must not see a page change under it */
	if ((dev->home && bdev_stable_writes(dev->home->bdev)) ||
	    (dev->flash && nswap_flash_stable_writes(dev->flash)))
		lim.features |= BLK_FEAT_STABLE_WRITES;
	dev->tags.ops = &mq_ops;
	dev->tags.nr_hw_queues = 2;
	dev->tags.nr_maps = HCTX_TYPE_READ + 1;
	dev->tags.queue_depth = QUEUE_DEPTH;
	dev->tags.numa_node = NUMA_NO_NODE;
	dev->tags.cmd_size = sizeof(struct nswap_io);
	dev->tags.flags = BLK_MQ_F_BLOCKING | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	dev->tags.timeout = 600 * HZ;
	ret = blk_mq_alloc_tag_set(&dev->tags);
	if (ret)
		return ret;
	disk = blk_mq_alloc_disk(&dev->tags, &lim, dev);
	if (IS_ERR(disk)) {
		blk_mq_free_tag_set(&dev->tags);
		return PTR_ERR(disk);
	}
	dev->disk = disk;
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
	}
	return ret;
}

static void fill_view(struct nswap_device *dev, struct nswap_device_view *v)
{
	unsigned int tier;

	memset(v, 0, sizeof(*v));
	strscpy(v->name, dev->disk->disk_name, sizeof(v->name));
	v->instance = dev->instance;
	v->slots = dev->map.nr;
	v->map_bytes = nswap_slot_map_bytes(dev->map.nr);
	v->lost = atomic64_read(&dev->count[NSWAP_SLOT_LOST]);
	for (tier = 0; tier < NSWAP_TIERS; tier++)
		nswap_tier_look(dev, tier, &v->tier[tier]);
	v->in_use = disk_openers(dev->disk);
}

static int check_size(u64 bytes, struct netlink_ext_ack *ext)
{
	if (!bytes) {
		NL_SET_ERR_MSG(ext, "a device of size 0 holds nothing: give a size such as 4G");
		return -EINVAL;
	}
	if (bytes % PAGE_SIZE) {
		NL_SET_ERR_MSG(ext, "the size must be a multiple of the page size, 4096 bytes");
		return -EINVAL;
	}
	if (bytes / PAGE_SIZE < 10) {
		NL_SET_ERR_MSG(ext, "the size must be at least 40 KiB, less cannot be swapped on");
		return -EINVAL;
	}
	if (bytes / PAGE_SIZE > MAX_SLOTS) {
		NL_SET_ERR_MSG(ext, "the size must be at most 1 TiB, the slot map has no bits for more: add several devices");
		return -EINVAL;
	}
	return 0;
}

static int check_backing(const char *what, const struct nswap_home *home,
			 struct netlink_ext_ack *ext)
{
	if (home->bdev->bd_disk->major != major)
		return 0;
	NL_SET_ERR_MSG_FMT(ext, "an nswap device cannot be the %s of another",
			   what);
	return -EINVAL;
}

static int open_flash(const struct nswap_device_config *cfg,
		      struct nswap_flash **flash, struct netlink_ext_ack *ext)
{
	unsigned int i;
	int ret = 0;

	*flash = nswap_flash_open(cfg->flash, cfg->nr_flash, ext);
	if (IS_ERR(*flash)) {
		ret = PTR_ERR(*flash);
		*flash = NULL;
		return ret;
	}
	for (i = 0; i < (*flash)->nr && !ret; i++)
		ret = check_backing("flash", (*flash)->dev[i].block, ext);
	return ret;
}

static int open_home(const char *path, struct nswap_home **home,
		     struct netlink_ext_ack *ext)
{
	*home = nswap_home_open(path, "home", ext);
	if (IS_ERR(*home)) {
		int ret = PTR_ERR(*home);

		*home = NULL;
		return ret;
	}
	return check_backing("home", *home, ext);
}

static void close_backing(struct backing *b)
{
	if (b->home)
		nswap_home_close(b->home);
	if (b->flash)
		nswap_flash_close(b->flash);
}

static int open_backing(const struct nswap_device_config *cfg,
			struct backing *b, struct netlink_ext_ack *ext)
{
	int ret = 0;

	*b = (struct backing){ .bytes = cfg->bytes };
	if ((cfg->home || cfg->nr_flash) && !capable(CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(ext, "a home or flash needs CAP_SYS_ADMIN as well");
		return -EPERM;
	}
	if (cfg->home)
		ret = open_home(cfg->home, &b->home, ext);
	if (!ret && cfg->nr_flash)
		ret = open_flash(cfg, &b->flash, ext);
	if (!ret && !cfg->sized)
		b->bytes = b->home->slots << NSWAP_SLOT_SHIFT;
	if (!ret)
		ret = check_size(b->bytes, ext);
	if (!ret && b->home && b->bytes >> NSWAP_SLOT_SHIFT > b->home->slots) {
		NL_SET_ERR_MSG(ext, "the size is larger than the home: leave --size out, or make it smaller");
		ret = -EINVAL;
	}
	if (ret)
		close_backing(b);
	return ret;
}

static bool connecting(struct nswap_node *node)
{
	struct nswap_peer *peer;
	bool any = false;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		u8 state = READ_ONCE(peer->state);

		any = any || (state == NSWAP_PEER_CONNECTING && peer->id);
		nswap_peer_put(peer);
	}
	return any;
}

/* a device that is swapped on at once should find its peers */
static void wait_for_sessions(struct nswap_node *node)
{
	unsigned long until = jiffies + CONNECT_WAIT;

	while (connecting(node) && time_before(jiffies, until) &&
	       !fatal_signal_pending(current))
		schedule_timeout_killable(HZ / 50);
}

/**
 * nswap_device_add() - add a device to a node
 * @node: node
 * @cfg: what it is to be
 * @v: result
 * @ext: for one clear sentence
 *
 * Waits for the sessions with the peers heard of, but not for long.
 *
 * Context: process, sleeps; allocates 8 bytes and a bit a slot, two with a home.
 * Return: 0, -EINVAL, -ENOMEM, -ESHUTDOWN, -EPERM, what nswap_home_open()
 * returns.
 */
int nswap_device_add(struct nswap_node *node,
		     const struct nswap_device_config *cfg,
		     struct nswap_device_view *v, struct netlink_ext_ack *ext)
{
	struct nswap_device *dev;
	struct backing b;
	int ret = open_backing(cfg, &b, ext);

	if (ret)
		return ret;
	mutex_lock(&node->control);
	if (node->going) {
		NL_SET_ERR_MSG(ext, "the node is going down");
		ret = -ESHUTDOWN;
		goto close;
	}
	dev = alloc_device(node, &b);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "not enough memory for the slot map, 2 MiB per GiB of device, or 256 devices are there already");
		ret = -ENOMEM;
		goto close;
	}
	dev->instance = ++node->last_instance;
	list_add_tail_rcu(&dev->link, &node->devices);
	WRITE_ONCE(node->client->sessions_wanted, true);
	nswap_peers_start(node);
	nswap_client_tick_now(node);
	ret = nswap_prefetcher_alloc(dev) ?: make_disk(dev);
	if (ret) {
		NL_SET_ERR_MSG(ext, "no memory, or the block layer refused the device");
		list_del_rcu(&dev->link);
		synchronize_rcu();
		nswap_return_wait(dev);
		free_device(dev);
		goto out;
	}
	mutex_lock(&devices_lock);
	devices[dev->number] = dev;
	nr_devices++;
	mutex_unlock(&devices_lock);
	nswap_profile_start(node);
	if (dev->home && dev->home->loop)
		nswap_warn(node, "%s: its home %s is a loop device, which allocates memory while it is written to: good for tests only",
			   dev->disk->disk_name, dev->home->name);
	nswap_prefetcher_start(dev);
	wait_for_sessions(node);
	fill_view(dev, v);
out:
	mutex_unlock(&node->control);
	return ret;
close:
	mutex_unlock(&node->control);
	close_backing(&b);
	return ret;
}

static void forget_slots(struct nswap_device *dev)
{
	struct nswap_slot s;
	u64 slot;

	for (slot = 0; slot < dev->map.nr; slot++) {
		s = nswap_slot_unpack(nswap_slot_read(&dev->map, slot));
		if (s.peer)
			nswap_peer_slots(dev->node, s.peer, -1);
		if (!(slot % 65536))
			cond_resched();
	}
}

/* peers without a session find out when it is back, by comparison */
static void tell_peers(struct nswap_device *dev)
{
	unsigned long until = jiffies + FORGET_WAIT;
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		struct nswap_ctl *c = &peer->forget;

		if (READ_ONCE(peer->state) != NSWAP_PEER_UP ||
		    !nswap_ctl_claim(c)) {
			nswap_reconcile_soon(peer);
		} else {
			c->m.hdr.instance = cpu_to_le32(dev->instance);
			nswap_ctl_send(c, NSWAP_FREE_DEVICE, 0);
		}
		nswap_peer_put(peer);
	}
	nswap_for_each_peer(dev->node, i, peer) {
		long left = until - jiffies;

		if (left > 0)
			wait_event_timeout(peer->wait,
					   !test_bit(0, &peer->forget.busy),
					   left);
		nswap_peer_put(peer);
	}
}

/* true: nobody has it open and from now on nobody can use it */
static bool claim_unused(struct nswap_device *dev)
{
	bool unused;

	mutex_lock(&dev->disk->open_mutex);
	unused = !disk_openers(dev->disk);
	if (unused)
		WRITE_ONCE(dev->dying, true);
	mutex_unlock(&dev->disk->open_mutex);
	return unused;
}

/**
 * nswap_device_named() - the device of a name
 * @node: node; its control lock is held
 * @name: as in /dev
 *
 * Context: process.
 * Return: device, or NULL.
 */
struct nswap_device *nswap_device_named(struct nswap_node *node,
					const char *name)
{
	struct nswap_device *dev;

	list_for_each_entry(dev, &node->devices, link)
		if (!strcmp(dev->disk->disk_name, name))
			return dev;
	return NULL;
}

/* from now on nobody finds it, and its node stays */
static struct nswap_device *take_out(struct nswap_node *node, const char *name,
				     struct netlink_ext_ack *ext)
{
	struct nswap_device *dev;

	mutex_lock(&node->control);
	dev = nswap_device_named(node, name);
	if (!dev) {
		NL_SET_ERR_MSG(ext, "this node has no such device, see: nswapctl device list");
		dev = ERR_PTR(-ENODEV);
		goto out;
	}
	if (!claim_unused(dev)) {
		NL_SET_ERR_MSG(ext, "the device is in use: swapoff or unmount it first");
		dev = ERR_PTR(-EBUSY);
		goto out;
	}
	mutex_lock(&devices_lock);
	devices[dev->number] = NULL;
	nr_devices--;
	mutex_unlock(&devices_lock);
	list_del_rcu(&dev->link);
	node->leaving_devices++;
out:
	mutex_unlock(&node->control);
	return dev;
}

/**
 * nswap_device_del() - remove a device, its peers free its pages
 * @node: node
 * @name: as in /dev
 * @ext: for one clear sentence
 *
 * Context: process, sleeps; waits for home and flash to end what was begun, and
 * at most 2 s for the peers.
 * Return: 0, -ENODEV, -EBUSY.
 */
int nswap_device_del(struct nswap_node *node, const char *name,
		     struct netlink_ext_ack *ext)
{
	struct nswap_device *dev = take_out(node, name, ext);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	nswap_prefetcher_stop(dev);
	del_gendisk(dev->disk);
	put_disk(dev->disk);
	blk_mq_free_tag_set(&dev->tags);
	synchronize_rcu();
	nswap_return_wait(dev);
	nswap_home_out_end(dev);
	forget_slots(dev);
	tell_peers(dev);
	free_device(dev);
	mutex_lock(&node->control);
	node->leaving_devices--;
	mutex_unlock(&node->control);
	return 0;
}

/**
 * nswap_device_next() - a snapshot of the next device
 * @node: node
 * @after_instance: 0 at first
 * @v: result
 *
 * Context: process, sleeps.
 * Return: true if there is one.
 */
bool nswap_device_next(struct nswap_node *node, u32 after_instance,
		       struct nswap_device_view *v)
{
	struct nswap_device *dev;
	bool found = false;

	mutex_lock(&node->control);
	list_for_each_entry(dev, &node->devices, link) {
		if (dev->instance <= after_instance)
			continue;
		fill_view(dev, v);
		found = true;
		break;
	}
	mutex_unlock(&node->control);
	return found;
}

/**
 * nswap_device_any_open() - is any device of any node in use?
 *
 * Context: process, sleeps.
 * Return: true if one is open or swapped on.
 */
bool nswap_device_any_open(void)
{
	bool open = false;
	int i;

	mutex_lock(&devices_lock);
	for (i = 0; nr_devices && i < NSWAP_MAX_DEVICES; i++)
		open = open || (devices[i] && disk_openers(devices[i]->disk));
	mutex_unlock(&devices_lock);
	return open;
}

/**
 * nswap_device_init() - get a block major
 *
 * Context: process, module init.
 * Return: 0, or the block layer's error.
 */
int nswap_device_init(void)
{
	major = register_blkdev(0, "nswap");
	return major < 0 ? major : 0;
}

/**
 * nswap_device_exit() - undo nswap_device_init()
 *
 * Context: process, module exit.
 */
void nswap_device_exit(void)
{
	unregister_blkdev(major, "nswap");
}
