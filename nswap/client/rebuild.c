// SPDX-License-Identifier: GPL-2.0
/*
 * Rebuilding: a page whose peer is silent, dead or LOST is the sum of the others of its
 * group and their check (rebuild_group.c).
 *
 *   page-in of a lost cell -> its bios wait here, without a tag -> for each page: read
 *   from its peer if that answers by now, else rebuilt -> the bio ends
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
 *  - A peer that is late is not waited for, but for every second try.
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
#define AGAIN		(HZ / 50 ?: 1)	/* when peers do not answer */

/**
 * struct nswap_rebuild_task - rebuilds one page after the other
 * @work: does it
 * @r: whose
 * @b: pages of a group
 */
struct nswap_rebuild_task {
	struct work_struct work;
	struct nswap_rebuilder *r;
	struct nswap_batch b;
};

/**
 * struct nswap_rebuilder - the page-ins of a device that wait for lost pages
 * @parity: whose
 * @lock: protects @bios
 * @bios: they, marked with when they came (parked.h)
 * @stop: those that come fail
 * @wq: where the tasks run
 * @task: the tasks
 */
struct nswap_rebuilder {
	struct nswap_parity *parity;
	spinlock_t lock;
	struct bio_list bios;
	bool stop;
	struct workqueue_struct *wq;
	struct nswap_rebuild_task task[REBUILD_TASKS];
};

/* is it better not read from its peer? */
static bool rebuild_at_once(struct nswap_parity *p, const struct nswap_batch *b, u32 cell)
{
	struct nswap_slot s = nswap_slot_look(p->cells, cell);

	return !b->io.patient && nswap_slot_at_peer(&s) &&
	       nswap_copy_slow(p->dev->node, s.peer);
}

/* from its peer, or rebuilt; into the batch's first page. Returns as the latter. */
static int rebuild_page(struct nswap_parity *p, struct nswap_batch *b, u32 slot,
			u32 cell)
{
	int ret = -EAGAIN;

	b->io.slot[0] = cell ?: slot;
	b->io.dev = cell ? p->cells : p->dev;
	b->io.outer[0] = slot;
	b->io.nr = 1;
	if ((!cell || !rebuild_at_once(p, b, cell)) && !nswap_cells_read(b))
		ret = 0;
	if (ret && cell) {
		ret = nswap_cell_rebuild(p, b, cell);
		if (!ret)
			nswap_stat_inc(p->dev->node, pages_rebuilt);
	}
	return READ_ONCE(p->cell_of[slot]) != cell ? -ESTALE : ret;
}

/* are its peer and others of its group, as many as it has checks, gone for good? */
static bool rebuild_hopeless(struct nswap_parity *p, u32 slot, u32 cell)
{
	u32 row = nswap_cell_row(p, cell);
	const struct nswap_row *r;
	bool gone;

	if (row == NSWAP_ROW_NONE || !nswap_cell_bad(p, cell))
		return false;
	r = &p->row[row];
	gone = nswap_row_bad(p, r, nswap_cell_lane(cell)) > r->checks;
	/* what was counted is the slot's group if it still has the cell */
	smp_rmb();
	return gone && READ_ONCE(p->cell_of[slot]) == cell;
}

/* one page of a bio; false if it failed */
static bool rebuild_slot(struct nswap_rebuild_task *t, u32 slot, struct page *to,
			 unsigned long since)
{
	struct nswap_parity *p = t->r->parity;
	struct nswap_node *node = p->dev->node;
	u32 ms = 2 * (nswap_knob(node, dead_after_ms) + MSEC_PER_SEC), cell;
	int ret;

	t->b.io.patient = false;
	for (;;) {
		cell = READ_ONCE(p->cell_of[slot]);
		ret = rebuild_page(p, &t->b, slot, cell);
		if (!ret)
			break;
		if (READ_ONCE(t->r->stop))
			break;
		/* its page is elsewhere by now */
		if (ret == -ESTALE) {
			cond_resched();
			continue;
		}
		if ((cell && rebuild_hopeless(p, slot, cell)) ||
		    (t->b.io.patient &&
		     time_after(jiffies, since + msecs_to_jiffies(ms))))
			break;
		schedule_timeout_uninterruptible(AGAIN);
		/* there may be no way but to wait for one that is late */
		t->b.io.patient = !t->b.io.patient;
	}
	if (!ret) {
		copy_highpage(to, t->b.io.page[0]);
		nswap_stat_inc(node, pages_in);
		return true;
	}
	nswap_stat_inc(node, read_errors);
	nswap_warn(node, "%s: page-in of slot %u failed: its peer does not answer, nor do enough others of its group",
		   p->dev->disk->disk_name, slot);
	return false;
}

static void rebuild_bio(struct nswap_rebuild_task *t, struct bio *bio)
{
	unsigned long since = nswap_parked_unmark(bio);
	u32 slot = bio->bi_iter.bi_sector / NSWAP_SECTORS_PER_SLOT;
	struct bvec_iter iter;
	struct bio_vec bv;
	bool good = true;

	bio_for_each_segment(bv, bio, iter)
		good = rebuild_slot(t, slot++, bv.bv_page, since) && good;
	if (good)
		bio_endio(bio);
	else
		bio_io_error(bio);
}

static void rebuild_work(struct work_struct *work)
{
	struct nswap_rebuild_task *t = container_of(work, struct nswap_rebuild_task,
						    work);
	struct nswap_rebuilder *r = t->r;
	struct bio *bio;

	for (;;) {
		spin_lock(&r->lock);
		bio = bio_list_pop(&r->bios);
		spin_unlock(&r->lock);
		if (!bio)
			break;
		rebuild_bio(t, bio);
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
	unsigned int i;

	nswap_parked_mark(bio, since);
	spin_lock(&r->lock);
	bio_list_add(&r->bios, bio);
	spin_unlock(&r->lock);
	for (i = 0; i < REBUILD_TASKS; i++)
		queue_work(r->wq, &r->task[i].work);
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
	for (i = 0; i < REBUILD_TASKS; i++) {
		r->task[i].r = r;
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
