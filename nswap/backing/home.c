// SPDX-License-Identifier: GPL-2.0
/*
 * Home: reads and writes of the backing partition or disk, by dm-io; flash
 * devices are read and written by it as well, at offsets of their own.
 *
 *   submit -> todo -> (start work) dm_io -> completion -> done -> (ended work)
 *          \---------------------> dm_io /            \-> ended there
 *
 * Invariants:
 *  - Submitting never waits. dm-io may: it has a reserve of a few bios, and a
 *    device below may be out of requests. So it is called by a work item on a
 *    queue of the home's own, with a rescuer, one at a time.
 *  - Fast path of reads: a task that submits its own page-in (@own) inside the block
 *    layer's submit calls dm-io itself, if current->bio_list is empty and no plug
 *    is active. The bio is then only put on that list and goes next, before the
 *    task does anything else. For another task's request that does not hold: a
 *    task that waits for a tag runs the queue and then sleeps. Few of these are in
 *    flight at a time, over all homes fewer than the fewest requests a queue may
 *    have, and they have a dm-io reserve of their own that is larger by default:
 *    dm-io neither waits nor reclaims. The device below is asked not to wait. It is
 *    not a stacked one, which may wait all the same, and makes no checksums, which
 *    needs memory. I/O that it refuses or fails is started once more by the work
 *    item, so a real error is met twice.
 *    Writes are never started so: measured, that saved no instructions.
 *  - What the start work waits for is freed by completions alone, never by
 *    another work item of this module.
 *  - A completion may run in a hard interrupt: it takes a lock, queues a work
 *    item, and does not touch the home after unlocking. Nor does the submitter.
 *    A success is ended in that context if its owner allows it.
 *  - A slot is kept at its own offset; two writes of one slot are never in
 *    flight together (the slot map guarantees it).
 *  - Page-ins are started before page-outs, but only a limited number of them:
 *    constant reads must not delay page-outs, which free memory.
 *
 * Lock order: none is taken inside @lock but the work queue's own.
 */
#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/major.h>
#include <linux/part_stat.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/timestamp.h"
#include "base/workqueues.h"
#include "home.h"

#define LOG_EVERY	(5 * HZ)
#define WELL_AFTER	(10 * HZ)	/* without a failure */
#define OVERTAKE	16	/* page-ins that may pass a waiting page-out */
#define DIRECT		3	/* below BLKDEV_MIN_RQ and a client's reserve */

/* direct reads in flight, over all homes */
static atomic_t nr_direct;

/* leave it to the start work */
static void start_later(struct nswap_home_io *h)
{
	struct nswap_home *home = h->home;
	unsigned long flags;

	h->direct = false;
	spin_lock_irqsave(&home->lock, flags);
	list_add_tail(&h->link, &home->todo[h->write ? WRITE : READ]);
	WRITE_ONCE(home->nr_todo, home->nr_todo + 1);
	/* inside the lock: after it @h may end and the home be closed */
	queue_work(home->wq, &home->start);
	spin_unlock_irqrestore(&home->lock, flags);
}

static void io_done(struct nswap_home_io *h, bool failed)
{
	struct nswap_home *home = h->home;
	unsigned long flags;

	if (h->direct)
		atomic_dec(&nr_direct);
	if (failed && h->direct) {
		start_later(h);
		return;
	}
	h->failed = failed;
	h->done_ns = nswap_stamp();
	if (READ_ONCE(home->watched))
		atomic64_add(h->nr * NSWAP_SECTORS_PER_SLOT, &home->sectors);
	if (failed)
		WRITE_ONCE(home->failed_at, jiffies ?: 1);
	atomic_dec(&home->under_way);
	if (h->anywhere && !failed) {
		/* removal of the device waits for this */
		rcu_read_lock();
		h->end(h);
		rcu_read_unlock();
		return;
	}
	spin_lock_irqsave(&home->lock, flags);
	list_add_tail(&h->link, &home->done);
	/* inside the lock: after it the home may be closed */
	queue_work(nswap_io_wq, &home->ended);
	spin_unlock_irqrestore(&home->lock, flags);
}

