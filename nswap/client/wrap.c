// SPDX-License-Identifier: GPL-2.0
/*
 * Devices whose pages are compressed or sealed before they leave, or both.
 *
 *   page-out: compressed into a page of the pool, or copied there if that does not make it
 *             shorter -> sealed there -> peers, flash, home, groups
 *   page-in:  from wherever it is -> into the program's page -> opened and expanded there
 *
 * Invariants:
 *  - Only block requests are wrapped and opened, at the device's surface: all below it
 *    (copies, groups, moves, flash, home, prefetch) sees wrapped pages alone, whole ones:
 *    the end of a short page is zeros. Slot 0, which stays here, is not wrapped. What this
 *    module reads through the device (NSWAP_REQ_AHEAD) stays wrapped; if it is sealed it is
 *    checked in the same way.
 *  - What is kept of a slot's page is written by its page-out once the slot is claimed:
 *    after the slot's word, or cell, has changed, before anything is sent. So what was read
 *    in a generation, or from a cell, that the slot still has afterwards is to be what is
 *    kept; if it has not, it was rewritten meanwhile, and says nothing. A page that opens is
 *    what was sealed; without a seal one that expands counts only if the slot has not
 *    changed by then.
 *  - A page that does not open or expand never reaches a program. A slot of a sealed device
 *    that was never written reads as zeros, whatever came; one that was freed says so in its
 *    word.
 *  - Programs' own pages are not changed in place: the swap core may read them
 *    meanwhile. A request takes all pages of the pool that it needs before it claims
 *    anything; one that finds too few waits until others have ended, and the first that
 *    waits gets the next ones. It waits to the end: none is failed before it is claimed.
 *  - A page of the pool is used again as soon as its request has ended, and may have plain
 *    text then until it is sealed: what is sent is copied into the socket (store.c), never
 *    sent from the page itself.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/log.h"
#include "core/parity.h"
#include "peers/peer.h"
#include "seal.h"
#include "sealer.h"
#include "wrap.h"

/*
 * Pages of the pool: one for each page that all tags can have on the way, so that a peer
 * that is slow takes no other peer's; but no more than a 16th of the device, and a 64th of
 * the machine's memory. A few requests have room in any.
 */
#define POOL_PAGES	(NSWAP_TAGS * NSWAP_REQ_SLOTS)
#define POOL_LEAST	(8 * NSWAP_REQ_SLOTS)
#define POOL_SHARE	16
#define POOL_RAM_SHARE	64

static int wrap_init_compressor(struct nswap_device *dev, enum nswap_compress kind)
{
	struct nswap_wrap *w = dev->wrap;

	if (kind == NSWAP_COMPRESS_OFF)
		return 0;
	w->shorts = nswap_side_add(&dev->side, "lengths", 8 * sizeof(struct nswap_short));
	return w->shorts ? nswap_compressor_init(&w->compressor, kind) : -ENOMEM;
}

/*
 * @seal: its pages are sealed; @compress: how they are compressed, one of the two. Returns 0,
 * or -ENOMEM; nswap_wrap_exit() either way. Process, sleeps.
 */
int nswap_wrap_init(struct nswap_device *dev, bool seal, enum nswap_compress compress)
{
	unsigned long pages = min_t(unsigned long, dev->map.nr / POOL_SHARE,
				    totalram_pages() / POOL_RAM_SHARE);
	struct nswap_wrap *w = kzalloc_obj(*w);

	if (!w)
		return -ENOMEM;
	dev->wrap = w;
	spin_lock_init(&w->lock);
	w->page = kvzalloc_objs(*w->page, POOL_PAGES);
	if (!w->page || wrap_init_compressor(dev, compress) ||
	    (seal && nswap_sealer_init(dev)))
		return -ENOMEM;
	pages = clamp_t(unsigned long, pages, POOL_LEAST, POOL_PAGES);
	for (; w->nr < pages; w->nr++) {
		w->page[w->nr] = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!w->page[w->nr])
			return -ENOMEM;
	}
	return 0;
}

/* its keys are forgotten; process, when no request is left */
void nswap_wrap_exit(struct nswap_device *dev)
{
	struct nswap_wrap *w = dev->wrap;

	if (!w)
		return;
	while (w->nr)
		__free_page(w->page[--w->nr]);
	kvfree(w->page);
	nswap_compressor_exit(&w->compressor);
	nswap_sealer_exit(dev);
	dev->wrap = NULL;
	kfree(w);
}

