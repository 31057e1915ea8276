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
 *    of a device that is written to copies no more than protect_mib_s.
 *  - Stopped before the disk is removed.
 */
#include <linux/slab.h>

#include "client/row.h"
#include "core/node.h"
#include "core/slot_update.h"
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
#define GAP		3	/* dead cells that are read to read what is beyond them */
#define FULL_PCT	97	/* a row with more live cells is not worth cleaning */
#define ERA		(10 * HZ) /* a row that cannot be read is passed over for as long */
#define TRIES		16	/* rows that may turn out so in one batch */
#define LOST_AGAIN	(5 * HZ) /* lost groups are searched for again, if there was none */
#define UNREAD_AGAIN	HZ	/* the same if there were, and none could be read */

/**
 * struct nswap_row_clean - recovers and cleans the rows of a device
 * @work: one batch a run
 * @stop: it is not to run again
 * @parity: whose
 * @row: where the search for lost and wanted rows continues
 * @strip: of these, where the next batch begins
 * @room: the last batch was to make room, if strips were short
 * @owed_us: for nswap_fill_pause()
 * @live: pages in cells when it looked last, and
 * @written: jiffies when that had changed
 * @era: of rows that are passed over, never 0, and
 * @begun: jiffies when it began
 * @lost: what clean_losses() was in the last search for lost groups, and
 * @searched: jiffies when it found none
 * @no_room: pages had nowhere to go in this search, or were still on their way
 * @unread: there were groups of which nothing could be read
 * @c: the batch
 */
struct nswap_row_clean {
	struct delayed_work work;
	bool stop;
	struct nswap_parity *parity;
	u32 row;
	unsigned int strip;
	bool room;
	unsigned int owed_us;
	s64 live;
	unsigned long written;
	u8 era;
	unsigned long begun;
	u64 lost;
	unsigned long searched;
	bool no_room;
	bool unread;
	struct nswap_row_copy c;
};

/*
 * The live cells of a strip that can be brought elsewhere, of these lanes, after those
 * there are, with the dead ones between them, whose slot is 0: a message for all of them is
 * cheaper than several. @gone: lanes that have lost more than their checks.
 */
static unsigned int clean_collect_strip(struct nswap_row_clean *c,
					const struct nswap_row *r, unsigned int position,
					unsigned long lanes, u32 gone, unsigned int n)
{
	struct nswap_parity *p = c->parity;
	unsigned int lane, end = n;
	bool run = false;

	for_each_set_bit(lane, &lanes, NSWAP_ROW_LANES) {
		u32 cell = nswap_row_cell(r, position, lane);
		u32 slot = READ_ONCE(p->slot_of[cell]);
		bool live = slot && READ_ONCE(p->cell_of[slot]) == cell;

		if ((gone & BIT(lane) && nswap_cell_bad(p, cell)) ||
		    (!live && n - end == GAP)) {
			n = end;
			run = false;
		} else if (live || run) {
			if (n == NSWAP_REQ_SLOTS)
				break;
			c->c.b.io.slot[n] = cell;
			c->c.b.io.outer[n] = live ? slot : 0;
			c->c.old[n++] = cell;
			if (live)
				end = n;
			run = true;
		}
	}
	return end;
}

/*
 * Likewise of a row, if @lost those of groups alone that lost a cell; how many. Strip by
 * strip: adjacent cells are read in one message.
 */
static unsigned int clean_collect(struct nswap_row_clean *c, const struct nswap_row *r,
				  bool lost)
{
	unsigned int lane, bad, i, n = 0;
	unsigned long lanes = 0;
	u32 gone = 0;

	for (lane = 0; lane < NSWAP_ROW_LANES; lane++) {
		bad = nswap_row_bad(c->parity, r, lane);
		lanes |= bad || !lost ? BIT(lane) : 0;
		gone |= bad > r->checks ? BIT(lane) : 0;
	}
	/* others than in the last run: its peer may be silent, and another one dead */
	c->strip++;
	for (i = 0; i < r->nr && n < NSWAP_REQ_SLOTS; i++)
		n = clean_collect_strip(c, r, (c->strip + i) % r->nr, lanes, gone, n);
	return n;
}

/*
 * Bring a part of a row elsewhere; returns how many pages were read for it, 0: it has none
 * that can be read now, -EAGAIN: they had nowhere to go, or some are still on their way.
 */
static int clean_row(struct nswap_row_clean *c, u32 row, bool lost, bool back)
{
	struct nswap_parity *p = c->parity;
	int n;

	if (!nswap_row_pin(p, row))
		return -EAGAIN;
	n = clean_collect(c, &p->row[row], lost);
	if (n) {
		n = back ? nswap_row_copy_outer(&c->c, n) :
			   nswap_row_copy_cells(&c->c, n);
		c->unread = c->unread || (lost && !n);
	}
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
		if (nswap_row_bad(p, r, lane))
			return true;
	return false;
}

