// SPDX-License-Identifier: GPL-2.0
/*
 * Placing: the pages of a range of slots go where a user wants them, batch after batch.
 *
 *   look at up to 32 slots -> carry those that are elsewhere -> look again -> count
 *
 *   to ram:   from flash by the carrier (prefetch_move.c), from home by promote.c
 *   to flash: from peers and home by the carrier
 *   to home:  from peers and flash by the carrier
 *
 * Invariants:
 *  - This file changes no entry of the slot map: whether a page may move, and whether it has
 *    changed meanwhile, is decided where it is moved, by compare and exchange. A slot that is
 *    rewritten, freed, moved or lost between two lines here is left as it is, and counted by
 *    what it was when it was looked at last.
 *  - A page that does not go, for lack of room, or with a silent peer or a flash or home
 *    that fails, is where it was.
 *  - Page-outs come first: only room that they do not need is used, at peers and on flash,
 *    and nothing goes to peers while one waits. Batches take half of the time at most, and
 *    a device has one at a time, however many tasks ask.
 *  - It runs in a task of the user's. A page-out may wait for a slot that is just being
 *    written home here; while one is, this task waits for nothing but that write, and takes
 *    no memory. It allocates when it starts only.
 *  - What is in transition is waited for, PATIENCE in all. What has failed is tried again
 *    when another page of the batch has moved, TRIES times. So a batch ends.
 *  - A signal ends it behind a batch. The batch itself waits for what is below: home and
 *    flash until they answer, peers for store_timeout_ms.
 *  - What is placed at home is tagged, so that it does not move out by itself; placing it
 *    elsewhere takes the tag off.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "base/stats.h"
#include "bring.h"
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/page_tag.h"
#include "core/parity.h"
#include "core/return_mark.h"
#include "core/slot_update.h"
#include "evict.h"
#include "peers/place.h"
#include "prefetch_move.h"
#include "promote.h"

#define TRIES		4		/* with what failed, after others of its batch moved */
#define ROOM_WAIT	(2 * HZ)	/* for the first grants */
#define STEP		(HZ / 50)
#define PATIENCE	(2 * HZ)	/* with slots in transition, in all */

/**
 * struct nswap_bring - pages on their way to a tier
 * @dev: device
 * @c: carries them
 * @tier: where to
 * @patience: jiffies to wait for slots in transition
 * @evictor: makes room on flash
 */
struct nswap_bring {
	struct nswap_device *dev;
	struct nswap_carrier *c;
	enum nswap_tier tier;
	unsigned long patience;
	struct nswap_evictor evictor;
};

/* where the slots of a batch are: bitmaps */
struct nswap_bring_look {
	unsigned long there;
	unsigned long empty;
	unsigned long lost;
	unsigned long busy;
	unsigned long way[NSWAP_PREFETCH_WAYS];
};

/* which way does a page go that is at rest at @s? negative: it is there */
static int bring_way(enum nswap_tier tier, const struct nswap_slot *s)
{
	switch (s->state) {
	case NSWAP_SLOT_REMOTE:
		if (tier == NSWAP_TIER_REMOTE)
			return -EEXIST;
		return tier == NSWAP_TIER_FLASH ? NSWAP_RAM_FLASH : NSWAP_RAM_DISK;
	case NSWAP_SLOT_FLASH:
		if (tier == NSWAP_TIER_FLASH)
			return -EEXIST;
		return tier == NSWAP_TIER_REMOTE ? NSWAP_FLASH_RAM : NSWAP_FLASH_DISK;
	default:
		if (tier == NSWAP_TIER_HOME)
			return -EEXIST;
		return tier == NSWAP_TIER_REMOTE ? NSWAP_DISK_RAM : NSWAP_DISK_FLASH;
	}
}

static bool bring_in_cell(const struct nswap_device *dev, u64 slot)
{
	const struct nswap_parity *p = nswap_parity_of(dev);

	return p && READ_ONCE(p->cell_of[slot]);
}

/* is the page on its way, or its copy on its way home? */
static bool bring_in_transition(const struct nswap_bring *br, u64 slot,
				const struct nswap_slot *s)
{
	return s->state == NSWAP_SLOT_WRITING || s->state == NSWAP_SLOT_MOVING ||
	       nswap_return_under_way(br->dev, slot) ||
	       (br->tier == NSWAP_TIER_HOME && nswap_home_copy_due(br->dev, slot));
}

