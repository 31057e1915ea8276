// SPDX-License-Identifier: GPL-2.0
/*
 * Evicts copies on flash of pages that a peer holds too, to make room.
 *
 *   REMOTE(peer, g, flash) -> REMOTE(peer, g), the flash slot is put back
 *
 * Invariants:
 *  - Only the prefetcher's work evicts, whether the prefetcher is on or off, and who places
 *    pages on flash (bring.c), each with an evictor of its own; never a page-out: a search
 *    may be long. Evicted copies are counted.
 *  - An eighth of flash is reserved for page-outs that no peer has room for; copies
 *    are evicted when page-outs exceed it. After two rounds over all slots without
 *    a copy to evict, ticks start no search for REST.
 *  - A copy is evicted only while there is a session with the peer that holds the
 *    page and the peer was heard lately: when a peer dies, page-outs go to flash,
 *    and they must not evict the remaining copies of its pages.
 *  - A page-in that was reading an evicted copy reads again, from the peer: the slot
 *    names no flash slot any more or, if it has got one again meanwhile, the number
 *    of dropped copies has changed (nswap_flash_links()). So the page that used the
 *    flash slot in between is never taken for it.
 *  - A page that was paged in since flash has its copy, or since the hand last passed, is
 *    spared for one round.
 */
#include <linux/sched.h>

#include "core/client_state.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "evict.h"
#include "peers/peer.h"

#define LOOK	65536		/* slots looked at in one search */
#define SPARED	8		/* 1/8 of flash is reserved for page-outs */
#define REST	HZ		/* backoff: two rounds found no copy to evict */
#define HEARD	(2 * HZ)	/* peers that hold pages are pinged every second */

static bool peer_is_up(struct nswap_node *node, u16 index)
{
	struct nswap_peer *peer = nswap_peer_get(node, index);
	bool up;

	if (!peer)
		return false;
	up = READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	     time_before(jiffies, READ_ONCE(peer->heard) + HEARD);
	nswap_peer_put(peer);
	return up;
}

/* REMOTE(peer, g, flash) -> REMOTE(peer, g) */
static bool evict_slot_copy(struct nswap_slot *s, struct nswap_device *dev)
{
	/* room on a flash device that takes no writes is of no use */
	if (s->state != NSWAP_SLOT_REMOTE || !s->flash || s->referenced ||
	    !nswap_flash_works(dev->flash, s->flash) ||
	    !peer_is_up(dev->node, s->peer))
		return false;
	s->flash = NSWAP_FLASH_NONE;
	return true;
}

static bool evict_copy(struct nswap_device *dev, u64 slot)
{
	struct nswap_slot was;

	if (nswap_slot_update(dev, slot, &was, evict_slot_copy, dev))
		return true;
	if (was.state == NSWAP_SLOT_REMOTE && was.flash && was.referenced)
		nswap_slot_unreference(&dev->map, slot, &was);
	return false;
}

/* how many slots one search looks at */
static u64 evict_look(const struct nswap_device *dev)
{
	return min_t(u64, LOOK, nswap_slot_map_in_use(&dev->map));
}

/* returns how many copies were evicted, perhaps fewer than @want */
static u64 evict_search(struct nswap_device *dev, u64 *hand, u64 want)
{
	u64 look = evict_look(dev), n = 0;

	while (n < want && look--) {
		*hand = nswap_slot_map_turn(&dev->map, *hand);
		n += evict_copy(dev, *hand);
		if (!(look % 4096))
			cond_resched();
	}
	if (!n)
		return 0;
	nswap_stat_add(dev->node, copies_evicted, n);
	/* a page-in that found its copy gone waits for this to read again */
	nswap_client_kick(dev->node);
	return n;
}

/* the prefetcher may fill flash up to this */
static u64 evict_limit(u64 total)
{
	return total - total / SPARED;
}

/*
 * Make room for @want more pages within the limit, which also restores the reserve of
 * page-outs; process, sleeps; one caller at a time per evictor.
 */
void nswap_evict(struct nswap_device *dev, struct nswap_evictor *e, u64 want)
{
	u64 total, used;

	if (!dev->flash)
		return;
	nswap_flash_usable(dev->flash, &total, &used);
	used += want;
	if (used <= evict_limit(total))
		return;
	e->in_vain += evict_look(dev);
	if (evict_search(dev, &e->hand, used - evict_limit(total)))
		e->in_vain = 0;
	if (e->in_vain < 2 * nswap_slot_map_in_use(&dev->map))
		return;
	e->in_vain = 0;
	WRITE_ONCE(e->rest_until, jiffies + REST);
}

/* may the prefetcher write to flash? */
bool nswap_evict_room(const struct nswap_device *dev)
{
	u64 total, used;

	nswap_flash_usable(dev->flash, &total, &used);
	return used < evict_limit(total);
}

/* should a tick start the work for nswap_evict()? */
bool nswap_evict_due(const struct nswap_device *dev,
		     const struct nswap_evictor *e)
{
	u64 total, used;

	nswap_flash_usable(dev->flash, &total, &used);
	return used > evict_limit(total) &&
	       used > nswap_slot_count(dev, NSWAP_SLOT_FLASH) &&
	       !time_before(jiffies, READ_ONCE(e->rest_until));
}
