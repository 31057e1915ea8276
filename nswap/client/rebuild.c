// SPDX-License-Identifier: GPL-2.0
/*
 * Rebuilding: a page whose peer is silent, dead or LOST is the sum of the others of its
 * group and their check (rebuild_group.c).
 *
 *   page-in of a lost cell -> its bios wait here, without a tag -> for each page: read
 *   from its peer if that answers by now, else rebuilt -> the bio ends
 *                     ^-- put aside, if neither is possible now --'
 *
 * Invariants:
 *  - What is in a row does not change until the row is freed, and @use tells one use of a
 *    row from the next: a page that was rebuilt counts if the slot still has the cell and
 *    the row is in the same use afterwards. Otherwise it is begun again.
 *  - The members of a group and its check are taken together, under the buffer's lock
 *    while the check is in the buffer; later they do not change any more.
 *  - A bio fails when its peer is dead, or the page LOST, and with it more of the group
 *    than that has checks. While they are only silent it waits, at most for twice as long
 *    as it takes to declare one dead, four times if no patient task comes to it: another
 *    one may die meanwhile. That of a sealed device also fails when what comes opens neither
 *    from its peer, which counts as dead then, nor from its group.
 *  - A peer that is late is waited for by half of the tasks only, for page-ins that have been
 *    here for a while. So page-ins that can be rebuilt do not wait for those that cannot.
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
#include "peers/suspicion.h"
#include "rebuild.h"
#include "request_queue.h"
#include "row.h"
#include "wrap.h"
#include "write_cache_read.h"

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
 * @lock: protects all up to @turn
 * @fresh: those that were not tried yet, marked with when they came (parked.h)
 * @stuck: those that could not be read, likewise
 * @nr_stuck: how many
 * @tried: of them, by hasty tasks and by patient ones, and
 * @rest: jiffies; these try none of them before; and
 * @turn: the next one that such a task takes is a fresh one
 * @wait: for a fresh one
 * @stop: those that come fail
 * @wq: where the tasks run, patient ones on a queue of their own
 * @task: the tasks
 */
struct nswap_rebuilder {
	struct nswap_parity *parity;
	spinlock_t lock;
	struct bio_list fresh;
	struct bio_list stuck;
	unsigned int nr_stuck;
	unsigned int tried[2];
	unsigned long rest[2];
	bool turn[2];
	wait_queue_head_t wait;
	bool stop;
	struct workqueue_struct *wq[2];
	struct nswap_rebuild_task *task[REBUILD_TASKS];
};

/* is its peer to be asked for a slot or cell? */
static bool rebuild_may_read(const struct nswap_device *dev, u32 slot)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return nswap_slot_at_peer(&s) ? !nswap_copy_slow(dev->node, s.peer) :
					s.state != NSWAP_SLOT_LOST;
}

/*
 * Is what came what the slot's program wrote? It is open then, or as it came, to @keep.
 * Returns 0; -ESTALE: the slot has another page by now; -EBADMSG: it does not open.
 */
static int rebuild_open(struct nswap_parity *p, struct nswap_batch *b, u32 cell,
			bool keep)
{
	u32 slot = b->io.outer[0];

	if (!p->dev->wrap || !slot ||
	    nswap_wrap_open(p->dev, slot, b->io.page[0], keep))
		return 0;
	return READ_ONCE(p->cell_of[slot]) == cell ? -EBADMSG : -ESTALE;
}

/*
 * How many of its group's checks are left, when the cell itself and the others that are gone
 * for good are made up for? Negative: too many are gone. What was counted is its group if the
 * slot still has the cell afterwards.
 */
static int rebuild_spare(const struct nswap_parity *p, u32 cell)
{
	u32 row = nswap_cell_row(p, cell);
	int spare;

	if (row == NSWAP_ROW_NONE)
		return 0;
	spare = READ_ONCE(p->row[row].checks) - !nswap_cell_bad(p, cell) -
		nswap_row_bad(p, &p->row[row], nswap_cell_lane(cell));
	/* see above */
	smp_rmb();
	return spare;
}

/**
 * nswap_cell_recover() - the page of a cell from the others of its group, as its program
 *	wrote it
 * @p: rows
 * @b: as for nswap_cell_rebuild(); its io's first @outer is the slot
 * @cell: cell that the slot names, or did
 * @keep: of a sealed device: leave it sealed
 *
 * With two checks one of the others may lie: each is left out in turn then, unless that
 * check is spent on one that is gone for good.
 *
 * Context: process, sleeps for peers.
 * Return: as nswap_cell_rebuild(), -EBADMSG: it does not open.
 */
