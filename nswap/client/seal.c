// SPDX-License-Identifier: GPL-2.0
/*
 * Sealed devices.
 *
 *   page-out: copy into a page of the pool -> seal -> peers, flash, home, groups
 *   page-in:  from wherever it is -> into the program's page -> open there
 *
 * Invariants:
 *  - Only block requests are sealed and opened, at the device's surface: all below it
 *    (copies, groups, moves, flash, home, prefetch) sees sealed pages alone, and no key
 *    leaves the node. Slot 0, which stays here, is not sealed. What this module reads
 *    through the device (NSWAP_REQ_AHEAD) is checked in the same way, and stays sealed.
 *  - What is kept of a slot's page is written by its page-out once the slot is claimed:
 *    after the slot's word, or cell, has changed, before anything is sent. So what was read
 *    in a generation, or from a cell, that the slot still has afterwards is to be what is
 *    kept; if it has not, it was rewritten meanwhile, and says nothing.
 *  - A nonce is used once: it is counted from 1 in the life of a key, which is the
 *    device's and ends with it, or when it is changed (seal_key.c): a bit of the nonce says
 *    which of two keys has sealed a page.
 *  - A page that does not open never reaches a program. A slot that was never written
 *    reads as zeros, whatever came; one that was freed says so in its word.
 *  - Programs' own pages are not encrypted in place: the swap core may read them
 *    meanwhile. A request takes all pages of the pool that it needs before it claims
 *    anything; one that finds too few waits until others have ended, and the first that
 *    waits gets the next ones. It waits to the end: none is failed before it is claimed.
 *  - A page of the pool is used again as soon as its request has ended, and has plain text
 *    then until it is sealed: what is sent is copied into the socket (store.c), never sent
 *    from the page itself.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/log.h"
#include "core/parity.h"
#include "peers/peer.h"
#include "seal.h"
#include "sealer.h"

/*
 * Pages of the pool: one for each page that all tags can have on the way, so that a peer
 * that is slow takes no other peer's; but no more than a 16th of the device, and a 64th of
 * the machine's memory. A few requests have room in any.
 */
#define POOL_PAGES	(NSWAP_TAGS * NSWAP_REQ_SLOTS)
#define POOL_LEAST	(8 * NSWAP_REQ_SLOTS)
#define POOL_SHARE	16
#define POOL_RAM_SHARE	64

/* Returns 0, or -ENOMEM; nswap_sealer_exit() either way. Process, sleeps. */
int nswap_sealer_init(struct nswap_device *dev)
{
	unsigned long pages = min_t(unsigned long, dev->map.nr / POOL_SHARE,
				    totalram_pages() / POOL_RAM_SHARE);
	struct nswap_sealer *s = kzalloc_obj(*s);

	if (!s)
		return -ENOMEM;
	dev->sealer = s;
	s->page = kvzalloc_objs(*s->page, POOL_PAGES);
	if (!s->page || nswap_cipher_init(&s->cipher[0]))
		return -ENOMEM;
	s->live = BIT(0);
	spin_lock_init(&s->lock);
	s->table = nswap_side_add(&dev->side, "seals", 8 * sizeof(struct nswap_seal));
	pages = clamp_t(unsigned long, pages, POOL_LEAST, POOL_PAGES);
	for (; s->table && s->nr < pages; s->nr++) {
		s->page[s->nr] = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!s->page[s->nr])
			return -ENOMEM;
	}
	return s->table ? 0 : -ENOMEM;
}

/* its keys are forgotten; process, when no request is left */
void nswap_sealer_exit(struct nswap_device *dev)
{
	struct nswap_sealer *s = dev->sealer;

	if (!s)
		return;
	while (s->nr)
		__free_page(s->page[--s->nr]);
	kvfree(s->page);
	nswap_cipher_exit(&s->cipher[0]);
	nswap_cipher_exit(&s->cipher[1]);
	dev->sealer = NULL;
	kfree(s);
}

