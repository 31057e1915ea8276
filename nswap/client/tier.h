/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tiers: where the pages of a device can be. Peers' RAM, flash and home have the
 * same few operations, so that page-outs, page-ins, frees and accounting need not
 * distinguish them.
 *
 * The table nswap_tiers[] is in the order of rank: a page-out goes to the first
 * tier that takes it.
 *
 * Promises of every tier:
 *  - store() and load() are called by the dispatcher of a request, so by one task at
 *    a time for each request, for many requests concurrently, on the page-out and
 *    page-in path: they do not sleep for a medium, do not allocate, and take no
 *    lock that is held while a medium is waited for.
 *  - A slot that store() or load() took belongs to the tier until it ends that part
 *    of the request with nswap_op_end(). That may happen before the call
 *    returns; the dispatcher's share of @pending keeps the request. Slots to be
 *    placed or looked up again come back in @retry.
 *  - A stored slot is WRITING, claimed by this request alone, from before store()
 *    until its place is recorded. A loaded page counts only if the slot still has
 *    the generation and the place it was loaded for; each tier checks that.
 *  - Reads and writes end in process context, on the module's own work queue or
 *    in a connection's receiver; but successful ones of flash and home end in
 *    the context of their completion, perhaps a hard interrupt.
 *  - discard() may be called in any context, with interrupts off.
 *  - stat() is a snapshot; it takes no lock that page-outs wait for long.
 *
 * Deliberate differences:
 *  - A store at peers needs grants, which placement spends on a peer that its
 *    policy picks; that policy may send pages to flash at once. So RAM cannot be
 *    asked for room in advance, returns -EAGAIN while grants may come, and each
 *    of its messages has a generation of its own.
 *  - Only peers have to be told that a page is not needed any more: they have
 *    discard(). On flash and at home nothing outlives the entry of the slot map:
 *    nswap_slot_update() puts back the flash slot that an entry gives up, for any
 *    caller and reason, and a place at home is the slot's for good.
 *    Copies that were replaced or given up are not freed slots: see
 *    nswap_free_orphan(), whose caller knows when, and which generation.
 *  - Moves between tiers are two-phase, each of its own kind: moved.c,
 *    move_batch.c, returned.c, evacuate.c, prefetch_copy.c. They read and write
 *    flash and home in batches (batch.c) and send STOREs with store.c, as
 *    page-outs do.
 */
#ifndef NSWAP_TIER_H
#define NSWAP_TIER_H

#include "base/views.h"
#include "pure/slot_map.h"

struct nswap_device;
struct nswap_io;

/**
 * struct nswap_tier_ops - one tier
 * @class: "ram", "flash" or "disk" (required)
 * @patience_ms: a page-out for which grants may still come waits this long before
 *	it goes here; unused for the first tier
 * @there: does this device have the tier? (optional: without it every device has;
 *	any context)
 * @store: write slots that have to be placed; what is taken leaves @todo.
 *	0: all was taken; -EAGAIN: the rest may be taken soon; -ENOSPC: it will
 *	not (required; see the promises)
 * @load: page in the slot and those after it that are here too; returns how many
 *	from it on are under way, 0 if it is not here any more, or cannot be read
 *	now (required; see the promises)
 * @discard: the slot was freed and its entry, FREEING, names the copy here: have
 *	it dropped, later (optional: without it freed slots are EMPTY at once)
 * @stat: fill in what is here, for a device that has the tier; all but @there,
 *	@class and @rank, zeroed before (required; process context)
 */
struct nswap_tier_ops {
	const char *class;
	unsigned int patience_ms;
	bool (*there)(const struct nswap_device *dev);
	int (*store)(struct nswap_io *io, unsigned long slots);
	unsigned int (*load)(struct nswap_io *io, unsigned int first);
	void (*discard)(struct nswap_device *dev, u64 slot);
	void (*stat)(struct nswap_device *dev, struct nswap_tier_view *v);
};

extern const struct nswap_tier_ops *const nswap_tiers[NSWAP_TIERS];

void nswap_tier_look(struct nswap_device *dev, enum nswap_tier tier,
		     struct nswap_tier_view *v);

/*
 * The tier that holds the first copy of a slot's page; NULL if no tier has it: it was
 * never written, is being written, was freed, or is lost.
 */
static inline const struct nswap_tier_ops *
nswap_tier_of(const struct nswap_slot *s)
{
	if (nswap_slot_at_peer(s))
		return nswap_tiers[NSWAP_TIER_REMOTE];
	if (nswap_slot_at_home(s))
		return nswap_tiers[NSWAP_TIER_HOME];
	return s->state == NSWAP_SLOT_FLASH ? nswap_tiers[NSWAP_TIER_FLASH] :
					      NULL;
}

/* does the device have this tier? any context; on the page-out path */
static inline bool nswap_tier_there(const struct nswap_device *dev,
				    enum nswap_tier tier)
{
	const struct nswap_tier_ops *t = nswap_tiers[tier];

	return !t->there || t->there(dev);
}

/* tier_flash.c */
int nswap_tier_flash_store(struct nswap_io *io, unsigned long slots);
unsigned int nswap_tier_flash_load(struct nswap_io *io, unsigned int first);

/* tier_home.c */
int nswap_tier_home_store(struct nswap_io *io, unsigned long slots);
unsigned int nswap_tier_home_load(struct nswap_io *io, unsigned int first);

#endif