int nswap_cell_recover(struct nswap_parity *p, struct nswap_batch *b, u32 cell, bool keep)
{
	bool spent = rebuild_spare(p, cell) <= 0, later = false;
	int ret = nswap_cell_rebuild(p, b, cell, NSWAP_CELL_ALL);
	unsigned int i;

	ret = ret ?: rebuild_open(p, b, cell, keep);
	/* with all checks spent on what is gone none of the others can be left out */
	if (ret != -EBADMSG || spent)
		return ret;
	for (i = 0; i < NSWAP_ROW_WIDTH; i++) {
		ret = nswap_cell_rebuild(p, b, cell, i);
		if (ret == -ENOENT)
			break;
		/* the one that is late may be what the right page takes */
		later = later || ret == -EAGAIN;
		ret = ret ?: rebuild_open(p, b, cell, keep);
		if (ret == -ESTALE)
			return ret;
		if (!ret) {
			struct nswap_slot at = nswap_slot_look(p->cells, b->io.slot[i]);

			nswap_wrap_broken_at(p->dev, b->io.outer[0], &at);
			return 0;
		}
	}
	return later ? -EAGAIN : -EBADMSG;
}

/*
 * What its peer, or the visible device, has of a slot. @lied: set if that does not open.
 * Returns as rebuild_open(), -EAGAIN.
 */
static int rebuild_read(struct nswap_parity *p, struct nswap_batch *b, u32 cell, bool *lied)
{
	u32 slot = b->io.outer[0], at = cell ?: slot;
	struct nswap_slot was = nswap_slot_look(b->io.dev, at), is;
	int ret;

	if (nswap_cells_read(b))
		return -EAGAIN;
	ret = rebuild_open(p, b, cell, false);
	is = nswap_slot_look(b->io.dev, at);
	/* what was in a cell is looked up again by the caller */
	if (ret != -EBADMSG)
		return !ret && !cell && nswap_wrap_doubted(p->dev) &&
		       !nswap_slot_same(&was, &is) ? -ESTALE : ret;
	/* nothing is there, or it was written meanwhile */
	if (is.state == NSWAP_SLOT_EMPTY || is.state == NSWAP_SLOT_FREEING)
		return cell ? -ESTALE : 0;
	if (!nswap_slot_same(&was, &is))
		return -ESTALE;
	if (!*lied)
		nswap_wrap_broken_at(p->dev, slot, &was);
	*lied = true;
	return ret;
}

/*
 * From its peer, or rebuilt; into the batch's first page. Returns as nswap_cell_rebuild();
 * -ESTALE: the slot's page is elsewhere by now; -EBADMSG: neither of them opens, and its peer
 * has been asked, or is gone. @lied: as for rebuild_read().
 */
static int rebuild_page(struct nswap_parity *p, struct nswap_batch *b, u32 slot,
			bool patient, bool *lied)
{
	u32 cell = READ_ONCE(p->cell_of[slot]);
	struct nswap_device *dev = cell ? p->cells : p->dev;
	bool read = patient || rebuild_may_read(dev, cell ?: slot), rebuilt = false;
	int ret = -EAGAIN;

	b->io.patient = patient;
	b->io.slot[0] = cell ?: slot;
	b->io.dev = dev;
	b->io.outer[0] = slot;
	b->io.nr = 1;
	if (read)
		ret = rebuild_read(p, b, cell, lied);
	if ((ret == -EAGAIN || ret == -EBADMSG) && cell &&
	    (read || nswap_cell_rebuildable(p, cell))) {
		ret = nswap_cell_recover(p, b, cell, false);
		rebuilt = !ret;
		if (ret == -EBADMSG && !*lied && !nswap_cell_bad(p, cell))
			ret = -EAGAIN;
	}
	/* the cell's entry was read before */
	smp_rmb();
	if (READ_ONCE(p->cell_of[slot]) != cell) {
		if (p->dev->sealer)
			clear_highpage(b->io.page[0]);
		return -ESTALE;
	}
	if (rebuilt)
		nswap_stat_inc(p->dev->node, pages_rebuilt);
	return ret;
}