/* the first request that finds too few gets the next ones; others leave it as many */
static bool sealer_take(struct nswap_sealer *s, struct nswap_io *io, struct page **page,
			unsigned int n)
{
	unsigned long flags;
	bool first, ok;

	spin_lock_irqsave(&s->lock, flags);
	first = !s->waiting || s->waiting == io;
	ok = s->nr >= n + (first ? 0 : s->wanted);
	if (first) {
		s->waiting = ok ? NULL : io;
		s->wanted = n;
	}
	if (ok) {
		io->turn_of_key = s->turn;
		s->busy[s->turn]++;
	}
	while (ok && n--)
		page[n] = s->page[--s->nr];
	spin_unlock_irqrestore(&s->lock, flags);
	return ok;
}

/**
 * nswap_seal_ready() - has a page-out pages of the pool, if it needs any?
 * @io: nothing of it is claimed, or all that it needs is there
 *
 * Context: process, page-out path; does not sleep or allocate.
 * Return: false if there are too few now: it has to wait until another page-out has ended.
 */
bool nswap_seal_ready(struct nswap_io *io)
{
	unsigned int first = !io->outer[0], n = io->nr - first;
	struct nswap_sealer *s;

	if (nswap_io_own(io) || io->bounced || !n)
		return true;
	s = nswap_visible_device(io->dev)->sealer;
	if (!s)
		return true;
	if (!sealer_take(s, io, &io->bounce[first], n))
		return false;
	io->bounced = n;
	io->sealed = 0;
	/* peers are given as much time as if it had not waited for pages */
	io->since = jiffies;
	return true;
}

/* what is kept of a slot; who reads it meanwhile looks at the slot again */
static void seal_put(struct nswap_device *dev, u64 slot, const struct nswap_seal *seal)
{
	/* see above */
	data_race(memcpy(nswap_side_entry(dev->sealer->table, slot), seal, sizeof(*seal)));
}

/*
 * Keep the seal of a slot, unless another page-out has it now: with parity two may be under
 * way, and what the slot's cell names last counts. Later than the claim or the change of
 * cell_of, each a full barrier; pairs with nswap_seal_open(). @i: slot, counted from the
 * request's; process, page-out path; does not sleep.
 */
void nswap_seal_keep(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	struct nswap_parity *p = nswap_parity_of(dev);
	u32 slot = io->outer[i];

	if (!p) {
		seal_put(dev, slot, &io->seal[i]);
		return;
	}
	spin_lock(&p->switch_lock);
	if (READ_ONCE(p->cell_of[slot]) == (io->dev == p->cells ? io->slot[i] : 0))
		seal_put(dev, slot, &io->seal[i]);
	spin_unlock(&p->switch_lock);
}

/*
 * Seal the page @i of a request with the newest key; its seal is to be kept once the slot is
 * claimed. Context: task; does not sleep or allocate. The newest key stays: a change of it
 * begins only after the last one has ended. Returns false as nswap_seal_page().
 */
bool nswap_seal_fresh(struct nswap_io *io, unsigned int i)
{
	struct nswap_device *dev = nswap_visible_device(io->dev);
	struct nswap_seal_name name = nswap_seal_name(dev, io->outer[i]);
	struct nswap_sealer *s = dev->sealer;

	io->seal[i].nonce = atomic64_inc_return(&s->nonce);
	return nswap_seal_page(&s->cipher[nswap_seal_key(&io->seal[i])], io->page[i], &name,
			       &io->seal[i]);
}

/**
 * nswap_seal_slot() - seal the page of a slot, unless it is, and keep its seal
 * @io: page-out that has pages of the pool
 * @i: slot, counted from the request's, just claimed, not slot 0
 *
 * Context: process, page-out path; does not sleep or allocate.
 */
void nswap_seal_slot(struct nswap_io *io, unsigned int i)
{
	if (!(io->sealed & BIT(i))) {
		io->sealed |= BIT(i);
		copy_highpage(io->bounce[i], io->page[i]);
		io->page[i] = io->bounce[i];
		nswap_seal_fresh(io, i);
	}
	nswap_seal_keep(io, i);
}

