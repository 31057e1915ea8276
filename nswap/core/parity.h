/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parity: the pages of a device in rows of cells, each row with checks. State only: rows
 * are opened, filled and freed by client/row.c.
 *
 * A device that is protected by parity has a second device behind it, without a disk,
 * whose slots are cells. A page is written to the next cell of the open row, and stays
 * there until it is written again; so what is in a row never changes, and its checks are
 * computed once (parity logging).
 *
 *             lane 0 .. 31       strip: 32 adjacent cells, lane by lane
 *   position 0  [ strip ]        row: nr strips of pages and the checks over them
 *   position 1  [ strip ]        group: the cells of one lane of a row, each at another
 *   check       [ strip ]               peer
 *
 * A row has one check or two, base/raid6.h, as its device wants when it is opened.
 */
#ifndef NSWAP_PARITY_H
#define NSWAP_PARITY_H

#include <linux/spinlock.h>

#include "base/raid6.h"
#include "device.h"
#include "request.h"

#define NSWAP_ROW_LANES		NSWAP_REQ_SLOTS
#define NSWAP_ROW_DATA		8	/* positions for pages, at most */
#define NSWAP_ROW_CHECKS	2	/* and for checks, at most */
#define NSWAP_ROW_WIDTH		(NSWAP_ROW_DATA + NSWAP_ROW_CHECKS)
#define NSWAP_ROW_BUFFERS	8	/* rows whose checks are in this node's RAM */
#define NSWAP_ROW_SPARE		2	/* of them, left to recovery and cleaning */
#define NSWAP_ROW_KEPT		(2 * NSWAP_ROW_WIDTH)	/* strips left to them, too */
#define NSWAP_ROW_NONE		U32_MAX

static_assert(NSWAP_ROW_DATA == NSWAP_RAID6_DATA);
static_assert(NSWAP_ROW_WIDTH == NSWAP_RAID6_PAGES);

/**
 * enum nswap_row_state - life of a row
 * @NSWAP_ROW_FREE: has no strips
 * @NSWAP_ROW_OPEN: takes pages; its checks are in this node's RAM
 * @NSWAP_ROW_FULL: takes none any more, some are still on their way
 * @NSWAP_ROW_STORING: its checks are on their way to their peers
 * @NSWAP_ROW_CLOSED: peers have all of it
 */
enum nswap_row_state {
	NSWAP_ROW_FREE,
	NSWAP_ROW_OPEN,
	NSWAP_ROW_FULL,
	NSWAP_ROW_STORING,
	NSWAP_ROW_CLOSED,
};

/**
 * struct nswap_row - a row; under the lock of its struct nswap_parity
 * @strip: its strips, those of pages first
 * @member: of each position, the lanes whose page is in the check; set under the lock of
 *	the buffer, read without one when the row is not open any more
 * @moving: of each lane, the peer that a page of it is being moved to, or 0
 * @freed: lanes whose cells were freed
 * @live: cells that a slot names
 * @under_way: cells that were taken and have not ended
 * @use: which use of this row it is
 * @nr: positions for pages
 * @checks: for checks
 * @state: enum nswap_row_state
 * @buffer: index of its buffer, while it has one
 * @spare: it is open for recovery and cleaning
 * @pinned: its pages are being brought elsewhere: no group is freed
 * @wanted: a peer wants RAM back: the row is to be written again elsewhere
 * @passed: in this era of cleaning none of its pages could be read; 0: never
 */
struct nswap_row {
	u32 strip[NSWAP_ROW_WIDTH];
	u32 member[NSWAP_ROW_WIDTH];
	u16 moving[NSWAP_ROW_LANES];
	u32 freed;
	u32 live;
	u32 under_way;
	u32 use;
	u8 nr;
	u8 checks;
	u8 state;
	u8 buffer;
	bool spare;
	bool pinned;
	bool wanted;
	u8 passed;
};

/**
 * struct nswap_row_buffer - the checks of a row until peers have them
 * @parity: whose
 * @index: of the buffers of @parity
 * @row: the row; under the lock of @parity
 * @used: it has one; likewise
 * @busy: requests of @io that are under way, or whose end is not over yet
 * @lock: protects @page and the members of the row; process context
 * @page: the first checks by lane, and the second ones, if the device ever wanted them
 * @store: sends them
 * @turn: which are sent next
 * @io: the request that does
 */