#ifdef NSWAP_COMPAT_CANNOT_TELL_UNSUPPORTED
static void home_io_notify(unsigned long error, void *context)
{
	io_done(context, error);
}
#else
static void home_io_notify(unsigned long error, unsigned long unsupported,
			   void *context)
{
	io_done(context, error || unsupported);
}
#endif

static void start_one(struct nswap_home_io *h)
{
	struct nswap_home *home = h->home;
	struct dm_io_region where = {
		.bdev = home->bdev,
		.sector = h->slot * NSWAP_SECTORS_PER_SLOT,
		.count = h->nr * NSWAP_SECTORS_PER_SLOT,
	};
	struct dm_io_request rq = {
		/* a task waits for the memory: not to be throttled */
		.bi_opf = (h->write ? REQ_OP_WRITE | REQ_SYNC | REQ_IDLE :
				      REQ_OP_READ) |
			  (h->direct ? REQ_NOWAIT : 0),
		.mem.type = DM_IO_PAGE_LIST,
		.mem.ptr.pl = h->pages,
		.notify.fn = home_io_notify,
		.notify.context = h,
		.client = h->direct ? home->direct_io : home->io,
	};

	h->started_ns = nswap_stamp();
	if (dm_io(&rq, 1, &where, NULL, NULL, IOPRIO_DEFAULT))
		io_done(h, true);
}

/* is it a page-out's turn? @lock is held */
static bool writes_next(struct nswap_home *home)
{
	bool writes = !list_empty(&home->todo[WRITE]);

	if (!writes || list_empty(&home->todo[READ]) ||
	    home->overtaken == OVERTAKE) {
		home->overtaken = 0;
		return writes;
	}
	home->overtaken++;
	return false;
}

static struct nswap_home_io *next_todo(struct nswap_home *home)
{
	struct nswap_home_io *h;
	struct list_head *todo;

	spin_lock_irq(&home->lock);
	todo = &home->todo[writes_next(home) ? WRITE : READ];
	h = list_first_entry_or_null(todo, struct nswap_home_io, link);
	if (h) {
		list_del_init(&h->link);
		WRITE_ONCE(home->nr_todo, home->nr_todo - 1);
	}
	spin_unlock_irq(&home->lock);
	return h;
}

/* will the next I/O wait for a request? a snapshot */
static bool is_full(const struct nswap_home *home)
{
	struct request_queue *q = bdev_get_queue(home->bdev);

	return queue_is_mq(q) &&
	       atomic_read(&home->under_way) - (int)READ_ONCE(home->nr_todo) >
	       (int)q->nr_requests;
}

static void start_work(struct work_struct *work)
{
	struct nswap_home *home = container_of(work, struct nswap_home, start);
	unsigned int noio = memalloc_noio_save();
	struct nswap_home_io *h = next_todo(home);
	struct blk_plug plug;

	blk_start_plug(&plug);
	while (h) {
		u64 end = h->slot + h->nr;
		bool write = h->write;

		start_one(h);
		h = next_todo(home);
		/* I/O that continues the last one is merged and does not wait */
		if (!h || (h->slot == end && h->write == write) || !is_full(home))
			continue;
		/* a task that sleeps hands its plug to yet another task: flush first */
		blk_finish_plug(&plug);
		blk_start_plug(&plug);
	}
	blk_finish_plug(&plug);
	memalloc_noio_restore(noio);
}

static void ended_work(struct work_struct *work)
{
	struct nswap_home *home = container_of(work, struct nswap_home, ended);
	struct nswap_home_io *h, *next;
	LIST_HEAD(done);

	spin_lock_irq(&home->lock);
	list_splice_init(&home->done, &done);
	spin_unlock_irq(&home->lock);
	list_for_each_entry_safe(h, next, &done, link)
		h->end(h);
}