static void bring_look_at(struct nswap_bring *br, u64 slot, unsigned long bit,
			  struct nswap_bring_look *l)
{
	struct nswap_slot s = nswap_slot_look(br->dev, slot);
	int way;

	if (bring_in_cell(br->dev, slot))
		return;
	if (s.state == NSWAP_SLOT_EMPTY || s.state == NSWAP_SLOT_FREEING) {
		l->empty |= bit;
	} else if (s.state == NSWAP_SLOT_LOST) {
		l->lost |= bit;
	} else if (bring_in_transition(br, slot, &s)) {
		l->busy |= bit;
	} else {
		way = bring_way(br->tier, &s);
		if (way < 0)
			l->there |= bit;
		else
			l->way[way] |= bit;
	}
}

static void bring_look(struct nswap_bring *br, u64 first, unsigned int nr,
		       struct nswap_bring_look *l)
{
	unsigned int i;

	memset(l, 0, sizeof(*l));
	for (i = 0; i < nr; i++)
		bring_look_at(br, first + i, BIT(i), l);
}

/*
 * May pages go to peers now? Asks for grants, and waits for the first of them, unless that
 * had no result a moment ago.
 */
static bool bring_peers(struct nswap_bring *br)
{
	struct nswap_device *dev = br->dev;
	unsigned long until = jiffies + ROOM_WAIT;

	if (time_in_range(jiffies, dev->place_full, dev->place_full + ROOM_WAIT))
		until = jiffies;
	for (;;) {
		nswap_client_used(dev->node);
		if (!nswap_client_waits(dev->node->client) &&
		    nswap_place_spare(dev->node, NSWAP_REQ_SLOTS))
			return true;
		if (!time_before(jiffies, until) || signal_pending(current))
			break;
		schedule_timeout_interruptible(STEP);
	}
	if (!signal_pending(current))
		dev->place_full = jiffies;
	return false;
}

/* may pages go to flash now? copies of pages that peers have make room */
static bool bring_flash(struct nswap_bring *br)
{
	if (!nswap_evict_room(br->dev) && !time_before(jiffies, br->evictor.rest_until))
		nswap_evict(br->dev, &br->evictor, NSWAP_REQ_SLOTS);
	return nswap_evict_room(br->dev);
}

/* carry pages on one way; returns how many went */
static unsigned int bring_carry(struct nswap_bring *br, enum nswap_prefetch_way way,
				u64 first, unsigned long slots)
{
	u8 tag = br->tier == NSWAP_TIER_HOME ? NSWAP_TAG_PLACED : 0;

	switch (way) {
	case NSWAP_DISK_RAM:
		return bring_peers(br) ?
		       hweight_long(nswap_promote_move(br->dev, first, slots, 0)) : 0;
	case NSWAP_FLASH_RAM:
		if (!bring_peers(br))
			return 0;
		break;
	case NSWAP_DISK_FLASH:
	case NSWAP_RAM_FLASH:
		if (!bring_flash(br))
			return 0;
		break;
	default:
		break;
	}
	return nswap_carrier_run(br->c, way, first, slots, tag);
}

static void bring_count(struct nswap_bring *br, unsigned int n)
{
	struct nswap_node *node = br->dev->node;

	if (br->tier == NSWAP_TIER_REMOTE)
		nswap_stat_add(node, brought_ram, n);
	else if (br->tier == NSWAP_TIER_FLASH)
		nswap_stat_add(node, brought_flash, n);
	else
		nswap_stat_add(node, brought_home, n);
}

/* carry what is elsewhere, but for those that were @tried; returns how many went */
static unsigned int bring_all(struct nswap_bring *br, u64 first,
			      const struct nswap_bring_look *l, unsigned long *tried)
{
	unsigned int n = 0, went;
	unsigned long pages;
	int way;

	for (way = 0; way < NSWAP_PREFETCH_WAYS; way++) {
		pages = l->way[way] & ~*tried;
		if (!pages)
			continue;
		*tried |= pages;
		went = bring_carry(br, way, first, pages);
		bring_count(br, went);
		n += went;
	}
	return n;
}

/* those that are there stay there, those that are to be elsewhere may move again */
static void bring_tag(struct nswap_bring *br, u64 first, unsigned int nr,
		      unsigned long there)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (br->tier != NSWAP_TIER_HOME && nswap_page_placed(br->dev, first + i))
			nswap_page_tag(br->dev, first + i, 0);
		else if (br->tier == NSWAP_TIER_HOME && there & BIT(i))
			nswap_page_tag(br->dev, first + i, NSWAP_TAG_PLACED);
	}
}