/* the first request that finds too few gets the next ones; others leave it as many */
static bool wrap_take(struct nswap_wrap *w, struct nswap_io *io, struct page **page,
		      unsigned int n)
{
	unsigned long flags;
	bool first, ok;

	spin_lock_irqsave(&w->lock, flags);
	first = !w->waiting || w->waiting == io;
	ok = w->nr >= n + (first ? 0 : w->wanted);
	if (first) {
		w->waiting = ok ? NULL : io;
		w->wanted = n;
	}
	if (ok) {
		io->turn_of_key = w->turn;
		w->busy[w->turn]++;
	}
	while (ok && n--)
		page[n] = w->page[--w->nr];
	spin_unlock_irqrestore(&w->lock, flags);
	return ok;
}

/**
 * nswap_wrap_ready() - has a page-out pages of the pool, if it needs any?
 * @io: nothing of it is claimed, or all that it needs is there
 *
 * Context: process, page-out path; does not sleep or allocate.
 * Return: false if there are too few now: it has to wait until another page-out has ended.
 */
bool nswap_wrap_ready(struct nswap_io *io)
{
	unsigned int first = !io->outer[0], n = io->nr - first;
	struct nswap_wrap *w;

	if (nswap_io_own(io) || io->bounced || !n)
		return true;
	w = nswap_visible_device(io->dev)->wrap;
	if (!w)
		return true;
	if (!wrap_take(w, io, &io->bounce[first], n))
		return false;
	io->bounced = n;
	io->wrapped = 0;
	/* peers are given as much time as if it had not waited for pages */
	io->since = jiffies;
	return true;
}

/* what is kept of a slot; who reads it meanwhile looks at the slot again */
static void wrap_put(struct nswap_device *dev, u64 slot, const struct nswap_io *io,
		     unsigned int i)
{
	if (dev->wrap->shorts)
		/* see above */
		data_race(memcpy(nswap_side_entry(dev->wrap->shorts, slot), &io->kept[i],
				 sizeof(io->kept[i])));
	if (dev->sealer)
		/* likewise */
		data_race(memcpy(nswap_side_entry(dev->sealer->table, slot), &io->seal[i],
				 sizeof(io->seal[i])));
}

/*
 * Keep what is to be kept of a slot's page, unless another page-out has it now: with parity
 * two may be under way, and what the slot's cell names last counts. Later than the claim or
 * the change of cell_of, each a full barrier; pairs with wrap_get(). @i: slot, counted from
 * the request's; process, page-out path; does not sleep.
 */
void nswap_wrap_keep(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	struct nswap_parity *p = nswap_parity_of(dev);
	u32 slot = io->outer[i];

	if (!p) {
		wrap_put(dev, slot, io, i);
		return;
	}
	spin_lock(&p->switch_lock);
	if (READ_ONCE(p->cell_of[slot]) == (io->dev == p->cells ? io->slot[i] : 0))
		wrap_put(dev, slot, io, i);
	spin_unlock(&p->switch_lock);
}

/* what is kept of a slot; it says something only if the slot has not changed afterwards */
static void wrap_get(struct nswap_device *dev, u64 slot, struct nswap_short *kept,
		     struct nswap_seal *seal)
{
	*kept = (struct nswap_short){ };
	if (dev->wrap->shorts)
		/* it may be written meanwhile: then the slot changes, too */
		data_race(memcpy(kept, nswap_side_entry(dev->wrap->shorts, slot), sizeof(*kept)));
	if (dev->sealer)
		/* likewise */
		data_race(memcpy(seal, nswap_side_entry(dev->sealer->table, slot),
				 sizeof(*seal)));
	/* what is kept is read before the slot's word, or cell, is looked at again */
	smp_rmb();
}

/* page @i of a page-out becomes what leaves */
static void wrap_page(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);

	io->kept[i] = (struct nswap_short){ };
	if (dev->wrap->shorts)
		io->kept[i] = nswap_compress_page(&dev->wrap->compressor, io->bounce[i],
						  io->page[i]);
	if (io->kept[i].len) {
		nswap_stat_inc(dev->node, pages_compressed);
		nswap_stat_add(dev->node, bytes_compressed, io->kept[i].len);
	} else if (dev->sealer) {
		copy_highpage(io->bounce[i], io->page[i]);
	} else {
		return;
	}
	io->page[i] = io->bounce[i];
	if (dev->sealer)
		nswap_seal_fresh(io, i);
}