/**
 * nswap_home_set_pages() - set the pages of a read or write
 * @h: the read or write
 * @chain: memory of its chain, at least @nr; the caller's until @h has ended
 * @page: the pages, in order
 * @nr: number of pages, at least 1
 *
 * This clears @own.
 *
 * Context: any; on the page-out path.
 */
void nswap_home_set_pages(struct nswap_home_io *h, struct page_list *chain,
			  struct page *const *page, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		chain[i].page = page[i];
		chain[i].next = i + 1 < nr ? &chain[i + 1] : NULL;
	}
	h->pages = chain;
	h->nr = nr;
	h->own = false;
}

/* will a bio of this task go next, and the device below take it or refuse? */
static bool may_start(const struct nswap_home *home,
		      const struct nswap_home_io *h)
{
	return h->own && home->nowait && current->bio_list &&
	       bio_list_empty(&current->bio_list[0]) && !current->plug &&
	       !bdev_get_integrity(home->bdev);
}

/* reserve one of the few direct starts; io_done() releases it */
static bool take_direct(void)
{
	if (atomic_inc_return(&nr_direct) <= DIRECT)
		return true;
	atomic_dec(&nr_direct);
	return false;
}

/**
 * nswap_home_submit() - start a read or a write
 * @home: home
 * @h: its pages, slots, direction, end, @own and @anywhere are set
 *
 * Context: process, not in rcu_read_lock(); does not wait, on the page-out path.
 */
void nswap_home_submit(struct nswap_home *home, struct nswap_home_io *h)
{
	h->home = home;
	h->direct = atomic_inc_return(&home->under_way) <= DIRECT &&
		    may_start(home, h) && take_direct();
	if (h->direct)
		start_one(h);
	else
		start_later(h);
}

/**
 * nswap_home_look() - what has the disk below a home done so far?
 * @home: home; its own sectors are counted from the first look on
 * @l: result; zeros if the disk keeps no statistics
 *
 * Context: any; does not sleep. Sums over the CPUs.
 */
void nswap_home_look(struct nswap_home *home, struct nswap_home_load *l)
{
	struct block_device *disk = bdev_whole(home->bdev);

	WRITE_ONCE(home->watched, true);
	*l = (struct nswap_home_load){
		.busy_ms = jiffies_to_msecs(part_stat_read(disk, io_ticks)),
		.sectors = part_stat_read(disk, sectors[STAT_READ]) +
			   part_stat_read(disk, sectors[STAT_WRITE]),
		.own = atomic64_read(&home->sectors),
		.writes = part_stat_read(home->bdev, ios[STAT_WRITE]),
		.write_ns = part_stat_read(home->bdev, nsecs[STAT_WRITE]),
	};
}

/* has it not failed lately? any context */
bool nswap_home_well(const struct nswap_home *home)
{
	unsigned long at = READ_ONCE(home->failed_at);

	return !at || time_after(jiffies, at + WELL_AFTER);
}

static void home_refuse(int err, const char *what, struct netlink_ext_ack *ext)
{
	switch (err) {
	case -ENOENT:
		NL_SET_ERR_MSG_FMT(ext, "there is no file of the %s's name",
				   what);
		break;
	case -ENOTBLK:
		NL_SET_ERR_MSG_FMT(ext, "the %s is not a block device", what);
		break;
	case -EBUSY:
		NL_SET_ERR_MSG_FMT(ext, "the %s is in use: mounted, swapped on, or part of another device",
				   what);
		break;
	case -EACCES:
	case -EPERM:
	case -EROFS:
		NL_SET_ERR_MSG_FMT(ext, "the %s cannot be written: it is read-only",
				   what);
		break;
	case -ENXIO:
	case -ENODEV:
	case -ENOMEDIUM:
		NL_SET_ERR_MSG_FMT(ext, "there is no device or no medium behind the %s's name",
				   what);
		break;
	default:
		NL_SET_ERR_MSG_FMT(ext, "the %s cannot be opened, error %d",
				   what, -err);
	}
}

