// SPDX-License-Identifier: GPL-2.0
/*
 * Change of a sealed device's key: the pages that are sealed with the old one are read
 * through the device and written again (reseal.c), round after round; with rows, those in
 * cells with their rows (row_clean.c, row_copy.c).
 *
 *   a round: all slots, once -> a page of the old key was found: another round
 *                           \-> none was, and no page-out of before the change was left when
 *                               it began: the old key is wiped, and the change is over
 *
 * Invariants:
 *  - A page that cannot be read or written now is tried again in the next round. One that
 *    comes and does not open is read from every other copy; if none opens it is left, and
 *    the change lasts until its program has written it again, or it is freed or lost.
 *  - Nothing waits for this but page-outs of the slots of one batch. It runs on a queue
 *    without a rescuer, uses memory allocated when the key is changed first, writes no
 *    more than protect_mib_s, and nothing while page-outs wait for room.
 *  - Stopped before the disk is removed. What is only here then is the page of a device
 *    that goes.
 */
#include <linux/bio.h>
#include <linux/slab.h>

#include "base/views.h"
#include "client/reseal.h"
#include "client/row.h"
#include "client/seal_key.h"
#include "core/client_state.h"
#include "core/inject.h"
#include "core/slot_update.h"
#include "fill_pace.h"
#include "key_change.h"
#include "peers/place.h"
#include "read_through.h"

#define AGAIN	(HZ / 10)	/* what no place has taken is offered again */
#define EVERY_OTHER	(~0ul / 3)	/* bits 0, 2, 4 and so on */
#define REST	(2 * HZ)	/* after a round in which nothing could be done */

/**
 * struct nswap_key_change - of one device
 * @work: one batch a run
 * @stop: it is not to run again
 * @dev: device
 * @cursor: slot where the round continues, 0: it has not begun
 * @drained: no page-out of before the change was left when it began
 * @found: slots of the old key in it
 * @made: of these, those that were written with the newest
 * @cells: those that are in cells
 * @were: likewise, in the last round
 * @unread: those that could not be read or written
 * @altered: those that came and did not open
 * @said: both, of the last round, for the user
 * @owed_us: for nswap_fill_pause()
 * @r: the batch
 * @read: of its pages, see nswap_read_through()
 */
struct nswap_key_change {
	struct delayed_work work;
	bool stop;
	struct nswap_device *dev;
	u64 cursor;
	bool drained;
	u64 found;
	u64 made;
	u64 cells;
	u64 were;
	u64 unread;
	u64 altered;
	struct {
		u64 unread;
		u64 altered;
	} said;
	unsigned int owed_us;
	struct nswap_reseal r;
	struct bio *read;
};

static void change_begin_round(struct nswap_key_change *k)
{
	k->drained = nswap_seal_key_drained(k->dev);
	k->cursor = 1;
	k->found = 0;
	k->made = 0;
	k->were = k->cells;
	k->cells = 0;
	k->unread = 0;
	k->altered = 0;
}

/* returns jiffies until the next one */
static unsigned long change_end_round(struct nswap_key_change *k)
{
	k->cursor = 0;
	if (k->cells < k->were)
		k->made += k->were - k->cells;
	else if (k->cells == k->were)
		k->unread += k->cells;
	WRITE_ONCE(k->said.unread, k->unread);
	WRITE_ONCE(k->said.altered, k->altered);
	if (!k->found && k->drained) {
		nswap_seal_key_destroy(k->dev);
		return 0;
	}
	if (k->cells)
		return AGAIN;
	return k->made ? 0 : k->found ? REST : AGAIN;
}