/* a page-out to @dev has ended: its pages go back to the pool; any context */
void nswap_seal_sent(struct nswap_device *dev, struct nswap_io *io)
{
	struct nswap_sealer *s = dev->sealer;
	unsigned int i = io->nr, n = io->bounced;
	unsigned long flags;

	io->bounced = 0;
	spin_lock_irqsave(&s->lock, flags);
	s->busy[io->turn_of_key]--;
	while (n--)
		s->page[s->nr++] = io->bounce[--i];
	spin_unlock_irqrestore(&s->lock, flags);
}

/*
 * Open a page, and seal it again if @keep, with the key that its seal names; that may be
 * gone, if the seal is of a slot that has been freed. The key stays until this has ended.
 */
static bool seal_try(struct nswap_sealer *s, struct page *page,
		     const struct nswap_seal_name *name, struct nswap_seal *seal, bool keep)
{
	const struct nswap_cipher *c = &s->cipher[nswap_seal_key(seal)];
	bool ok;

	rcu_read_lock();
	ok = READ_ONCE(s->live) & BIT(nswap_seal_key(seal)) &&
	     nswap_open_page(c, page, name, seal) &&
	     (!keep || nswap_seal_page(c, page, name, seal));
	rcu_read_unlock();
	return ok;
}

/**
 * nswap_seal_open() - open a page, if it is what its slot's program wrote last
 * @dev: sealed device
 * @slot: of the page, not 0
 * @page: as it came; as it was, or zeros
 * @keep: for a page that this module moves: it stays sealed, and one of whose slot nothing is
 *	kept is not sound
 *
 * Context: task, interrupts on; does not sleep.
 * Return: false if it is not what was written last: then nothing of it is left.
 */
bool nswap_seal_open(struct nswap_device *dev, u64 slot, struct page *page, bool keep)
{
	struct nswap_sealer *s = dev->sealer;
	struct nswap_seal_name name = nswap_seal_name(dev, slot);
	struct nswap_seal seal;

	/* it may be written meanwhile: then the slot changes, too */
	data_race(memcpy(&seal, nswap_side_entry(s->table, slot), sizeof(seal)));
	/* what is kept is read before the slot's word, or cell, is looked at again */
	smp_rmb();
	if (!seal.nonce || !seal_try(s, page, &name, &seal, keep)) {
		clear_highpage(page);
		return !seal.nonce && !keep;
	}
	return true;
}

/* nswap_seal_fresh() for a page that is sealed; false too if it is not what the slot has */
bool nswap_seal_again(struct nswap_io *io, unsigned int i)
{
	return nswap_seal_open(nswap_visible_device(io->dev), io->outer[i], io->page[i],
			       false) && nswap_seal_fresh(io, i);
}

/* a page that came from there did not open: count it and say so; any context */
void nswap_seal_broken(struct nswap_device *dev, u64 slot, const char *where)
{
	u64 at;

	nswap_stat_inc(dev->node, seals_broken);
	at = slot - READ_ONCE(dev->sealer->watched);
	if (at < NSWAP_REQ_SLOTS)
		set_bit(at, &dev->sealer->broken);
	nswap_warn(dev->node, "%s: a page from %s was changed there or on the way, slot %llu: it is not given to its program; find out who changes pages there, or which memory is faulty",
		   dev->disk->disk_name, where, slot);
}

/* likewise, from where the entry @at of the slot or its cell says; any context */
void nswap_seal_broken_at(struct nswap_device *dev, u64 slot, const struct nswap_slot *at)
{
	struct nswap_peer *peer;

	if (!nswap_slot_at_peer(at)) {
		nswap_seal_broken(dev, slot, nswap_slot_at_home(at) ? "home" : "flash");
		return;
	}
	rcu_read_lock();
	peer = rcu_dereference(dev->node->peers[at->peer]);
	nswap_seal_broken(dev, slot, peer ? peer->name : "a former peer");
	rcu_read_unlock();
}