static int check_bdev(struct nswap_home *home, const char *what,
		      struct netlink_ext_ack *ext)
{
	struct block_device *bdev = home->bdev;

	if (bdev_read_only(bdev)) {
		home_refuse(-EROFS, what, ext);
		return -EROFS;
	}
	if (bdev_is_zoned(bdev)) {
		NL_SET_ERR_MSG_FMT(ext, "the %s is a zoned device, which cannot be written at any place",
				   what);
		return -EINVAL;
	}
	if (bdev_logical_block_size(bdev) > PAGE_SIZE) {
		NL_SET_ERR_MSG_FMT(ext, "the %s's blocks are larger than a page, 4096 bytes",
				   what);
		return -EINVAL;
	}
	return 0;
}

/* can reads be started directly, by the submitter? */
static void look_at_queue(struct nswap_home *home)
{
	struct request_queue *q = bdev_get_queue(home->bdev);

	home->nowait = bdev_nowait(home->bdev) && queue_is_mq(q);
}

static int open_bdev(struct nswap_home *home, const char *path,
		     const char *what, struct netlink_ext_ack *ext)
{
	home->file = bdev_file_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
					    home, NULL);
	if (IS_ERR(home->file)) {
		home_refuse(PTR_ERR(home->file), what, ext);
		return PTR_ERR(home->file);
	}
	home->bdev = file_bdev(home->file);
	look_at_queue(home);
	home->slots = bdev_nr_bytes(home->bdev) >> NSWAP_SLOT_SHIFT;
	home->loop = home->bdev->bd_disk->major == LOOP_MAJOR;
	snprintf(home->name, sizeof(home->name), "%pg", home->bdev);
	return 0;
}

/**
 * nswap_home_open() - open a home exclusively
 * @path: of a block device, as the calling process sees it
 * @what: "home" or "flash", for error messages; not copied
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: home, or ERR_PTR: -ENOMEM, -EINVAL, the error of opening it.
 */
struct nswap_home *nswap_home_open(const char *path, const char *what,
				   struct netlink_ext_ack *ext)
{
	struct nswap_home *home = kzalloc(sizeof(*home), GFP_KERNEL);
	int ret;

	if (!home)
		return ERR_PTR(-ENOMEM);
	home->what = what;
	spin_lock_init(&home->lock);
	INIT_LIST_HEAD(&home->todo[READ]);
	INIT_LIST_HEAD(&home->todo[WRITE]);
	INIT_LIST_HEAD(&home->done);
	INIT_WORK(&home->start, start_work);
	INIT_WORK(&home->ended, ended_work);
	ratelimit_state_init(&home->errors, LOG_EVERY, 1);
	ratelimit_set_flags(&home->errors, RATELIMIT_MSG_ON_RELEASE);
	ret = open_bdev(home, path, what, ext);
	if (ret)
		goto free;
	ret = check_bdev(home, what, ext);
	if (ret)
		goto put;
	home->io = dm_io_client_create();
	if (IS_ERR(home->io)) {
		ret = PTR_ERR(home->io);
		goto put;
	}
	home->direct_io = dm_io_client_create();
	if (IS_ERR(home->direct_io)) {
		ret = PTR_ERR(home->direct_io);
		goto destroy;
	}
	home->wq = alloc_workqueue("nswap_home", WQ_MEM_RECLAIM | WQ_UNBOUND |
				   WQ_HIGHPRI, 0);
	if (home->wq)
		return home;
	ret = -ENOMEM;
	dm_io_client_destroy(home->direct_io);
destroy:
	dm_io_client_destroy(home->io);
put:
	bdev_fput(home->file);
free:
	kfree(home);
	return ERR_PTR(ret);
}

void nswap_home_close(struct nswap_home *home)
{
	destroy_workqueue(home->wq);
	cancel_work_sync(&home->ended);
	WARN_ON(!list_empty(&home->done));
	dm_io_client_destroy(home->direct_io);
	dm_io_client_destroy(home->io);
	bdev_fput(home->file);
	kfree(home);
}
