// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetcher, clock hand: cycles over the slots of a device and picks pages to
 * prefetch. It continues where it stopped.
 *
 * Invariants:
 *  - A wake-up looks at most at LOOK slots, or as many as the device has.
 *  - Slot 0 is never picked, and no slot twice in a batch.
 *  - A picked slot may change before it is used: the user checks the slot again.
 *  - Nothing is changed but reference bits.
 */
#include <linux/random.h>
#include <linux/sched.h>

#include "core/slot_update.h"
#include "prefetch_scan.h"

#define LOOK	65536		/* slots looked at in one wake-up */
#define DRAWS	64		/* for a slot that may be in use */

/* does the policy want this page? */
static bool scan_goes(struct nswap_hand *h, const struct nswap_which_ops *which,
		      u64 slot, const struct nswap_slot *s)
{
	switch (which->look(s->referenced)) {
	case NSWAP_WHICH_CLEAR:
		nswap_slot_unreference(&h->dev->map, slot, s);
		return false;
	case NSWAP_WHICH_TAKE:
		return true;
	default:
		return false;
	}
}

/* any slot but 0, of a chunk in use if a few attempts find one: all are as likely */
static u64 scattered_slot(const struct nswap_slot_map *map)
{
	unsigned int n = 0;
	u64 at;

	do {
		at = 1 + get_random_u64() % (map->nr - 1);
	} while (!nswap_slot_map_used(map, at) && ++n < DRAWS);
	return at;
}

/* skips slot 0, which never leaves this node; false: looked at enough slots */
static bool next_slot(struct nswap_hand *h,
		      const struct nswap_which_ops *which, u64 *slot)
{
	const struct nswap_slot_map *map = &h->dev->map;

	u64 most = which->scattered ? map->nr : nswap_slot_map_in_use(map);

	/* the first slot looked at is not looked at again: slot 0 is among these */
	if (h->looked + 1 >= min_t(u64, most, LOOK))
		return false;
	*slot = which->scattered ? scattered_slot(map) :
				   nswap_slot_map_turn(map, max(h->at, 1ull) - 1);
	h->at = *slot + 1;
	if (!(++h->looked % 4096))
		cond_resched();
	return true;
}

static bool in_batch(const struct nswap_picked *picked, unsigned int nr, u64 slot)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (picked[i].slot == slot)
			return true;
	return false;
}

/*
 * Pick pages that a peer has and flash has not. Returns how many; fewer than @most
 * means that enough slots were looked at.
 */
unsigned int nswap_hand_pick_remote(struct nswap_hand *h,
				    const struct nswap_which_ops *which,
				    struct nswap_picked *picked,
				    unsigned int most)
{
	unsigned int n = 0;
	u64 slot;

	while (n < most && next_slot(h, which, &slot)) {
		struct nswap_slot s = nswap_slot_look(h->dev, slot);

		if (!nswap_hand_may(NSWAP_RAM_FLASH, &s) ||
		    in_batch(picked, n, slot) || !scan_goes(h, which, slot, &s))
			continue;
		picked[n++] = (struct nswap_picked){
			.slot = slot, .entry = s,
		};
	}
	return n;
}

/* is a page with this entry where pages of this way come from? */
bool nswap_hand_may(enum nswap_prefetch_way way, const struct nswap_slot *s)
{
	switch (way) {
	case NSWAP_DISK_RAM:
	case NSWAP_DISK_FLASH:
		return s->state == NSWAP_SLOT_HOME;
	case NSWAP_FLASH_RAM:
	case NSWAP_FLASH_DISK:
		return s->state == NSWAP_SLOT_FLASH;
	default:
		return s->state == NSWAP_SLOT_REMOTE && !s->flash;
	}
}

static bool scan_picks(struct nswap_hand *h, enum nswap_prefetch_way way,
		       const struct nswap_which_ops *which, u64 slot)
{
	struct nswap_slot s = nswap_slot_look(h->dev, slot);

	return nswap_hand_may(way, &s) && scan_goes(h, which, slot, &s);
}

/*
 * Pick pages for one batch. Returns a bitmap of slots from @first on, which are read
 * in one go; 0: looked at enough slots.
 */
unsigned long nswap_hand_pick(struct nswap_hand *h, enum nswap_prefetch_way way,
			      const struct nswap_which_ops *which,
			      u64 want, u64 *first)
{
	unsigned long picked = 0;
	u64 slot;

	want = min_t(u64, want, NSWAP_REQ_SLOTS);
	while (hweight_long(picked) < want && next_slot(h, which, &slot)) {
		if (picked && (slot < *first || slot >= *first + NSWAP_REQ_SLOTS)) {
			h->at = slot;
			break;
		}
		if (!scan_picks(h, way, which, slot))
			continue;
		if (!picked)
			*first = slot;
		picked |= BIT(slot - *first);
		if (which->scattered)
			break;
	}
	return picked;
}
