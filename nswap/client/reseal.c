// SPDX-License-Identifier: GPL-2.0
/*
 * Resealing: pages that were read are opened with the old key, sealed with the newest and
 * written again, as by a page-out.
 *
 *   the slot has g -> read -> sealed in this memory, kept -> WRITING(g+1) -> a place as of
 *   any page-out; then it is no longer kept
 *   the slot was written, freed or brought elsewhere meanwhile: left as it is
 *   no place takes it in time: LOST, and still kept; claimed again if it is that LOST
 *
 * Invariants:
 *  - A slot is claimed only with the page that was read for it: by its generation. A page
 *    that is here alone is kept until its slot was claimed and stored, written or freed.
 *  - From the claim on the page may be here alone, sealed. A page-in of a slot that is
 *    WRITING, or LOST, gets it from here, and waits for nothing: it opens only if it is what
 *    the slot has, as with all pages, so a slot that was written since does not get it.
 *  - A program's page-out waits for one of these as for any other, a time that is bounded:
 *    a slot that is LOST can be claimed, or freed.
 *  - The task that has the batch waits for peers, home and flash, with no lock; nothing
 *    allocates.
 */
#include <linux/highmem.h>

#include "core/parity.h"
#include "core/slot_update.h"
#include "pageout.h"
#include "pageout_claim.h"
#include "request_queue.h"
#include "reseal.h"
#include "sealer.h"
#include "wrap.h"

static struct nswap_reseal *reseal_of(struct nswap_io *io)
{
	return container_of(io, struct nswap_reseal, b.io);
}

/* is the page of a slot here alone? */
static bool reseal_only_here(struct nswap_io *io, unsigned int i)
{
	const struct nswap_slot *had = &reseal_of(io)->had[i];
	struct nswap_slot s = nswap_slot_look(io->dev, io->slot[i]);

	return had->state == NSWAP_SLOT_LOST && nswap_slot_same(had, &s);
}

static bool reseal_claim(struct nswap_io *io, unsigned int i)
{
	struct nswap_reseal *r = reseal_of(io);

	if (!(r->want & BIT(i)))
		return true;
	if (nswap_pageout_claim_slot(io, i, &r->had[i])) {
		nswap_wrap_keep(io, i);
		return true;
	}
	/* refused for now, not because it was written or freed: to be tried again */
	if (reseal_only_here(io, i)) {
		nswap_request_fail(io, i, 1);
		return true;
	}
	r->want &= ~BIT(i);
	spin_lock(&r->lock);
	r->kept &= ~BIT(i);
	spin_unlock(&r->lock);
	return true;
}

static void reseal_none(struct nswap_io *io, unsigned int i)
{
}

static void reseal_failed(struct nswap_io *io, unsigned int i)
{
	reseal_of(io)->had[i] = (struct nswap_slot){
		.state = NSWAP_SLOT_LOST, .gen = le32_to_cpu(io->gen[i]),
	};
	nswap_request_fail(io, i, 1);
}

static const struct nswap_io_ops reseal_ops = {
	.claim = reseal_claim,
	.stored = reseal_none,
	.ended = reseal_none,
	.failed = reseal_failed,
	.over = nswap_batch_over,
	.keeps = true,
};

/* @r: zeroed; process, sleeps. False without memory; then exit */
bool nswap_reseal_init(struct nswap_reseal *r, struct nswap_device *dev)
{
	spin_lock_init(&r->lock);
	INIT_LIST_HEAD(&r->b.io.link);
	return nswap_batch_init(&r->b, dev, NSWAP_REQ_SLOTS);
}

/* undo nswap_reseal_init() */
void nswap_reseal_exit(struct nswap_reseal *r)
{
	nswap_batch_exit(&r->b);
}

