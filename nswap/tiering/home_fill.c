// SPDX-License-Identifier: GPL-2.0
/*
 * Exposed pages: a device that home protects has some that only peers hold, when
 * protection is turned on, when pages move out from home, or when home failed to take
 * a copy (follow.c). They are read from the peers and written home.
 *
 *   REMOTE(peer, g) -> due, MOVING(peer, g) -> read through the device -> written
 *   home -> REMOTE(peer, g), has a copy, no longer due
 *
 * Invariants:
 *  - A slot is due before its entry is changed, and its entry is changed before its
 *    page is read; so no page-out claims the slot until it is no longer due, and home
 *    never gets an older page after a newer one.
 *  - Its peer holds the page all the time, and page-ins read it there. A move that the
 *    peer reports meanwhile is to be tried again later.
 *  - Nothing waits for this but page-outs of the slots of one batch. It runs on a
 *    queue without a rescuer, uses memory allocated with the device, and writes no
 *    more than protect_mib_s.
 *  - Stopped before the disk is removed.
 */
#include <linux/bio.h>
#include <linux/slab.h>

#include "base/stats.h"
#include "base/types.h"
#include "base/views.h"
#include "client/batch.h"
#include "client/follow.h"
#include "core/client_state.h"
#include "core/device.h"
#include "core/home_copy.h"
#include "core/inject.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "fill_pace.h"
#include "home_fill.h"
#include "peers/peer.h"
#include "pure/slot_map.h"
#include "read_through.h"

/**
 * struct nswap_home_fill - copies the exposed pages of one device home
 * @work: one batch a run
 * @cursor: slot where the search continues
 * @left: slots to be looked at in this round
 * @looked: jiffies when the last round began
 * @owed_us: pause that was less than a jiffy
 * @b: the batch
 * @entry: of each slot of the batch when it became MOVING
 * @read: of its pages, see nswap_read_through()
 */
struct nswap_home_fill {
	struct delayed_work work;
	u64 cursor;
	u64 left;
	unsigned long looked;
	unsigned int owed_us;
	struct nswap_batch b;
	struct nswap_slot entry[NSWAP_REQ_SLOTS];
	struct bio *read;
};

/* can it be read now? a page that was mirrored has two places */
static bool fill_readable(struct nswap_device *dev, u64 slot, const struct nswap_slot *s)
{
	u16 second = nswap_mirror_of(dev, slot, s);

	return nswap_peer_state(dev->node, s->peer) == NSWAP_PEER_UP ||
	       (second && nswap_peer_state(dev->node, second) == NSWAP_PEER_UP);
}

static bool fill_exposed(struct nswap_device *dev, u64 slot)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return s.state == NSWAP_SLOT_REMOTE && !nswap_home_copy_has(dev, slot) &&
	       !nswap_home_copy_due(dev, slot) && fill_readable(dev, slot, &s);
}

/* the slot is due and MOVING, and in the batch; false if it is not to be copied */
static bool fill_begin(struct nswap_device *dev, u64 slot, unsigned int n)
{
	struct nswap_home_fill *f = dev->fill;

	if (!nswap_home_copy_begin(dev, slot))
		return false;
	if (!nswap_slot_hold(dev, slot, &f->entry[n])) {
		nswap_follow_end(dev, slot, 0, false);
		return false;
	}
	f->b.io.slot[n] = slot;
	return true;
}

static void fill_end(struct nswap_device *dev, unsigned int n, bool written)
{
	struct nswap_home_fill *f = dev->fill;
	const struct nswap_slot *begun = &f->entry[n];
	u64 slot = f->b.io.slot[n];

	written &= nswap_slot_release(dev, slot, begun, begun->peer);
	nswap_follow_end(dev, slot, begun->gen, written);
	if (written)
		nswap_stat_inc(dev->node, pages_followed);
}

