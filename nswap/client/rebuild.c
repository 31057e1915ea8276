// SPDX-License-Identifier: GPL-2.0
/*
 * Rebuilding: a page whose peer is silent, dead or LOST is the sum of the others of its
 * group and their check (rebuild_group.c).
 *
 *   page-in of a lost cell -> its bios wait here, without a tag -> for each page: read
 *   from its peer if that answers by now, else rebuilt -> the bio ends
 *                     ^-- to the end of the queue, if neither is possible now --'
 *
 * Invariants:
 *  - What is in a row does not change until the row is freed, and @use tells one use of a
 *    row from the next: a page that was rebuilt counts if the slot still has the cell and
 *    the row is in the same use afterwards. Otherwise it is begun again.
 *  - The members of a group and its check are taken together, under the buffer's lock
 *    while the check is in the buffer; later they do not change any more.
 *  - A bio fails when its peer is dead, or the page LOST, and with it more of the group
 *    than that has checks. While
 *    they are only silent it waits, at most for twice as long as it takes to declare one
 *    dead: another one may die meanwhile.
 *  - A peer that is late is not waited for, but by half of the tasks, for page-ins that
 *    have been here for a while. So page-ins that can be rebuilt do not wait for those
 *    that cannot.
 *  - Nothing is allocated after nswap_rebuild_init(): page-ins wait for this, and it waits
 *    for peers, on a queue of its own with a rescuer.
 */
#include <linux/bio.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "base/log.h"
#include "core/client_state.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "pagein_copy.h"
#include "peers/parked.h"
#include "peers/peer.h"
#include "rebuild.h"
#include "request_queue.h"
#include "row.h"

#define REBUILD_TASKS	4
#define PATIENT_TASKS	2	/* of them, which may wait for peers that are late */
#define AGAIN		(HZ / 50 ?: 1)	/* when none of those that wait can be read */
#define PATIENT_AFTER	(2 * AGAIN)

/**
 * struct nswap_rebuild_task - rebuilds one page after the other
 * @work: does it
 * @r: whose
 * @patient: it may wait for peers that are late
 * @b: pages of a group
 */
struct nswap_rebuild_task {
	struct work_struct work;
	struct nswap_rebuilder *r;
	bool patient;
	struct nswap_batch b;
};

/**
 * struct nswap_rebuilder - the page-ins of a device that wait for lost pages
 * @parity: whose
 * @lock: protects all up to @vain
 * @bios: they, marked with when they came (parked.h)
 * @nr: how many
 * @vain: that many were tried one after the other, and none could be read
 * @came: changes when there is a new one
 * @wait: for that
 * @stop: those that come fail
 * @wq: where the tasks run
 * @task: the tasks
 */
struct nswap_rebuilder {
	struct nswap_parity *parity;
	spinlock_t lock;
	struct bio_list bios;
	unsigned int nr;
	unsigned int vain;
	unsigned int came;
	wait_queue_head_t wait;
	bool stop;
	struct workqueue_struct *wq;
	struct nswap_rebuild_task task[REBUILD_TASKS];
};

/* is its peer to be asked for a cell? */
static bool rebuild_may_read(struct nswap_parity *p, u32 cell)
{
	struct nswap_slot s = nswap_slot_look(p->cells, cell);

	return nswap_slot_at_peer(&s) ? !nswap_copy_slow(p->dev->node, s.peer) :
					s.state != NSWAP_SLOT_LOST;
}

/*
 * From its peer, or rebuilt; into the batch's first page. Returns as nswap_cell_rebuild();
 * -ESTALE: the slot's page is elsewhere by now.
 */
static int rebuild_page(struct nswap_parity *p, struct nswap_batch *b, u32 slot,
			bool patient)
{
	u32 cell = READ_ONCE(p->cell_of[slot]);
	bool read = !cell || patient || rebuild_may_read(p, cell), rebuilt = false;
	int ret = -EAGAIN;

	b->io.patient = patient;
	b->io.slot[0] = cell ?: slot;
	b->io.dev = cell ? p->cells : p->dev;
	b->io.outer[0] = slot;
	b->io.nr = 1;
	if (read && !nswap_cells_read(b)) {
		ret = 0;
	} else if (cell && (read || nswap_cell_rebuildable(p, cell))) {
		ret = nswap_cell_rebuild(p, b, cell);
		rebuilt = !ret;
	}
	if (READ_ONCE(p->cell_of[slot]) != cell)
		return -ESTALE;
	if (rebuilt)
		nswap_stat_inc(p->dev->node, pages_rebuilt);
	return ret;
}

