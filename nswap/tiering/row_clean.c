// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery and cleaning of rows: pages that are needed are written again, to other cells,
 * and their old cells are freed with their groups.
 *
 *   a group has lost a cell:  its pages are exposed, and go first
 *   a peer wants RAM back:    those rows that have a page there
 *   another number of checks: those rows that have the old one
 *   rows are mostly dead:     the emptiest, while peers hold more than they should
 *   the visible device has pages at peers, which are exposed: they go to cells
 *   parity was turned off:    all pages go to the visible device
 *
 * Invariants:
 *  - A row is pinned while its pages are brought elsewhere: its groups stay.
 *  - Nothing waits for this but, when cells are short, page-outs. It runs on a queue
 *    without a rescuer, with memory allocated when parity is turned on. All but cleaning
 *    copy no more than protect_mib_s.
 *  - Stopped before the disk is removed.
 */
#include <linux/slab.h>

#include "client/row.h"
#include "core/node.h"
#include "fill_pace.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "pure/peer_state.h"
#include "row_clean.h"
#include "row_copy.h"

#define BUSY_PCT	125	/* cells held, of what live pages need: not more */
#define REST_PCT	104	/* the same when nothing is written */
#define REST		HZ	/* without a page-out for this long */
#define SHORT_PART	8	/* strips are short when fewer than this part is unused */
#define FULL_PCT	97	/* a row with more live cells is not worth cleaning */

/**
 * struct nswap_row_clean - recovers and cleans the rows of a device
 * @work: one batch a run
 * @stop: it is not to run again
 * @parity: whose
 * @row: where the search for lost and wanted rows continues
 * @owed_us: for nswap_fill_pause()
 * @live: pages in cells when it looked last, and
 * @written: jiffies when that had changed
 * @c: the batch
 */
struct nswap_row_clean {
	struct delayed_work work;
	bool stop;
	struct nswap_parity *parity;
	u32 row;
	unsigned int owed_us;
	s64 live;
	unsigned long written;
	struct nswap_row_copy c;
};

/* how many cells of a group are lost? */
static unsigned int clean_lost(const struct nswap_parity *p, const struct nswap_row *r,
			       unsigned int lane)
{
	unsigned int i, n = 0;
	unsigned int nr = r->nr + (r->state == NSWAP_ROW_CLOSED ? r->checks : 0);

	for (i = 0; i < nr; i++)
		n += nswap_cell_bad(p, nswap_row_cell(r, i, lane));
	return n;
}

/* the live cells of a group that can be brought elsewhere, after those there are */
static unsigned int clean_collect_lane(struct nswap_row_clean *c,
				       const struct nswap_row *r, unsigned int lane,
				       bool gone, unsigned int n)
{
	struct nswap_parity *p = c->parity;
	unsigned int i;

	for (i = 0; i < r->nr && n < NSWAP_REQ_SLOTS; i++) {
		u32 cell = nswap_row_cell(r, i, lane);
		u32 slot = READ_ONCE(p->slot_of[cell]);

		if (!slot || READ_ONCE(p->cell_of[slot]) != cell ||
		    (gone && nswap_cell_bad(p, cell)))
			continue;
		c->c.b.io.slot[n] = cell;
		c->c.b.io.outer[n] = slot;
		c->c.old[n++] = cell;
	}
	return n;
}

/* likewise of a row, if @lost those of groups alone that lost a cell; how many */
static unsigned int clean_collect(struct nswap_row_clean *c, const struct nswap_row *r,
				  bool lost)
{
	unsigned int lane, bad, n = 0;

	for (lane = 0; lane < NSWAP_ROW_LANES; lane++) {
		bad = clean_lost(c->parity, r, lane);
		if (bad || !lost)
			n = clean_collect_lane(c, r, lane, bad > r->checks, n);
	}
	return n;
}

/* bring a part of a row elsewhere; returns how many pages were read for it */
static unsigned int clean_row(struct nswap_row_clean *c, u32 row, bool lost, bool back)
{
	struct nswap_parity *p = c->parity;
	unsigned int n;

	if (!nswap_row_pin(p, row))
		return 0;
	n = clean_collect(c, &p->row[row], lost);
	if (n)
		n = back ? nswap_row_copy_outer(&c->c, n) :
			   nswap_row_copy_cells(&c->c, n);
	nswap_row_unpin(p, row);
	return n;
}

/* has a row a group that lost a cell? */
static bool clean_row_lost(const struct nswap_parity *p, const struct nswap_row *r)
{
	unsigned int lane;

	if (READ_ONCE(r->state) == NSWAP_ROW_FREE || !READ_ONCE(r->live))
		return false;
	for (lane = 0; lane < NSWAP_ROW_LANES; lane++)
		if (clean_lost(p, r, lane))
			return true;
	return false;
}

/*
 * Has a row another number of checks than it would have now? @peers: how many have room.
 * It keeps what it has while they are too few for more.
 */
static bool clean_row_misfit(const struct nswap_parity *p, const struct nswap_row *r,
			     unsigned int peers)
{
	return READ_ONCE(r->live) &&
	       (r->checks > p->want.checks ||
		(peers > 1 && r->checks < nswap_row_checks(p, peers)));
}

/* may cells have lost their pages? else no search is worth it */
static bool clean_any_lost(struct nswap_parity *p)
{
	bool any = atomic64_read(&p->cells->count[NSWAP_SLOT_LOST]);
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(p->dev->node, i, peer) {
		any = any || (nswap_peer_hopeless(READ_ONCE(peer->state)) &&
			      atomic64_read(&peer->slots));
		nswap_peer_put(peer);
	}
	return any;
}