/* will page-outs find no strips soon? */
static bool clean_short(const struct nswap_parity *p)
{
	return READ_ONCE(p->nr_unused) < NSWAP_ROW_KEPT +
	       max(p->nr_strips / SHORT_PART, 2 * NSWAP_ROW_WIDTH);
}

/* what a row would have that was opened now; a snapshot */
static void clean_shape(const struct nswap_parity *p, struct nswap_group_shape *shape)
{
	nswap_row_shape(p, max(nswap_place_count(p->dev->node), 2u), shape);
}

/*
 * Has a row another number of checks than it would have now, @shape? It keeps what it has
 * while peers or strips are too few for more.
 */
static bool clean_row_misfit(const struct nswap_parity *p, const struct nswap_row *r,
			     const struct nswap_group_shape *shape)
{
	return READ_ONCE(r->live) &&
	       (READ_ONCE(r->checks) > READ_ONCE(p->want.checks) ||
		(READ_ONCE(r->checks) < shape->checks && !clean_short(p)));
}

/*
 * From what cells may have lost their pages: 0 if none has. It changes with what is to be
 * found.
 */
static u64 clean_losses(struct nswap_parity *p)
{
	u64 lost = nswap_slot_count(p->cells, NSWAP_SLOT_LOST);
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(p->dev->node, i, peer) {
		if (nswap_peer_hopeless(READ_ONCE(peer->state)) &&
		    atomic64_read(&peer->slots))
			lost = 31 * lost + peer->index;
		nswap_peer_put(peer);
	}
	return lost;
}

/* what clean_next() looks for */
enum clean_what {
	CLEAN_LOST,	/* groups that have lost a cell */
	CLEAN_WANTED,	/* rows that a peer wants to be rid of, or of other checks */
	CLEAN_BACK,	/* all that is left, for parity is off */
};

static bool clean_is(const struct nswap_parity *p, const struct nswap_row *r,
		     enum clean_what what, const struct nswap_group_shape *shape)
{
	if (READ_ONCE(r->state) == NSWAP_ROW_FREE)
		return false;
	switch (what) {
	case CLEAN_LOST:
		return clean_row_lost(p, r);
	case CLEAN_WANTED:
		return READ_ONCE(r->wanted) || clean_row_misfit(p, r, shape);
	default:
		return true;
	}
}