/* the next slot with a page of the old key; false if none was found in this look */
static bool change_search(struct nswap_key_change *k)
{
	const struct nswap_slot_map *map = &k->dev->map;
	unsigned int looked;

	for (looked = 0; looked < NSWAP_FILL_LOOK && k->cursor < map->nr; looked++) {
		if (nswap_seal_key_old(k->dev, k->cursor))
			return true;
		k->cursor = nswap_slot_map_next(map, k->cursor + 1);
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	return false;
}

/* the page of a slot can be read, and nothing else is being done with it */
static bool change_rests(const struct nswap_slot *s)
{
	return s->state == NSWAP_SLOT_REMOTE || s->state == NSWAP_SLOT_HOME ||
	       s->state == NSWAP_SLOT_FLASH;
}

/* is a slot's page in a cell? then its row is to be written again, as row_clean.c does */
static bool change_cell(struct nswap_key_change *k, u64 slot)
{
	struct nswap_parity *p = nswap_parity_of(k->dev);
	u32 cell = p ? READ_ONCE(p->cell_of[slot]) : 0;

	if (!cell)
		return false;
	k->cells++;
	/* it may be dead meanwhile, and in no row */
	nswap_row_want(p->cells, cell);
	return true;
}

/* the batch begins at the cursor; returns the slots that are to be resealed */
static unsigned long change_collect(struct nswap_key_change *k)
{
	struct nswap_reseal *r = &k->r;
	unsigned long pages = 0;
	unsigned int i;

	nswap_reseal_at(r, k->cursor);
	for (i = 0; i < r->b.io.nr; i++) {
		/* before its seal: that is of this word, or a newer one */
		r->had[i] = nswap_slot_look(k->dev, k->cursor + i);
		/* pairs with nswap_wrap_keep() */
		smp_rmb();
		if (!nswap_seal_key_old(k->dev, k->cursor + i))
			continue;
		k->found++;
		if (!change_cell(k, k->cursor + i) && change_rests(&r->had[i]))
			pages |= BIT(i);
	}
	k->cursor += r->b.io.nr;
	return pages;
}

/*
 * Read them through the device. One that fails has its neighbours fail in the same request:
 * so these are read again, none beside another.
 */
static unsigned long change_read_quick(struct nswap_key_change *k, unsigned long pages)
{
	struct nswap_batch *b = &k->r.b;
	unsigned long got = nswap_read_through(b, k->read, pages), left = pages & ~got;

	if (left & EVERY_OTHER)
		got |= nswap_read_through(b, k->read, left & EVERY_OTHER);
	if (left & ~EVERY_OTHER)
		got |= nswap_read_through(b, k->read, left & ~EVERY_OTHER);
	return got;
}

/* likewise, at last from any copy there is; returns those that were read */
static unsigned long change_read(struct nswap_key_change *k, unsigned long pages)
{
	struct nswap_reseal *r = &k->r;
	unsigned long got = change_read_quick(k, pages), doubted;

	doubted = nswap_reseal_altered(r) & pages & ~got;
	if (doubted) {
		r->open = nswap_read_patiently(&r->b, k->read, doubted & EVERY_OTHER);
		r->open |= nswap_read_patiently(&r->b, k->read, doubted & ~EVERY_OTHER);
		got |= r->open;
	}
	doubted &= ~got;
	k->altered += hweight_long(doubted);
	k->unread += hweight_long(pages & ~got & ~doubted);
	return got;
}

/* write what the batch has; returns jiffies until the next run */
static unsigned long change_write(struct nswap_key_change *k)
{
	unsigned int n;

	if (!nswap_reseal_write(&k->r))
		return AGAIN;
	n = nswap_reseal_over(&k->r);
	k->made += n;
	return nswap_fill_pause(k->dev, n, &k->owed_us);
}

static bool change_may(struct nswap_key_change *k)
{
	struct nswap_node *node = k->dev->node;

	if (!nswap_knob(node, protect_mib_s) || nswap_client_waits(node->client))
		return false;
	/* grants are of use */
	nswap_client_used(node);
	return true;
}

/* one batch, or a look for one; returns jiffies until the next */
static unsigned long change_step(struct nswap_key_change *k)
{
	unsigned long pages;

	if (k->r.want)
		return change_write(k);
	if (!change_may(k))
		return AGAIN;
	if (!k->cursor)
		change_begin_round(k);
	if (!change_search(k))
		return k->cursor < k->dev->map.nr ? 1 : change_end_round(k);
	pages = change_collect(k);
	pages = pages ? change_read(k, pages) : 0;
	if (!pages || !nswap_reseal_seal(&k->r, pages))
		return 0;
	nswap_inject_point(k->dev->node->id, NSWAP_POINT_REPAIRING);
	return change_write(k);
}

static void change_work(struct work_struct *work)
{
	struct nswap_key_change *k = container_of(to_delayed_work(work),
						  struct nswap_key_change, work);
	unsigned long pause = change_step(k);

	if (!READ_ONCE(k->stop) && nswap_seal_key_changing(k->dev))
		queue_delayed_work(system_dfl_wq, &k->work, pause);
}

static void change_free(struct nswap_key_change *k)
{
	nswap_reseal_exit(&k->r);
	kfree(k->read);
	kfree(k);
}

static struct nswap_key_change *change_make(struct nswap_device *dev)
{
	struct nswap_key_change *k = kzalloc_obj(*k);

	if (!k)
		return NULL;
	k->dev = dev;
	INIT_DELAYED_WORK(&k->work, change_work);
	k->read = kzalloc_objs(*k->read, NSWAP_REQ_SLOTS);
	if (k->read && nswap_reseal_init(&k->r, dev))
		return k;
	change_free(k);
	return NULL;
}

/**
 * nswap_key_change_start() - change the key of a device
 * @dev: sealed, its key is not being changed; under the node's control lock
 *
 * Context: process, sleeps. Allocates 140 KiB for the first time, freed with the device.
 * Return: 0 or -ENOMEM.
 */
int nswap_key_change_start(struct nswap_device *dev)
{
	struct nswap_key_change *k = dev->key_change;
	int ret;

	if (!k) {
		k = change_make(dev);
		if (!k)
			return -ENOMEM;
		dev->key_change = k;
		/* pairs with page-ins, which find what was made */
		smp_store_release(&dev->reseal, &k->r);
	}
	/* of the last change, its end */
	cancel_delayed_work_sync(&k->work);
	ret = nswap_seal_key_begin(dev);
	if (ret)
		return ret;
	WRITE_ONCE(k->said.unread, 0);
	WRITE_ONCE(k->said.altered, 0);
	k->cursor = 0;
	k->cells = 0;
	mod_delayed_work(system_dfl_wq, &k->work, 0);
	return 0;
}

/* the device is dying, its disk still exists; process, sleeps for peers, home and flash */
void nswap_key_change_stop(struct nswap_device *dev)
{
	if (!dev->key_change)
		return;
	WRITE_ONCE(dev->key_change->stop, true);
	cancel_delayed_work_sync(&dev->key_change->work);
}

/* undo nswap_key_change_start(), if it ran; after nswap_key_change_stop() */
void nswap_key_change_exit(struct nswap_device *dev)
{
	struct nswap_key_change *k = dev->key_change;

	if (!k)
		return;
	dev->reseal = NULL;
	dev->key_change = NULL;
	change_free(k);
}

/* fill in how far the change of the key is; process, sleeps */
void nswap_key_change_look(struct nswap_device *dev, struct nswap_device_view *v)
{
	v->rekeying = nswap_seal_key_changing(dev);
	if (!v->rekeying)
		return;
	v->old_key = nswap_seal_key_left(dev);
	v->unread = READ_ONCE(dev->key_change->said.unread);
	v->altered = READ_ONCE(dev->key_change->said.altered);
}
