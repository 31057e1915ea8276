// SPDX-License-Identifier: GPL-2.0
/*
 * A device is mirrored no more: the second places of its pages leave their entries, and
 * comparison has the copies dropped.
 *
 * Invariants:
 *  - Where home or groups are to protect a page instead, its second place is kept until they
 *    do. But groups need room at two peers, for which second copies have to go if it is
 *    theirs: some at a time, and none while a peer is silent that may have room.
 *  - A second place goes only while the first one's peer is UP: one that is silent may never
 *    be back.
 */
#include <linux/sched.h>

#include "client/free.h"
#include "core/home_copy.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "fill_pace.h"
#include "mirror_strip.h"
#include "peers/peer.h"
#include "peers/place.h"
#include "pure/peer_state.h"

#define STRIP_MOST	8192u	/* second places that go at once to make room for groups */

/* is the second place of a page of no use? @crowded: peers have no room for groups */
static bool strip_may(const struct nswap_device *dev, u64 slot, bool crowded)
{
	switch (READ_ONCE(dev->protect)) {
	case NSWAP_PROTECT_HOME:
		return nswap_home_copy_has(dev, slot);
	case NSWAP_PROTECT_PARITY:
		/* else it is freed with the first one, once a cell has the page */
		return crowded;
	default:
		return true;
	}
}

/* false if the page has no second place, or that is to stay for now */
static bool strip_slot(struct nswap_device *dev, u64 slot, bool crowded)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);
	u16 second = nswap_mirror_of(dev, slot, &s);

	if (!second || s.state != NSWAP_SLOT_REMOTE ||
	    nswap_peer_state(dev->node, s.peer) != NSWAP_PEER_UP || !strip_may(dev, slot, crowded) ||
	    !nswap_mirror_replace(dev, slot, s.gen, second, 0))
		return false;
	nswap_free_by_comparison(dev->node, second);
	return true;
}

/*
 * Go through some slots, from the one after *@cursor on, which is moved on. Process, sleeps.
 * Returns how many second places have left their entries.
 */
unsigned int nswap_mirror_strip(struct nswap_device *dev, u64 *cursor)
{
	bool crowded = nswap_place_count(dev->node) < 2 &&
		       !nswap_place_return_expected(dev->node);
	bool groups = READ_ONCE(dev->protect) == NSWAP_PROTECT_PARITY;
	unsigned int looked, n = 0;

	for (looked = 0; looked < nswap_fill_look(dev) && !(groups && n == STRIP_MOST); looked++) {
		*cursor = nswap_slot_map_turn(&dev->map, *cursor);
		n += strip_slot(dev, *cursor, crowded);
		if (!(looked % NSWAP_FILL_BREATHE))
			cond_resched();
	}
	return n;
}