/* is its peer gone for good, or has @lied, and as many others as its group has checks? */
static bool rebuild_hopeless(struct nswap_parity *p, u32 slot, bool lied)
{
	u32 cell = READ_ONCE(p->cell_of[slot]);

	if (!cell)
		return nswap_slot_look(p->dev, slot).state == NSWAP_SLOT_LOST;
	return (lied || nswap_cell_bad(p, cell)) && rebuild_spare(p, cell) < 0 &&
	       READ_ONCE(p->cell_of[slot]) == cell;
}

/* has a page-in waited for so long, jiffies? */
static bool rebuild_waited(const struct nswap_parity *p, unsigned long since, unsigned long most)
{
	return time_after(jiffies, since + most) &&
	       nswap_client_may_expire(p->dev->node, jiffies_to_msecs(most));
}

/* one page of a bio, into the batch's first page. 0, -EAGAIN: later, -EBADMSG, -ETIMEDOUT, -EIO */
static int rebuild_slot(struct nswap_rebuild_task *t, u32 slot, unsigned long since)
{
	struct nswap_parity *p = t->r->parity;
	unsigned long most = msecs_to_jiffies(2 * nswap_suspicion_longest_ms(p->dev->node));
	bool patient = false, bad = false, lied = false;
	int ret;

	for (;;) {
		ret = rebuild_page(p, &t->b, slot, patient, &lied);
		if (!ret)
			return 0;
		if (READ_ONCE(t->r->stop))
			return -EIO;
		if (ret == -EBADMSG && bad)
			return ret;
		bad = bad || ret == -EBADMSG;
		if (ret == -ESTALE || ret == -EBADMSG) {
			cond_resched();
			continue;
		}
		if (rebuild_hopeless(p, slot, lied))
			return -EIO;
		if (rebuild_waited(p, since, patient ? most : 2 * most))
			return -ETIMEDOUT;
		/* there may be no way but to wait for one that is late */
		if (patient || !t->patient || !time_after(jiffies, since + PATIENT_AFTER))
			return -EAGAIN;
		patient = true;
	}
}

/* its pages that are still to come; false: not all of them can be had now */
static bool rebuild_bio(struct nswap_rebuild_task *t, struct bio *bio, unsigned long since)
{
	struct nswap_device *dev = t->r->parity->dev;

	while (bio->bi_iter.bi_size) {
		u32 slot = bio->bi_iter.bi_sector / NSWAP_SECTORS_PER_SLOT;
		struct bio_vec bv = bio_iovec(bio);
		int ret = nswap_cached_again(dev, slot, bio->bi_opf, t->b.io.page[0]) ? 0 :
			  rebuild_slot(t, slot, since);

		if (ret == -EAGAIN)
			return false;
		if (!ret) {
			copy_highpage(bv.bv_page, t->b.io.page[0]);
			if (dev->sealer)
				clear_highpage(t->b.io.page[0]);
			nswap_stat_inc(dev->node, pages_in);
		} else {
			bio->bi_status = BLK_STS_IOERR;
			nswap_stat_inc(dev->node, read_errors);
			nswap_warn(dev->node, "%s: page-in of slot %u failed: %s; its program has to be restarted, see nswapctl peers",
				   dev->disk->disk_name, slot, ret == -EBADMSG ?
				   "neither its peer nor its group has what was written" :
				   ret == -ETIMEDOUT ? "too many of its group are silent" :
				   "its peer is gone, and so are too many others of its group");
		}
		bio_advance(bio, PAGE_SIZE);
	}
	bio_endio(bio);
	return true;
}

static void rebuild_kick(struct nswap_rebuilder *r, unsigned int tasks)
{
	unsigned int i;

	for (i = 0; i < tasks; i++)
		queue_work(r->wq[r->task[i]->patient], &r->task[i]->work);
}

/* one that could not be read; when all of them were tried, tasks of this kind rest */
static void rebuild_put_back(struct nswap_rebuild_task *t, struct bio *bio,
			     unsigned long since)
{
	struct nswap_rebuilder *r = t->r;

	nswap_parked_mark(bio, since);
	spin_lock(&r->lock);
	bio_list_add(&r->stuck, bio);
	r->nr_stuck++;
	if (++r->tried[t->patient] >= r->nr_stuck) {
		r->tried[t->patient] = 0;
		r->rest[t->patient] = jiffies + AGAIN;
	}
	spin_unlock(&r->lock);
	if (!t->patient)
		rebuild_kick(r, PATIENT_TASKS);
}

/* the next one, of both kinds in turn, NULL if there is none now; @more: there will be */
static struct bio *rebuild_get(struct nswap_rebuild_task *t, bool *more)
{
	struct nswap_rebuilder *r = t->r;
	struct bio *bio = NULL;
	bool due;