struct nswap_row_buffer {
	struct nswap_parity *parity;
	u8 index;
	u32 row;
	bool used;
	atomic_t busy;
	spinlock_t lock;
	struct page *page[NSWAP_ROW_CHECKS][NSWAP_ROW_LANES];
	struct delayed_work store;
	unsigned int turn;
	struct nswap_io io;
};

struct nswap_rebuilder;
struct nswap_row_clean;

/**
 * struct nswap_parity - the rows of a device
 * @dev: the visible device
 * @cells: that of the cells
 * @hidden: @cells is not in the node's list any more
 * @name: "parity:4+1"
 * @want: what a row that is opened now has; less if there are too few peers
 * @raid6: for second checks, held since they were wanted first
 * @lock: protects rows, strips, buffers; any context
 * @place_lock: one task at a time chooses peers for cells; process; outside the node's
 * @switch_lock: a slot of the visible device is claimed, or its page is recorded in a
 *	cell, one after the other
 * @cell_of: of each slot, the cell that has its page, or 0; changed by exchange
 * @slot_of: of each cell, the slot it was taken for, 0: it is dead, or has a check
 * @row_of: of each strip, its row, or NSWAP_ROW_NONE
 * @unused: strips in no row
 * @nr_unused: how many
 * @nr_strips: with strip 0, which is not used: cell 0 means none
 * @row: the rows
 * @nr_rows: how many
 * @next_row: where to look for a free one
 * @open: the one that takes pages, or NSWAP_ROW_NONE; another for recovery and cleaning
 * @cursor: their next cells
 * @buffer: the buffers
 * @nr_buffers: of them in use
 * @last_buffer: rows that are opened for recovery may take the last one
 * @live: cells that a slot names
 * @rebuild: page-ins of lost pages
 * @clean: recovery and cleaning
 */
struct nswap_parity {
	struct nswap_device *dev;
	struct nswap_device *cells;
	bool hidden;
	char name[16];
	struct nswap_group_shape want;
	struct nswap_raid6 raid6;
	spinlock_t lock;
	spinlock_t place_lock;
	spinlock_t switch_lock;
	u32 *cell_of;
	u32 *slot_of;
	u32 *row_of;
	u32 *unused;
	u32 nr_unused;
	u32 nr_strips;
	struct nswap_row *row;
	u32 nr_rows;
	u32 next_row;
	u32 open[2];
	u32 cursor[2];
	struct nswap_row_buffer *buffer[NSWAP_ROW_BUFFERS];
	unsigned int nr_buffers;
	bool last_buffer;
	atomic64_t live;
	struct nswap_rebuilder *rebuild;
	struct nswap_row_clean *clean;
};

/* the rows of a device, visible or of cells; NULL without any; any context */
static inline struct nswap_parity *nswap_parity_of(const struct nswap_device *dev)
{
	/* pairs with nswap_parity_init() */
	return smp_load_acquire(&dev->parity);
}

/* is it the device of cells behind another? */
static inline bool nswap_is_cells(const struct nswap_device *dev)
{
	return dev->outer;
}

/* the device that programs see: of a block request that may have come to its cells */
static inline struct nswap_device *nswap_visible_device(struct nswap_device *dev)
{
	return dev->outer ?: dev;
}

/* are pages to be written to cells? */
static inline bool nswap_parity_wanted(const struct nswap_device *dev)
{
	/* pairs with nswap_protect_set(): then there are rows */
	return smp_load_acquire(&dev->protect) == NSWAP_PROTECT_PARITY;
}

static inline u32 nswap_cell_lane(u32 cell)
{
	return cell % NSWAP_ROW_LANES;
}

/* the row of a cell, NSWAP_ROW_NONE if it is in none; stable while the row has the cell */
static inline u32 nswap_cell_row(const struct nswap_parity *p, u32 cell)
{
	return READ_ONCE(p->row_of[cell / NSWAP_ROW_LANES]);
}

/* the strips of a row that are at peers, or are to be: its checks come last */
static inline unsigned int nswap_row_strips(const struct nswap_row *r)
{
	/* pairs with nswap_row_stored(): @nr does not change afterwards */
	bool closed = smp_load_acquire(&r->state) == NSWAP_ROW_CLOSED;

	return READ_ONCE(r->nr) + (closed ? READ_ONCE(r->checks) : 0);
}

static inline u32 nswap_row_cell(const struct nswap_row *r, unsigned int position,
				 unsigned int lane)
{
	return READ_ONCE(r->strip[position]) * NSWAP_ROW_LANES + lane;
}

#endif