/* find the next exposed pages; returns how many are in the batch */
static unsigned int fill_search(struct nswap_device *dev)
{
	struct nswap_home_fill *f = dev->fill;
	unsigned int looked, n = 0;

	for (looked = 0; f->left && looked < NSWAP_FILL_LOOK; looked++) {
		f->left--;
		f->cursor = nswap_slot_map_turn(&dev->map, f->cursor);
		if (fill_exposed(dev, f->cursor) && fill_begin(dev, f->cursor, n) &&
		    ++n == NSWAP_REQ_SLOTS)
			break;
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	return n;
}

/* copy the @n pages of the batch home; returns how many it copied */
static unsigned int fill_batch(struct nswap_device *dev, unsigned int n)
{
	struct nswap_home_fill *f = dev->fill;
	unsigned long pages;
	unsigned int i;

	nswap_inject_point(dev->node->id, NSWAP_POINT_REPAIRING);
	pages = nswap_read_through(&f->b, f->read, GENMASK(n - 1, 0));
	if (pages)
		pages &= ~nswap_batch_home(&f->b, pages, true);
	for (i = 0; i < n; i++)
		fill_end(dev, i, pages & BIT(i));
	nswap_client_kick(dev->node);
	return hweight_long(pages);
}

static bool fill_wanted(const struct nswap_device *dev)
{
	return READ_ONCE(dev->protect) == NSWAP_PROTECT_HOME &&
	       !READ_ONCE(dev->dying);
}

/* one batch, or a look for one; returns jiffies until the next */
static unsigned long fill_step(struct nswap_device *dev)
{
	struct nswap_home_fill *f = dev->fill;
	unsigned int n, copied;

	if (!nswap_knob(dev->node, protect_mib_s))
		return NSWAP_FILL_IDLE;
	if (!f->left && (nswap_home_copy_exposed(dev) ||
			 time_after(jiffies, f->looked + NSWAP_FILL_ANYWAY))) {
		f->left = nswap_slot_map_in_use(&dev->map);
		f->looked = jiffies;
	}
	n = fill_search(dev);
	copied = n ? fill_batch(dev, n) : 0;
	if (copied)
		return nswap_fill_pause(dev, copied, &f->owed_us);
	/* a home that fails is not tried again at once */
	return f->left && !n ? 1 : NSWAP_FILL_IDLE;
}

static void fill_work(struct work_struct *work)
{
	struct nswap_home_fill *f = container_of(to_delayed_work(work),
						 struct nswap_home_fill, work);
	struct nswap_device *dev = f->b.io.dev;

	if (fill_wanted(dev))
		queue_delayed_work(system_dfl_wq, &f->work, fill_step(dev));
}

/* with a new device that has a home; process, sleeps. Returns 0, or -ENOMEM. */
int nswap_home_fill_init(struct nswap_device *dev)
{
	struct nswap_home_fill *f = kzalloc_obj(*f);

	if (!f)
		return -ENOMEM;
	dev->fill = f;
	INIT_DELAYED_WORK(&f->work, fill_work);
	f->b.then = "its page has no copy there";
	f->read = kzalloc_objs(*f->read, NSWAP_REQ_SLOTS);
	if (f->read && nswap_batch_init(&f->b, dev, NSWAP_REQ_SLOTS))
		return 0;
	return -ENOMEM;
}

/* protection has been turned on, and the disk exists; process, does not sleep */
void nswap_home_fill_start(struct nswap_device *dev)
{
	mod_delayed_work(system_dfl_wq, &dev->fill->work, 0);
}

/* the device is dying, its disk still exists; process, sleeps for home and peers */
void nswap_home_fill_stop(struct nswap_device *dev)
{
	if (dev->fill)
		cancel_delayed_work_sync(&dev->fill->work);
}

/* undo nswap_home_fill_init(), if it ran, in part perhaps */
void nswap_home_fill_exit(struct nswap_device *dev)
{
	struct nswap_home_fill *f = dev->fill;

	if (!f)
		return;
	nswap_batch_exit(&f->b);
	kfree(f->read);
	kfree(f);
	dev->fill = NULL;
}