/*
 * The next row that has lost a cell, that a peer wants to be rid of, that has too many
 * checks or too few, or if @back any; returns how many pages were read.
 */
static unsigned int clean_next(struct nswap_row_clean *c, bool back)
{
	struct nswap_parity *p = c->parity;
	unsigned int n = 0, peers = nswap_place_count(p->dev->node);
	bool lost = clean_any_lost(p), wanted;
	u32 looked;

	for (looked = 0; looked < p->nr_rows && !n; looked++) {
		struct nswap_row *r = &p->row[c->row];

		wanted = back || READ_ONCE(r->wanted) ||
			 clean_row_misfit(p, r, peers);
		if (READ_ONCE(r->state) != NSWAP_ROW_FREE &&
		    (wanted || (lost && clean_row_lost(p, r)))) {
			nswap_row_close(p, c->row);
			n = clean_row(c, c->row, !wanted, back);
		}
		/* the rest of the same row, in the next run */
		if (!n)
			c->row = (c->row + 1) % p->nr_rows;
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	return n;
}

/* the row with the smallest share of live cells, if that is worth it */
static u32 clean_emptiest(struct nswap_parity *p)
{
	u32 i, best = NSWAP_ROW_NONE, least = FULL_PCT;

	for (i = 0; i < p->nr_rows; i++) {
		const struct nswap_row *r = &p->row[i];
		u32 share;

		if (READ_ONCE(r->state) != NSWAP_ROW_CLOSED)
			continue;
		share = 100 * READ_ONCE(r->live) / (r->nr * NSWAP_ROW_LANES);
		if (share < least) {
			least = share;
			best = i;
		}
	}
	return best;
}

/* do peers hold more cells than the live pages are worth? */
static bool clean_due(struct nswap_row_clean *c)
{
	struct nswap_parity *p = c->parity;
	s64 live = atomic64_read(&p->live);
	s64 held = atomic64_read(&p->cells->count[NSWAP_SLOT_REMOTE]);
	unsigned int pct = BUSY_PCT;

	if (live != c->live) {
		c->live = live;
		c->written = jiffies;
	}
	if (time_after(jiffies, c->written + REST))
		pct = REST_PCT;
	live = max_t(s64, live, 2 * NSWAP_ROW_LANES * p->want.pages);
	return held * 100 * p->want.pages >
	       live * (p->want.pages + p->want.checks) * pct;
}

/* will page-outs find no strips soon? */
static bool clean_short(const struct nswap_parity *p)
{
	return READ_ONCE(p->nr_unused) < NSWAP_ROW_KEPT +
	       max(p->nr_strips / SHORT_PART, 2 * NSWAP_ROW_WIDTH);
}

/* a part of the emptiest row; returns how many pages were read */
static unsigned int clean_some(struct nswap_row_clean *c)
{
	u32 row = clean_emptiest(c->parity);

	return row == NSWAP_ROW_NONE ? 0 : clean_row(c, row, false, false);
}

/* one batch; returns how many pages were read; @paced: no more than protect_mib_s */
static unsigned int clean_step(struct nswap_row_clean *c, bool *paced)
{
	struct nswap_parity *p = c->parity;
	unsigned int n;

	*paced = true;
	if (!nswap_parity_wanted(p->dev))
		return atomic64_read(&p->live) ? clean_next(c, true) : 0;
	n = clean_short(p) ? clean_some(c) : 0;
	if (n) {
		*paced = false;
		return n;
	}
	n = clean_next(c, false);
	if (!n && atomic64_read(&p->dev->count[NSWAP_SLOT_REMOTE]))
		n = nswap_row_copy_in(&c->c);
	if (n || !clean_due(c))
		return n;
	*paced = false;
	return clean_some(c);
}

static void clean_work(struct work_struct *work)
{
	struct nswap_row_clean *c = container_of(to_delayed_work(work),
						 struct nswap_row_clean, work);
	struct nswap_device *dev = c->parity->dev;
	unsigned long pause = NSWAP_FILL_IDLE;
	unsigned int n = 0;
	bool paced;

	if (nswap_knob(dev->node, protect_mib_s))
		n = clean_step(c, &paced);
	if (n)
		pause = paced ? nswap_fill_pause(dev, n, &c->owed_us) : 0;
	else if (nswap_parity_wanted(dev))
		pause = HZ / 10;
	if (!READ_ONCE(c->stop))
		queue_delayed_work(system_dfl_wq, &c->work, pause);
}

/* Process, sleeps; allocates 200 KiB. Returns 0, or -ENOMEM, then free with _exit(). */
int nswap_row_clean_init(struct nswap_parity *p)
{
	struct nswap_row_clean *c = kvzalloc_objs(*c, 1);

	if (!c)
		return -ENOMEM;
	p->clean = c;
	c->parity = p;
	INIT_DELAYED_WORK(&c->work, clean_work);
	return nswap_row_copy_init(&c->c, p) ? 0 : -ENOMEM;
}

/* the disk exists, or protection was switched; process, does not sleep */
void nswap_row_clean_start(struct nswap_parity *p)
{
	mod_delayed_work(system_dfl_wq, &p->clean->work, 0);
}

/* the device is dying, its disk still exists; process, sleeps for peers */
void nswap_row_clean_stop(struct nswap_parity *p)
{
	WRITE_ONCE(p->clean->stop, true);
	cancel_delayed_work_sync(&p->clean->work);
}

/* undo nswap_row_clean_init(); after nswap_row_clean_stop() */
void nswap_row_clean_exit(struct nswap_parity *p)
{
	if (!p->clean)
		return;
	nswap_row_copy_exit(&p->clean->c);
	kvfree(p->clean);
}