/* the batch is this slot and those after it; nothing is kept; process */
void nswap_reseal_at(struct nswap_reseal *r, u64 slot)
{
	struct nswap_io *io = &r->b.io;
	unsigned int i;

	nswap_batch_at(&r->b, slot);
	io->nr = min_t(u64, NSWAP_REQ_SLOTS, io->dev->map.nr - slot);
	for (i = 0; i < NSWAP_REQ_SLOTS; i++)
		io->outer[i] = io->slot[i];
	r->open = 0;
	r->want = 0;
	WRITE_ONCE(io->dev->sealer->watched, slot);
	WRITE_ONCE(io->dev->sealer->broken, 0);
}

/* slots of the batch whose page has come, and did not open; process; a snapshot */
unsigned long nswap_reseal_altered(const struct nswap_reseal *r)
{
	return READ_ONCE(r->b.io.dev->sealer->broken);
}

/*
 * Seal @pages, which were read, with the newest key; process. Returns those that are to be
 * written now; the others did not open, because they were written meanwhile.
 */
unsigned long nswap_reseal_seal(struct nswap_reseal *r, unsigned long pages)
{
	unsigned int i;

	r->want = 0;
	for_each_set_bit(i, &pages, NSWAP_REQ_SLOTS)
		if (r->open & BIT(i) ? nswap_wrap_plain(&r->b.io, i) :
				       nswap_wrap_again(&r->b.io, i))
			r->want |= BIT(i);
	spin_lock(&r->lock);
	r->kept = r->want;
	spin_unlock(&r->lock);
	return r->want;
}

/*
 * Write what is to be written. Process, sleeps for peers, home and flash. Returns true if
 * all is at its place, or of no use: nswap_reseal_over() may be called; else some pages are
 * only here, and are to be written again.
 */
bool nswap_reseal_write(struct nswap_reseal *r)
{
	struct nswap_io *io = &r->b.io;

	io->write = true;
	io->ahead = true;
	io->step = nswap_pageout;
	io->ops = &reseal_ops;
	r->want = nswap_batch_request(&r->b);
	return !r->want;
}

/* nothing is here any more; process. Returns how many pages were written. */
unsigned int nswap_reseal_over(struct nswap_reseal *r)
{
	unsigned long kept;

	spin_lock(&r->lock);
	kept = r->kept;
	r->kept = 0;
	spin_unlock(&r->lock);
	return hweight_long(kept);
}

/* is what is kept of the seal of a slot that of the page that is here? */
static bool reseal_current(struct nswap_reseal *r, unsigned int at)
{
	struct nswap_device *dev = r->b.io.dev;
	struct nswap_seal *kept = nswap_side_entry(dev->sealer->table, r->b.io.slot[at]);

	/* it may be written meanwhile: then the page does not open */
	return data_race(READ_ONCE(kept->nonce)) == r->b.io.seal[at].nonce;
}

/**
 * nswap_reseal_read() - a slot is WRITING or LOST: is its page here?
 * @io: page-in of a visible device, or of cells
 * @i: slot, counted from the request's
 *
 * Context: process, page-in path; does not sleep.
 * Return: true if it has the page, sealed.
 */
bool nswap_reseal_read(struct nswap_io *io, unsigned int i)
{
	/* pairs with nswap_key_change_start() */
	struct nswap_reseal *r = smp_load_acquire(&io->dev->reseal);
	bool here;
	u64 at;

	/* one that was freed is waited for, until its word says so */
	if (!r || nswap_slot_look(io->dev, io->slot[i]).freed)
		return false;
	spin_lock(&r->lock);
	at = io->slot[i] - (u64)r->b.io.slot[0];
	here = at < NSWAP_REQ_SLOTS && r->kept & BIT(at) && reseal_current(r, at);
	if (here)
		copy_highpage(io->page[i], r->b.io.page[at]);
	spin_unlock(&r->lock);
	/* no generation: one that does not open is looked for again */
	if (here)
		io->gen[i] = cpu_to_le32(~0u);
	return here;
}