/* are its peer and others of its group, as many as it has checks, gone for good? */
static bool rebuild_hopeless(struct nswap_parity *p, u32 slot)
{
	u32 cell = READ_ONCE(p->cell_of[slot]);
	u32 row = cell ? nswap_cell_row(p, cell) : NSWAP_ROW_NONE;
	const struct nswap_row *r;
	bool gone;

	if (row == NSWAP_ROW_NONE || !nswap_cell_bad(p, cell))
		return false;
	r = &p->row[row];
	gone = nswap_row_bad(p, r, nswap_cell_lane(cell)) > READ_ONCE(r->checks);
	/* what was counted is the slot's group if it still has the cell */
	smp_rmb();
	return gone && READ_ONCE(p->cell_of[slot]) == cell;
}

/* has a page-in waited for so long, jiffies? */
static bool rebuild_waited(unsigned long since, unsigned long most)
{
	return time_after(jiffies, since + most);
}

/* one page of a bio, into the batch's first page. Returns 0, -EAGAIN: not now, or -EIO */
static int rebuild_slot(struct nswap_rebuild_task *t, u32 slot, unsigned long since)
{
	struct nswap_parity *p = t->r->parity;
	u32 ms = 2 * (nswap_knob(p->dev->node, dead_after_ms) + MSEC_PER_SEC);
	bool patient = false;
	int ret;

	for (;;) {
		ret = rebuild_page(p, &t->b, slot, patient);
		if (!ret)
			return 0;
		if (READ_ONCE(t->r->stop))
			return -EIO;
		if (ret == -ESTALE) {
			cond_resched();
			continue;
		}
		if (rebuild_hopeless(p, slot))
			return -EIO;
		if (patient)
			return rebuild_waited(since, msecs_to_jiffies(ms)) ? -EIO :
									     -EAGAIN;
		/* there may be no way but to wait for one that is late */
		patient = t->patient && rebuild_waited(since, PATIENT_AFTER);
		if (!patient)
			return -EAGAIN;
	}
}

/* its pages that are still to come; false: not all of them can be had now */
static bool rebuild_bio(struct nswap_rebuild_task *t, struct bio *bio,
			unsigned long since)
{
	struct nswap_device *dev = t->r->parity->dev;

	while (bio->bi_iter.bi_size) {
		u32 slot = bio->bi_iter.bi_sector / NSWAP_SECTORS_PER_SLOT;
		struct bio_vec bv = bio_iovec(bio);
		int ret = rebuild_slot(t, slot, since);

		if (ret == -EAGAIN)
			return false;
		if (!ret) {
			copy_highpage(bv.bv_page, t->b.io.page[0]);
			nswap_stat_inc(dev->node, pages_in);
		} else {
			bio->bi_status = BLK_STS_IOERR;
			nswap_stat_inc(dev->node, read_errors);
			nswap_warn(dev->node, "%s: page-in of slot %u failed: its peer does not answer, nor do enough others of its group",
				   dev->disk->disk_name, slot);
		}
		bio_advance(bio, PAGE_SIZE);
	}
	bio_endio(bio);
	return true;
}

static void rebuild_put(struct nswap_rebuilder *r, struct bio *bio, unsigned long since)
{
	nswap_parked_mark(bio, since);
	bio_list_add(&r->bios, bio);
	r->nr++;
}

static void rebuild_kick(struct nswap_rebuilder *r, unsigned int tasks)
{
	unsigned int i;

	for (i = 0; i < tasks; i++)
		queue_work(r->wq, &r->task[i].work);
}

