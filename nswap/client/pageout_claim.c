// SPDX-License-Identifier: GPL-2.0
/*
 * Page-out, claim: from now on its slots are WRITING, in the next generation, and the
 * request's alone.
 *
 * Invariants:
 *  - A claim takes the request's slots in ascending order and stops at the first
 *    that another request has claimed, so two requests never wait for each other.
 *    It also stops where a page that a server brought back is being written to
 *    the slot's place at home, or to flash before that; that write waits for
 *    nothing but these two devices.
 *  - What is compressed or sealed is so when its slot has been claimed (wrap.c).
 *  - On a device that home protects, a slot is claimed with a page promised for its
 *    copy (follow.c), and not while an older copy of it is on its way home.
 */
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "follow.h"
#include "pageout_claim.h"
#include "row.h"
#include "wrap.h"

/* go to a peer without a promised copy after this many: earlier, or home is next */
#define EXPOSE_AFTER	3

static void store_header(struct nswap_io *io)
{
	struct nswap_device *dev = io->dev;

	spin_lock(&dev->header_lock);
	copy_highpage(dev->header, io->page[0]);
	spin_unlock(&dev->header_lock);
}

/* does a slot still have what it had? what was LOST then is to be so */
static bool pageout_slot_still(const struct nswap_slot *s, const struct nswap_slot *had)
{
	return s->gen == had->gen &&
	       (had->state == NSWAP_SLOT_LOST ? s->state == NSWAP_SLOT_LOST :
		nswap_slot_at_peer(s) || nswap_slot_at_home(s) ||
		s->state == NSWAP_SLOT_FLASH);
}

/*
 * Fails if another request has the slot, or a page is being written home for it, or it has
 * not got what it @had, if that is not NULL
 */
static bool pageout_slot_claimed(struct nswap_slot *s, struct nswap_device *dev,
				 u64 slot, const struct nswap_slot *had)
{
	if (s->state == NSWAP_SLOT_WRITING || nswap_return_under_way(dev, slot) ||
	    nswap_home_copy_due(dev, slot) || (had && !pageout_slot_still(s, had)))
		return false;
	*s = (struct nswap_slot){
		.state = NSWAP_SLOT_WRITING,
		.referenced = !had || s->referenced,
		.gen = nswap_gen_next(s->gen),
	};
	return true;
}

/* a home that does not keep up makes page-outs wait; one that hangs does not for long */
static bool pageout_follow(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = io->dev;

	/* pairs with nswap_protect_set() */
	if (smp_load_acquire(&dev->protect) != NSWAP_PROTECT_HOME)
		return true;
	if (nswap_follow_reserve(dev)) {
		set_bit(i, &io->follows);
		return true;
	}
	return nswap_client_expired(dev->node, io->since,
				    EXPOSE_AFTER * nswap_knob(dev->node, store_timeout_ms));
}

/* the copy promised for a slot's page is not to be made; @io: page-out; any context */
void nswap_pageout_unfollow(struct nswap_io *io, unsigned int i)
{
	if (io->follows && test_and_clear_bit(i, &io->follows))
		nswap_follow_release(io->dev);
}

/*
 * With rows, the cell that has the slot's page is dead from now on, before another task
 * can bring the slot's page to a cell (row_copy.c). With @had the page is on the visible
 * device: a cell that is mapped has a newer page, or the same one brought there, and the
 * slot that is claimed is about to be freed for it (nswap_parity_map(), row_copy.c).
 */
static bool pageout_claim_cell(struct nswap_parity *p, struct nswap_io *io,
			       unsigned int i, const struct nswap_slot *had)
{
	u64 slot = io->slot[i];
	u32 cell = 0;
	bool ret;

	spin_lock(&p->switch_lock);
	ret = nswap_slot_update(io->dev, slot, &io->old[i], pageout_slot_claimed,
				io->dev, slot, had);
	if (ret && !had)
		cell = xchg(&p->cell_of[slot], 0);
	spin_unlock(&p->switch_lock);
	if (cell)
		nswap_cell_dead(p, cell);
	return ret;
}

static bool pageout_claim_word(struct nswap_io *io, unsigned int i,
			       const struct nswap_slot *had)
{
	struct nswap_parity *p = nswap_parity_of(io->dev);
	u64 slot = io->slot[i];
	u32 cell;

	if (p)
		return pageout_claim_cell(p, io, i, had);
	if (!nswap_slot_update(io->dev, slot, &io->old[i], pageout_slot_claimed,
			       io->dev, slot, had))
		return false;
	/* parity may have been turned on, and the page brought to a cell, meanwhile */
	p = nswap_parity_of(io->dev);
	cell = p && !had ? xchg(&p->cell_of[slot], 0) : 0;
	if (cell)
		nswap_cell_dead(p, cell);
	return true;
}

/*
 * A slot of the visible device is about to be claimed: its page gets what protects the device
 * now. @i: slot, counted from the request's; process, page-out path; does not sleep. Returns
 * false if it has to wait for home; else nswap_pageout_unprotect() if it is not claimed.
 */
bool nswap_pageout_protect(struct nswap_io *io, unsigned int i)
{
	if (!pageout_follow(io, i))
		return false;
	if (nswap_mirror_wanted(io->dev))
		io->pairs |= BIT(i);
	return true;
}

/* undo nswap_pageout_protect() */
void nswap_pageout_unprotect(struct nswap_io *io, unsigned int i)
{
	nswap_pageout_unfollow(io, i);
	io->pairs &= ~BIT(i);
}

/**
 * nswap_pageout_claim_slot() - claim one slot of the visible device
 * @io: page-out
 * @i: slot, counted from the request's, not slot 0
 * @had: only if it still has the page that it had then; NULL: whatever it has
 *
 * Context: process, page-out path: does not sleep or allocate.
 * Return: false if it cannot be claimed now.
 */
bool nswap_pageout_claim_slot(struct nswap_io *io, unsigned int i,
			      const struct nswap_slot *had)
{
	if (!nswap_pageout_protect(io, i))
		return false;
	if (!pageout_claim_word(io, i, had)) {
		nswap_pageout_unprotect(io, i);
		return false;
	}
	io->todo |= BIT(i);
	return true;
}

static bool pageout_claim_any(struct nswap_io *io, unsigned int i)
{
	if (io->ops)
		return io->ops->claim(io, i);
	if (io->slot[i])
		return nswap_pageout_claim_slot(io, i, NULL);
	store_header(io);
	return true;
}

/**
 * nswap_pageout_claim() - claim those slots of a page-out that it has not claimed yet
 * @io: page-out the caller dispatches
 *
 * Context: process, page-out path: does not sleep or allocate.
 * Return: false if some slots still have to be claimed.
 */
bool nswap_pageout_claim(struct nswap_io *io)
{
	if (io->unclaimed && !nswap_wrap_ready(io))
		return false;
	while (io->unclaimed) {
		unsigned int i = __ffs(io->unclaimed);

		if (!pageout_claim_any(io, i))
			return false;
		if (io->bounced && io->todo & BIT(i))
			nswap_wrap_slot(io, i);
		io->unclaimed &= ~BIT(i);
	}
	return true;
}
