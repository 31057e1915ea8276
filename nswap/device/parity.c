// SPDX-License-Identifier: GPL-2.0
/*
 * Device, parity: a second device of cells behind a visible one.
 *
 * It has no disk, no home and no flash. Peers know it by an instance of its own, so their
 * messages about cells find it as any device, and so do comparison, frees and losses.
 *
 * Invariants:
 *  - It is made when protection by parity is turned on first, and kept until the visible
 *    device is removed; it leaves the node's list with that one.
 *  - The number of cells is twice that of slots: enough for rows of two pages and a check
 *    that are a quarter dead, and more than enough for wider ones. With two checks it is
 *    three times that, unless it had one when the cells were made: then rows of four.
 */
#include <linux/slab.h>

#include "base/views.h"
#include "client/rebuild.h"
#include "client/row.h"
#include "client/row_store.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "parity.h"
#include "pure/charged.h"
#include "peers/attach.h"
#include "tiering/row_clean.h"

#define STRIPS_MORE	64	/* so that small devices have enough rows */
#define MAX_CELLS	(1ull << 28)

static u32 *parity_table(struct nswap_device *dev, const char *name)
{
	struct nswap_side_table *t = nswap_side_add(&dev->side, name, 32);

	return t ? t->at : NULL;
}

/* Returns 0 or -ENOMEM; then parity_free_cells() */
static int parity_make_cells(struct nswap_parity *p, u64 slots)
{
	struct nswap_device *cells = kzalloc_obj(*cells);
	struct nswap_side_table *t;

	if (!cells)
		return -ENOMEM;
	p->cells = cells;
	cells->node = p->dev->node;
	cells->number = p->dev->number;
	cells->disk = p->dev->disk;
	cells->outer = p->dev;
	cells->parity = p;
	INIT_LIST_HEAD(&cells->link);
	spin_lock_init(&cells->header_lock);
	nswap_side_init(&cells->side, slots);
	t = nswap_side_add(&cells->side, "freed cells", 1);
	p->slot_of = parity_table(cells, "slots of cells");
	cells->flow = alloc_percpu(struct nswap_flow);
	cells->counts = alloc_percpu(struct nswap_slot_counts);
	cells->placed_last = alloc_percpu(u16);
	if (!t || !p->slot_of || !cells->flow || !cells->counts ||
	    !cells->placed_last ||
	    nswap_freed_init(&cells->freed, nswap_side_bitmap(t), slots) ||
	    nswap_slot_map_init(&cells->map, slots))
		return -ENOMEM;
	return 0;
}

static void parity_free_cells(struct nswap_device *cells)
{
	if (!cells)
		return;
	nswap_slot_map_exit(&cells->map);
	nswap_freed_exit(&cells->freed);
	nswap_side_exit(&cells->side);
	free_percpu(cells->flow);
	free_percpu(cells->counts);
	free_percpu(cells->placed_last);
	kfree(cells);
}

/* Returns 0 or -ENOMEM */
static int parity_make_rows(struct nswap_parity *p)
{
	u32 i;

	p->nr_rows = p->nr_strips / 2;
	p->row = nswap_charged_zalloc(array_size(p->nr_rows, sizeof(*p->row)));
	p->row_of = nswap_charged_zalloc(array_size(p->nr_strips, sizeof(u32)));
	p->unused = nswap_charged_zalloc(array_size(p->nr_strips, sizeof(u32)));
	if (!p->row || !p->row_of || !p->unused)
		return -ENOMEM;
	/* cell 0 means none: strip 0 is not used */
	p->row_of[0] = NSWAP_ROW_NONE;
	for (i = p->nr_strips - 1; i; i--) {
		p->row_of[i] = NSWAP_ROW_NONE;
		p->unused[p->nr_unused++] = i;
	}
	p->open[0] = NSWAP_ROW_NONE;
	p->open[1] = NSWAP_ROW_NONE;
	return 0;
}

static void parity_free(struct nswap_parity *p)
{
	nswap_rebuild_exit(p);
	nswap_row_clean_exit(p);
	nswap_row_store_exit(p);
	nswap_raid6_put(&p->raid6);
	vfree(p->row);
	vfree(p->row_of);
	vfree(p->unused);
	parity_free_cells(p->cells);
	kfree(p);
}

/* Returns 0, -ENOMEM or -EOPNOTSUPP; then nothing has changed but for memory */
static int parity_shape(struct nswap_parity *p, struct nswap_group_shape shape)
{
	if (shape.checks > 1 && !p->raid6.add && !nswap_raid6_get(&p->raid6))
		return -EOPNOTSUPP;
	if (shape.checks > 1 && nswap_row_store_init_second(p))
		return -ENOMEM;
	/* rows are opened under it, with what was allocated just now */
	spin_lock_irq(&p->lock);
	p->want = shape;
	spin_unlock_irq(&p->lock);
	snprintf(p->name, sizeof(p->name), "parity:%u+%u", shape.pages, shape.checks);
	return 0;
}

/**
 * nswap_parity_init() - make what a device needs to be protected by parity
 * @dev: new, or under the node's control lock; if it has it, only @shape is changed
 * @shape: what its groups have
 *
 * Context: process, sleeps. Allocates about 30 bytes a slot and 2 MiB, freed with the
 * device; with two checks half as much again.
 * Return: 0; -ENOMEM; -EFBIG: the device has too many slots; -EOPNOTSUPP: this kernel has
 * no library for two checks.
 */