/* The next row of a kind; returns how many pages were read, 0 too if they had nowhere to go */
static unsigned int clean_next(struct nswap_row_clean *c, enum clean_what what)
{
	struct nswap_parity *p = c->parity;
	struct nswap_group_shape shape;
	u32 looked;
	int n = 0;

	clean_shape(p, &shape);
	for (looked = 0; looked < p->nr_rows && !n && !READ_ONCE(c->stop); looked++) {
		if (clean_is(p, &p->row[c->row], what, &shape)) {
			nswap_row_close(p, c->row);
			n = clean_row(c, c->row, what == CLEAN_LOST,
				      what == CLEAN_BACK);
		}
		c->no_room = c->no_room || n == -EAGAIN;
		/* the rest of the same row, in the next run */
		if (n <= 0)
			c->row = (c->row + 1) % p->nr_rows;
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	return max(n, 0);
}

/* the emptiest rows, in order */
struct clean_rows {
	unsigned int nr;
	u32 row[TRIES];
	u32 share[TRIES];
};

static void clean_rows_add(struct clean_rows *rows, u32 row, u32 share)
{
	unsigned int i;

	if (rows->nr == TRIES && share >= rows->share[TRIES - 1])
		return;
	if (rows->nr < TRIES)
		rows->nr++;
	for (i = rows->nr - 1; i && rows->share[i - 1] > share; i--) {
		rows->row[i] = rows->row[i - 1];
		rows->share[i] = rows->share[i - 1];
	}
	rows->row[i] = row;
	rows->share[i] = share;
}

/*
 * Those with the smallest share of live cells, checks included, if that is worth it: of
 * a row that is opened now, it would be so much. Those that are passed over do not count.
 */
static void clean_emptiest(const struct nswap_row_clean *c, struct clean_rows *rows)
{
	const struct nswap_parity *p = c->parity;
	struct nswap_group_shape shape;
	u32 i, most;

	rows->nr = 0;
	clean_shape(p, &shape);
	most = FULL_PCT * shape.pages / (shape.pages + shape.checks);

	for (i = 0; i < p->nr_rows; i++) {
		const struct nswap_row *r = &p->row[i];
		u32 share, strips = READ_ONCE(r->nr) + READ_ONCE(r->checks);

		if (!(i % NSWAP_FILL_BREATHE))
			cond_resched();
		if (READ_ONCE(r->state) != NSWAP_ROW_CLOSED || !strips ||
		    READ_ONCE(r->passed) == c->era)
			continue;
		share = 100 * READ_ONCE(r->live) / (strips * NSWAP_ROW_LANES);
		if (share < most)
			clean_rows_add(rows, i, share);
	}
}

/*
 * Do peers hold more cells than the live pages are worth, with rows as there may be now?
 * @rests: nothing is written.
 */
static bool clean_due(struct nswap_row_clean *c, bool *rests)
{
	struct nswap_parity *p = c->parity;
	s64 live = atomic64_read(&p->live);
	s64 held = nswap_slot_count(p->cells, NSWAP_SLOT_REMOTE);
	struct nswap_group_shape shape;
	unsigned int pct = BUSY_PCT;

	if (live != c->live) {
		c->live = live;
		c->written = jiffies;
	}
	*rests = time_after(jiffies, c->written + REST);
	if (*rests)
		pct = REST_PCT;
	live = max_t(s64, live, 2 * NSWAP_ROW_LANES * p->want.pages);
	clean_shape(p, &shape);
	return held * 100 * shape.pages > live * (shape.pages + shape.checks) * pct;
}

/*
 * A part of the emptiest row; returns how many pages were read. What is left of a row may
 * be lost, or at peers that are silent: such a row is passed over for an era, or it would
 * be the emptiest for as long. An era ends when there is no other row left.
 */
static unsigned int clean_some(struct nswap_row_clean *c)
{
	struct clean_rows rows;
	unsigned int try;
	int n = 0;

	clean_emptiest(c, &rows);
	if (!rows.nr && time_after(jiffies, c->begun + ERA)) {
		c->begun = jiffies;
		c->era = c->era % U8_MAX + 1;
	}
	for (try = 0; try < rows.nr && !n && !READ_ONCE(c->stop); try++) {
		n = clean_row(c, rows.row[try], false, false);
		if (!n)
			WRITE_ONCE(c->parity->row[rows.row[try]].passed, c->era);
	}
	return max(n, 0);
}

/*
 * Pages of groups that have lost a cell; likewise. A search of all rows that found none is
 * not repeated for a while.
 */
static unsigned int clean_lost(struct nswap_row_clean *c)
{
	unsigned long rest = c->unread ? UNREAD_AGAIN : LOST_AGAIN;
	u64 lost = clean_losses(c->parity);
	unsigned int n;

	if (!lost || (lost == c->lost && !time_after(jiffies, c->searched + rest)))
		return 0;
	c->no_room = false;
	c->unread = false;
	n = clean_next(c, CLEAN_LOST);
	c->lost = n || c->no_room ? 0 : lost;
	c->searched = jiffies;
	return n;
}

/* what is exposed, or not to stay where it is; likewise */
static unsigned int clean_exposed(struct nswap_row_clean *c)
{
	struct nswap_parity *p = c->parity;
	unsigned int n = clean_lost(c);

	if (!n) {
		/* rows without their checks may have all other buffers */
		WRITE_ONCE(p->last_buffer, true);
		n = clean_next(c, CLEAN_WANTED);
		WRITE_ONCE(p->last_buffer, false);
	}
	if (!n && nswap_slot_count(p->dev, NSWAP_SLOT_REMOTE) &&
	    nswap_place_count(p->dev->node) > 1)
		n = nswap_row_copy_in(&c->c);
	return n;
}

/*
 * One batch; returns how many pages were read; @paced: no more than protect_mib_s. With few
 * strips left every second one is to make room.
 */
static unsigned int clean_step(struct nswap_row_clean *c, bool *paced)
{
	struct nswap_parity *p = c->parity;
	unsigned int n = 0;
	bool rests, due;

	*paced = true;
	/* rows that are open have cells at peers, though all their pages were freed */
	if (!nswap_parity_wanted(p->dev))
		return atomic64_read(&p->live) || READ_ONCE(p->nr_buffers) ?
		       clean_next(c, CLEAN_BACK) : 0;
	c->room = !c->room;
	if (c->room && clean_short(p))
		n = clean_some(c);
	*paced = !n;
	if (!n)
		n = clean_exposed(c);
	due = clean_due(c, &rests);
	if (n || (!due && !clean_short(p)))
		return n;
	*paced = rests;
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
	struct nswap_row_clean *c = kzalloc_obj(*c);

	if (!c)
		return -ENOMEM;
	p->clean = c;
	c->parity = p;
	c->era = 1;
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
	kfree(p->clean);
}