	spin_lock(&r->lock);
	due = !time_before(jiffies, r->rest[t->patient]);
	r->turn[t->patient] ^= due;
	if (!due || r->turn[t->patient])
		bio = bio_list_pop(&r->fresh);
	if (!bio && due) {
		bio = bio_list_pop(&r->stuck);
		r->nr_stuck -= !!bio;
	}
	if (!bio)
		bio = bio_list_pop(&r->fresh);
	*more = !bio && r->nr_stuck;
	spin_unlock(&r->lock);
	return bio;
}

static void rebuild_work(struct work_struct *work)
{
	struct nswap_rebuild_task *t = container_of(work, struct nswap_rebuild_task,
						    work);
	struct nswap_rebuilder *r = t->r;
	unsigned long since;
	struct bio *bio;
	bool more;

	do {
		bio = rebuild_get(t, &more);
		if (!bio) {
			if (more)
				wait_event_timeout(r->wait, READ_ONCE(r->fresh.head),
						   AGAIN);
			continue;
		}
		since = nswap_parked_unmark(bio);
		if (!rebuild_bio(t, bio, since))
			rebuild_put_back(t, bio, since);
		cond_resched();
	} while (bio || more);
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

	nswap_parked_mark(bio, since);
	spin_lock(&r->lock);
	bio_list_add(&r->fresh, bio);
	spin_unlock(&r->lock);
	wake_up(&r->wait);
	rebuild_kick(r, REBUILD_TASKS);
}

/* NULL without memory; messages are sent from it, so it is linear */
static struct nswap_rebuild_task *rebuild_task_init(struct nswap_rebuilder *r,
						    bool patient)
{
	struct nswap_rebuild_task *t = kzalloc_obj(*t);

	if (!t)
		return NULL;
	t->r = r;
	t->patient = patient;
	INIT_WORK(&t->work, rebuild_work);
	INIT_LIST_HEAD(&t->b.io.link);
	if (nswap_batch_init(&t->b, r->parity->cells, NSWAP_ROW_WIDTH))
		return t;
	kfree(t);
	return NULL;
}

/* Process, sleeps; allocates 350 KiB. Returns 0, or -ENOMEM, then free with _exit(). */
int nswap_rebuild_init(struct nswap_parity *p)
{
	struct nswap_rebuilder *r = kzalloc_obj(*r);
	unsigned int i;

	if (!r)
		return -ENOMEM;
	p->rebuild = r;
	r->parity = p;
	spin_lock_init(&r->lock);
	bio_list_init(&r->fresh);
	bio_list_init(&r->stuck);
	r->rest[false] = jiffies;
	r->rest[true] = jiffies;
	init_waitqueue_head(&r->wait);
	for (i = 0; i < REBUILD_TASKS; i++) {
		r->task[i] = rebuild_task_init(r, i < PATIENT_TASKS);
		if (!r->task[i])
			return -ENOMEM;
	}
	/* one that runs and is queued again counts twice */
	for (i = 0; i < ARRAY_SIZE(r->wq); i++) {
		r->wq[i] = alloc_workqueue("nswap_rebuild%u", WQ_MEM_RECLAIM | WQ_UNBOUND,
					   2 * REBUILD_TASKS, i);
		if (!r->wq[i])
			return -ENOMEM;
	}
	return 0;
}

/* the device is dying, its disk still exists: those that wait fail; process, sleeps */
void nswap_rebuild_stop(struct nswap_parity *p)
{
	struct nswap_rebuilder *r = p->rebuild;

	WRITE_ONCE(r->stop, true);
	/* hasty ones may queue patient ones, but then leave nothing behind */
	flush_workqueue(r->wq[false]);
	flush_workqueue(r->wq[true]);
}

/* undo nswap_rebuild_init() */
void nswap_rebuild_exit(struct nswap_parity *p)
{
	unsigned int i;

	if (!p->rebuild)
		return;
	for (i = 0; i < ARRAY_SIZE(p->rebuild->wq); i++)
		if (p->rebuild->wq[i])
			destroy_workqueue(p->rebuild->wq[i]);
	for (i = 0; i < REBUILD_TASKS && p->rebuild->task[i]; i++) {
		nswap_batch_exit(&p->rebuild->task[i]->b);
		kfree(p->rebuild->task[i]);
	}
	kfree(p->rebuild);
}