/* is something elsewhere that was not tried, or may be tried again? */
static bool bring_untried(const struct nswap_bring_look *l, unsigned long tried)
{
	unsigned long pages = 0;
	int way;

	for (way = 0; way < NSWAP_PREFETCH_WAYS; way++)
		pages |= l->way[way];
	return pages & ~tried;
}

/* nothing is to be tried: wait a step for what is in transition? false: do not look again */
static bool bring_wait(struct nswap_bring *br, const struct nswap_bring_look *l)
{
	unsigned long began = jiffies;

	if (!l->busy || !br->patience || signal_pending(current))
		return false;
	schedule_timeout_interruptible(STEP);
	br->patience -= min(br->patience, jiffies - began);
	return true;
}

static void bring_batch(struct nswap_bring *br, u64 first, unsigned int nr,
			struct nswap_brought *b)
{
	struct nswap_bring_look l;
	unsigned long before, tried = 0;
	unsigned int tries = TRIES;
	bool again;

	bring_look(br, first, nr, &l);
	before = l.there;
	bring_tag(br, first, nr, before);
	do {
		if (bring_all(br, first, &l, &tried) && tries) {
			tried = 0;
			tries--;
		}
		bring_look(br, first, nr, &l);
		again = bring_untried(&l, tried);
		if (!again && bring_wait(br, &l)) {
			bring_look(br, first, nr, &l);
			again = true;
		}
	} while (again);
	/* also what came there by itself */
	bring_tag(br, first, nr, l.there);
	b->done += nr;
	b->there += hweight_long(before);
	b->moved += hweight_long(l.there & ~before);
	b->empty += hweight_long(l.empty & ~before);
	b->lost += hweight_long(l.lost & ~before);
	b->left += nr - hweight_long(l.there | l.empty | l.lost | before);
}

static int bring_range(struct nswap_bring *br, u64 first, u64 end, struct nswap_brought *b)
{
	u64 slot = first, next;
	ktime_t began;

	while (slot < end) {
		if (signal_pending(current))
			return slot == first ? -ERESTARTSYS : 0;
		cond_resched();
		next = min(nswap_slot_map_next(&br->dev->map, slot), end);
		b->empty += next - slot;
		b->done += next - slot;
		if (next > slot) {
			slot = next;
			continue;
		}
		began = ktime_get();
		next = min(end, slot + NSWAP_REQ_SLOTS);
		bring_batch(br, slot, next - slot, b);
		slot = next;
		if (slot < end && nswap_slot_map_next(&br->dev->map, slot) == slot)
			nswap_promote_pause(began, 0);
	}
	return 0;
}

/*
 * Can pages of this device be brought there? process, does not sleep. Returns 0, -ENODEV if it
 * has no such tier, -EOPNOTSUPP if its pages are protected by parity: they are in groups, at
 * peers that their group decides.
 */
int nswap_bring_may(const struct nswap_device *dev, enum nswap_tier tier)
{
	if ((tier == NSWAP_TIER_FLASH && !dev->flash) ||
	    (tier == NSWAP_TIER_HOME && !dev->home))
		return -ENODEV;
	return READ_ONCE(dev->protect) == NSWAP_PROTECT_PARITY ? -EOPNOTSUPP : 0;
}

/**
 * nswap_bring() - bring the pages of a range to a tier
 * @dev: device, for which nswap_bring_may() is 0; the caller holds its @placing, its disk is
 *	open
 * @tier: where to
 * @first: the first slot; that of the header is passed over
 * @nr: how many
 * @b: result, also when less was done because a signal came
 *
 * Context: process, sleeps for page-ins, flash, home and peers; allocates 140 KiB.
 * Return: 0, -ERESTARTSYS with nothing done, -ENOMEM.
 */
int nswap_bring(struct nswap_device *dev, enum nswap_tier tier, u64 first, u64 nr,
		struct nswap_brought *b)
{
	struct nswap_bring br = { .dev = dev, .tier = tier, .patience = PATIENCE };
	u64 end = first + nr;
	unsigned int noio;
	int ret;

	memset(b, 0, sizeof(*b));
	br.evictor.rest_until = jiffies;
	br.c = nswap_carrier_make(dev, true);
	if (!br.c)
		return -ENOMEM;
	if (!first)
		b->done++;
	noio = memalloc_noio_save();
	ret = bring_range(&br, max(first, 1ull), end, b);
	memalloc_noio_restore(noio);
	nswap_carrier_free(br.c);
	return ret;
}
