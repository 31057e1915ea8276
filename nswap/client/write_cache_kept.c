// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache of a device: pages of early page-outs that have fewer copies below than the
 * device's protection promises.
 *
 *   sent, but exposed: KEPT -> protected: CLEAN
 *                          \-> the copy that it had is gone: DIRTY, it is sent again
 *
 * A page-out may end exposed while peers are silent or too few; then the page is repaired
 * (tiering/mirror_fill.c, row_clean.c, home_fill.c), and until it is, one death takes it.
 * Its program was told that it is written when it was here, so it stays here as well.
 *
 * Invariants:
 *  - What is KEPT is what programs wrote last, and is read in place of what is below. It is
 *    taken for no other slot; when all that is here is KEPT, page-outs go as without a cache.
 *  - What a slot has below is a snapshot. That it has its copies counts as much as at the end
 *    of any page-out: from then on the device's protection sees to it.
 *  - Looking allocates nothing and waits for nothing.
 */
#include "base/workqueues.h"
#include "core/home_copy.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/parity.h"
#include "core/slot_update.h"
#include "peers/peer.h"
#include "row.h"
#include "write_cache.h"

#define LOOK_AGAIN	(HZ / 4 ?: 1)	/* if nothing has changed */
#define LOOK_PART	32	/* of those that are KEPT, at once */

/* a page in a cell: has its group lost anything? what is here is sooner sent than rebuilt */
static u8 next_in_cell(const struct nswap_parity *p, u32 cell)
{
	struct nswap_slot s = nswap_slot_look(p->cells, cell);
	u32 row = nswap_cell_row(p, cell);
	const struct nswap_row *r;

	if (nswap_cell_bad(p, cell))
		return NSWAP_WC_DIRTY;
	/* on its way there, or from there */
	if (row == NSWAP_ROW_NONE || !nswap_slot_at_peer(&s))
		return NSWAP_WC_KEPT;
	r = &p->row[row];
	if (nswap_parity_wanted(p->dev) && READ_ONCE(r->checks) < READ_ONCE(p->want.checks))
		return NSWAP_WC_KEPT;
	return nswap_row_bad(p, r, nswap_cell_lane(cell)) ? NSWAP_WC_KEPT : NSWAP_WC_CLEAN;
}

static u8 next_with_mirror(struct nswap_device *dev, u32 slot, const struct nswap_slot *s)
{
	bool first = nswap_peer_gone(dev->node, s->peer);
	bool second = nswap_peer_gone(dev->node, nswap_mirror_of(dev, slot, s));

	if (first && second)
		return NSWAP_WC_DIRTY;
	return first || second ? NSWAP_WC_KEPT : NSWAP_WC_CLEAN;
}

static u8 next_at_peer(struct nswap_device *dev, u32 slot, const struct nswap_slot *s)
{
	bool bad = nswap_peer_gone(dev->node, s->peer);

	/* pairs with nswap_protect_set(): then there is what it takes */
	switch (smp_load_acquire(&dev->protect)) {
	case NSWAP_PROTECT_HOME:
		/* one that is due may fail, or may not have been read from the peer yet */
		if (nswap_home_copy_has(dev, slot))
			return NSWAP_WC_CLEAN;
		return bad ? NSWAP_WC_DIRTY : NSWAP_WC_KEPT;
	case NSWAP_PROTECT_MIRROR:
		return next_with_mirror(dev, slot, s);
	case NSWAP_PROTECT_PARITY:
		/* it found no cell */
		return bad ? NSWAP_WC_DIRTY : NSWAP_WC_KEPT;
	default:
		return bad ? NSWAP_WC_DIRTY : NSWAP_WC_CLEAN;
	}
}

static u8 next_outside(struct nswap_device *dev, u32 slot)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	if (nswap_slot_at_peer(&s))
		return next_at_peer(dev, slot, &s);
	if (s.state == NSWAP_SLOT_LOST)
		return NSWAP_WC_DIRTY;
	return s.state == NSWAP_SLOT_WRITING ? NSWAP_WC_KEPT : NSWAP_WC_CLEAN;
}

/**
 * nswap_cached_next_state() - what an entry is to be once its slot has been sent
 * @dev: device with a write cache
 * @slot: slot of its surface
 *
 * Context: any; does not sleep.
 * Return: CLEAN, the slot has the copies that its device promises; KEPT, it has fewer, or is
 * just being written elsewhere; DIRTY, it has none that can be read without the others of a
 * group. A snapshot.
 */
u8 nswap_cached_next_state(struct nswap_device *dev, u32 slot)
{
	struct nswap_parity *p = nswap_parity_of(dev);
	u32 cell = p ? READ_ONCE(p->cell_of[slot]) : 0;
	u8 to;

	/* cell_of[] is read before the word, see row.c */
	smp_rmb();
	to = cell ? next_in_cell(p, cell) : next_outside(dev, slot);
	/* and again after it */
	smp_rmb();
	return p && READ_ONCE(p->cell_of[slot]) != cell ? NSWAP_WC_KEPT : to;
}

/* there may be pages that are KEPT; the lock is held, any context */
void nswap_cached_kept_soon(struct nswap_write_cache *w)
{
	if (w->table.count[NSWAP_WC_KEPT] && !w->ended)
		queue_delayed_work(nswap_io_wq, &w->kept, LOOK_AGAIN);
}

/* one page that is KEPT; the lock is held. Returns its state now */
static u8 kept_look(struct nswap_write_cache *w, struct nswap_wc_entry *e)
{
	u8 to = nswap_cached_next_state(w->dev, e->slot);

	if (to == NSWAP_WC_CLEAN)
		nswap_wc_move(&w->table, e, to);
	else if (to == NSWAP_WC_KEPT)
		nswap_wc_last(&w->table, e);
	if (to != NSWAP_WC_DIRTY)
		return to;
	nswap_wc_first(&w->table, e);
	/* it has waited as long as any */
	e->since = jiffies - msecs_to_jiffies(nswap_knob(w->dev->node, cache_delay_ms));
	e->round = w->round;
	return to;
}

/* Looks at some of them. Context: the module's work queue; does not allocate or wait. */
void nswap_cached_kept_work(struct work_struct *work)
{
	struct nswap_write_cache *w = container_of(to_delayed_work(work),
						   struct nswap_write_cache, kept);
	u32 n, most = READ_ONCE(w->table.count[NSWAP_WC_KEPT]);
	struct nswap_wc_entry *e;
	unsigned int seen = 0;
	bool over = false;

	most = min(most, max(most / LOOK_PART, NSWAP_SLOT_CHUNK));
	for (n = 0; n < most && !over; n++) {
		spin_lock_irq(&w->lock);
		e = list_first_entry_or_null(&w->table.list[NSWAP_WC_KEPT],
					     struct nswap_wc_entry, link);
		over = !e || w->ended;
		if (!over)
			seen |= BIT(kept_look(w, e));
		spin_unlock_irq(&w->lock);
		if (!(n % NSWAP_SLOT_CHUNK))
			cond_resched();
	}
	spin_lock_irq(&w->lock);
	/* what was repaired has others beside it */
	if (seen & ~BIT(NSWAP_WC_KEPT) && w->table.count[NSWAP_WC_KEPT] && !w->ended)
		mod_delayed_work(nswap_io_wq, &w->kept, 1);
	nswap_cached_kept_soon(w);
	spin_unlock_irq(&w->lock);
	if (seen & BIT(NSWAP_WC_DIRTY))
		nswap_cached_send_soon(w);
}