int nswap_parity_init(struct nswap_device *dev, struct nswap_group_shape shape)
{
	struct nswap_parity *p = dev->parity;
	u64 strips = (1 + shape.checks) * DIV_ROUND_UP(dev->map.nr, NSWAP_ROW_LANES) +
		     STRIPS_MORE;
	int ret;

	if (p)
		return parity_shape(p, shape);
	if (strips * NSWAP_ROW_LANES > MAX_CELLS)
		return -EFBIG;
	p = kzalloc_obj(*p);
	if (!p)
		return -ENOMEM;
	p->dev = dev;
	p->nr_strips = strips;
	spin_lock_init(&p->lock);
	spin_lock_init(&p->place_lock);
	spin_lock_init(&p->switch_lock);
	ret = -ENOMEM;
	if (!parity_make_cells(p, strips * NSWAP_ROW_LANES) && !parity_make_rows(p) &&
	    !nswap_row_store_init(p) && !nswap_rebuild_init(p) &&
	    !nswap_row_clean_init(p))
		ret = parity_shape(p, shape);
	/* last, for it stays with the device */
	p->cell_of = ret ? NULL : parity_table(dev, "cells");
	if (!ret && !p->cell_of)
		ret = -ENOMEM;
	if (ret) {
		parity_free(p);
		return ret;
	}
	/* peers are told of devices in this order, of the cells last */
	if (!dev->instance)
		nswap_device_name(dev);
	nswap_device_name(p->cells);
	list_add_tail_rcu(&p->cells->link, &dev->node->devices);
	/* pairs with nswap_parity_of() */
	smp_store_release(&dev->parity, p);
	/* from now on no task tidies as if it had no rows: nswap_slot_tidy() */
	synchronize_rcu();
	return 0;
}

/* the disk exists; process, sleeps for peers; under the node's control lock */
void nswap_parity_start(struct nswap_device *dev)
{
	struct nswap_parity *p = dev->parity;

	if (!p)
		return;
	if (!READ_ONCE(p->cells->attached)) {
		p->cells->class = dev->class;
		nswap_attach_device(p->cells);
	}
	nswap_row_clean_start(p);
}

/*
 * The device leaves the node's list, or never gets there; under the node's control lock.
 * What finds it under RCU is to be waited for.
 */
void nswap_parity_hide(struct nswap_device *dev)
{
	if (!dev->parity || dev->parity->hidden)
		return;
	dev->parity->hidden = true;
	list_del_rcu(&dev->parity->cells->link);
}

/* the device is dying, its disk still exists; process, sleeps for peers */
void nswap_parity_stop(struct nswap_device *dev)
{
	if (!dev->parity)
		return;
	WRITE_ONCE(dev->parity->cells->dying, true);
	nswap_row_clean_stop(dev->parity);
	nswap_rebuild_stop(dev->parity);
	nswap_row_store_stop(dev->parity);
}

/* undo nswap_parity_init(), if it ran; no request is left; process, sleeps */
void nswap_parity_exit(struct nswap_device *dev)
{
	if (!dev->parity)
		return;
	parity_free(dev->parity);
	dev->parity = NULL;
}

/*
 * The live pages of a lane, if it has lost a cell or has fewer checks than it should;
 * @gone: it has lost more than its checks.
 */
static unsigned int parity_lane(const struct nswap_parity *p, const struct nswap_row *r,
				unsigned int lane, u64 *gone)
{
	unsigned int i, bad = 0, live = 0, bad_live = 0;

	for (i = 0; i < r->nr + r->checks; i++) {
		u32 cell = nswap_row_cell(r, i, lane);
		bool lost = nswap_cell_bad(p, cell) &&
			    (i < r->nr || r->state == NSWAP_ROW_CLOSED);
		bool needed = i < r->nr && READ_ONCE(p->slot_of[cell]);

		bad += lost;
		live += needed;
		bad_live += needed && lost;
	}
	if (bad > r->checks)
		*gone += bad_live;
	return bad || r->checks < p->want.checks ? live : 0;
}

/*
 * Count the exposed and lost pages of @nr rows, or of as many as there are. Any context, in
 * which the rows stay. Returns the row to go on with.
 */
u32 nswap_parity_rows(const struct nswap_parity *p, u32 from, u32 nr, u64 *exposed,
		      u64 *lost)
{
	u32 i, end = min(p->nr_rows, from + nr);
	unsigned int lane;

	for (i = from; i < end; i++) {
		const struct nswap_row *r = &p->row[i];

		if (READ_ONCE(r->state) == NSWAP_ROW_FREE || !READ_ONCE(r->live))
			continue;
		for (lane = 0; lane < NSWAP_ROW_LANES; lane++)
			*exposed += parity_lane(p, r, lane, lost);
	}
	return i;
}

/* fill in what cells take; under the node's control lock */
void nswap_parity_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	struct nswap_parity *p = dev->parity;
	u32 i;

	if (!p)
		return;
	v->map_bytes += nswap_slot_map_bytes(p->cells->map.nr);
	for (i = 0; i < p->cells->side.nr; i++)
		v->side_bytes += nswap_side_bytes(&p->cells->side, i);
}