/* one that could not be read: the others first; true if none of them could be */
static bool rebuild_put_back(struct nswap_rebuilder *r, struct bio *bio,
			     unsigned long since)
{
	bool all;

	spin_lock(&r->lock);
	rebuild_put(r, bio, since);
	all = ++r->vain >= r->nr;
	if (all)
		r->vain = 0;
	spin_unlock(&r->lock);
	return all;
}

static void rebuild_done(struct nswap_rebuilder *r)
{
	spin_lock(&r->lock);
	r->vain = 0;
	spin_unlock(&r->lock);
}

static struct bio *rebuild_get(struct nswap_rebuilder *r, unsigned int *came)
{
	struct bio *bio;

	spin_lock(&r->lock);
	bio = bio_list_pop(&r->bios);
	r->nr -= !!bio;
	*came = r->came;
	spin_unlock(&r->lock);
	return bio;
}

static void rebuild_work(struct work_struct *work)
{
	struct nswap_rebuild_task *t = container_of(work, struct nswap_rebuild_task,
						    work);
	struct nswap_rebuilder *r = t->r;
	unsigned long since;
	unsigned int came;
	struct bio *bio;
	bool all;

	while ((bio = rebuild_get(r, &came))) {
		since = nswap_parked_unmark(bio);
		if (rebuild_bio(t, bio, since)) {
			rebuild_done(r);
			continue;
		}
		all = rebuild_put_back(r, bio, since);
		if (!t->patient)
			rebuild_kick(r, PATIENT_TASKS);
		if (all)
			wait_event_timeout(r->wait, READ_ONCE(r->came) != came, AGAIN);
	}
}

/**
 * nswap_rebuild_add() - read the pages of a bio whatever has become of their peers
 * @p: rows
 * @bio: a read in no request, with all of its data still to come
 * @since: when it came, jiffies
 *
 * Context: process, page-in path; does not sleep.
 */
void nswap_rebuild_add(struct nswap_parity *p, struct bio *bio, unsigned long since)
{
	struct nswap_rebuilder *r = p->rebuild;

	spin_lock(&r->lock);
	rebuild_put(r, bio, since);
	WRITE_ONCE(r->came, r->came + 1);
	spin_unlock(&r->lock);
	wake_up(&r->wait);
	rebuild_kick(r, REBUILD_TASKS);
}

/* Process, sleeps; allocates 350 KiB. Returns 0, or -ENOMEM, then free with _exit(). */
int nswap_rebuild_init(struct nswap_parity *p)
{
	struct nswap_rebuilder *r = kvzalloc_objs(*r, 1);
	unsigned int i;

	if (!r)
		return -ENOMEM;
	p->rebuild = r;
	r->parity = p;
	spin_lock_init(&r->lock);
	bio_list_init(&r->bios);
	init_waitqueue_head(&r->wait);
	for (i = 0; i < REBUILD_TASKS; i++) {
		r->task[i].r = r;
		r->task[i].patient = i < PATIENT_TASKS;
		INIT_WORK(&r->task[i].work, rebuild_work);
		INIT_LIST_HEAD(&r->task[i].b.io.link);
		if (!nswap_batch_init(&r->task[i].b, p->cells, NSWAP_ROW_WIDTH))
			return -ENOMEM;
	}
	r->wq = alloc_workqueue("nswap_rebuild", WQ_MEM_RECLAIM | WQ_UNBOUND,
				REBUILD_TASKS);
	return r->wq ? 0 : -ENOMEM;
}

/* the device is dying, its disk still exists: those that wait fail; process, sleeps */
void nswap_rebuild_stop(struct nswap_parity *p)
{
	WRITE_ONCE(p->rebuild->stop, true);
	flush_workqueue(p->rebuild->wq);
}

/* undo nswap_rebuild_init() */
void nswap_rebuild_exit(struct nswap_parity *p)
{
	unsigned int i;

	if (!p->rebuild)
		return;
	if (p->rebuild->wq)
		destroy_workqueue(p->rebuild->wq);
	for (i = 0; i < REBUILD_TASKS; i++)
		nswap_batch_exit(&p->rebuild->task[i].b);
	kvfree(p->rebuild);
}