/**
 * nswap_wrap_slot() - wrap the page of a slot, unless it is, and keep what is to be kept
 * @io: page-out that has pages of the pool
 * @i: slot, counted from the request's, just claimed, not slot 0
 *
 * Context: process, page-out path; does not sleep or allocate.
 */
void nswap_wrap_slot(struct nswap_io *io, unsigned int i)
{
	if (!(io->wrapped & BIT(i))) {
		io->wrapped |= BIT(i);
		wrap_page(io, i);
	}
	nswap_wrap_keep(io, i);
}

/* a page-out to @dev has ended: its pages go back to the pool; any context */
void nswap_wrap_sent(struct nswap_device *dev, struct nswap_io *io)
{
	struct nswap_wrap *w = dev->wrap;
	unsigned int i = io->nr, n = io->bounced;
	unsigned long flags;

	io->bounced = 0;
	spin_lock_irqsave(&w->lock, flags);
	w->busy[io->turn_of_key]--;
	while (n--)
		w->page[w->nr++] = io->bounce[--i];
	spin_unlock_irqrestore(&w->lock, flags);
}

/**
 * nswap_wrap_open() - open and expand a page, if it is what its slot's program wrote last
 * @dev: device with pages that are wrapped
 * @slot: of the page, not 0
 * @page: as it came; as it was, or zeros
 * @keep: for a page that this module moves: it stays as it is. Of a sealed device it is
 *	checked, and one of whose slot nothing is kept is not sound
 *
 * Context: task, interrupts on; does not sleep.
 * Return: false if it is not what was written last: then nothing of it is left. Without a
 *	seal true says only that, if the slot has not changed since, no change was found.
 */
bool nswap_wrap_open(struct nswap_device *dev, u64 slot, struct page *page, bool keep)
{
	struct nswap_short kept;
	struct nswap_seal seal;
	bool ok = true;

	if (keep && !dev->sealer)
		return true;
	wrap_get(dev, slot, &kept, &seal);
	if (dev->sealer && !seal.nonce) {
		clear_highpage(page);
		return !keep;
	}
	if (dev->sealer)
		ok = nswap_seal_open(dev, slot, page, kept.len, &seal, keep);
	if (ok && kept.len && !keep)
		ok = nswap_expand_page(&dev->wrap->compressor, page, kept);
	if (!ok)
		clear_highpage(page);
	return ok;
}

/*
 * nswap_seal_fresh() for a page that is sealed, and stays as short as it is. False if it is
 * not what the slot has, or as that.
 */
bool nswap_wrap_again(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	struct nswap_seal seal;

	wrap_get(dev, io->outer[i], &io->kept[i], &seal);
	if (!seal.nonce || !nswap_seal_open(dev, io->outer[i], io->page[i], io->kept[i].len,
					    &seal, false)) {
		clear_highpage(io->page[i]);
		return false;
	}
	return nswap_seal_fresh(io, i);
}

/* likewise, for a page that was opened and expanded: it stays so long */
bool nswap_wrap_plain(struct nswap_io *io, unsigned int i)
{
	io->kept[i] = (struct nswap_short){ };
	return nswap_seal_fresh(io, i);
}

/* a page that came from there did not open: count it and say so; any context */
void nswap_wrap_broken(struct nswap_device *dev, u64 slot, const char *where)
{
	nswap_stat_inc(dev->node, seals_broken);
	if (dev->sealer)
		nswap_seal_broken(dev, slot);
	nswap_warn(dev->node, "%s: a page from %s was changed there or on the way, slot %llu: it is not given to its program; find out who changes pages there, or which memory is faulty",
		   dev->disk->disk_name, where, slot);
}

/* likewise, from where the entry @at of the slot or its cell says; any context */
void nswap_wrap_broken_at(struct nswap_device *dev, u64 slot, const struct nswap_slot *at)
{
	struct nswap_peer *peer;

	if (!nswap_slot_at_peer(at)) {
		nswap_wrap_broken(dev, slot, nswap_slot_at_home(at) ? "home" : "flash");
		return;
	}
	rcu_read_lock();
	peer = rcu_dereference(dev->node->peers[at->peer]);
	nswap_wrap_broken(dev, slot, peer ? peer->name : "a former peer");
	rcu_read_unlock();
}
