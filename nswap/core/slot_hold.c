// SPDX-License-Identifier: GPL-2.0
/*
 * Holding a slot: REMOTE -> MOVING -> REMOTE, at the same peer or another.
 *
 * Invariants:
 *  - One task holds a slot: a move that its peer reports meanwhile is to be tried
 *    again later, and the loss of the peer passes it over. So the one that releases
 *    it looks at the peer (nswap_hooks.slot_released).
 *  - A page-out may claim it and a free may free it at any time. The holder finds
 *    that out when it releases it, and has to expect it in whatever it does before.
 */
#include "base/hooks.h"
#include "slot_hold.h"
#include "slot_update.h"

/* REMOTE -> MOVING */
static bool hold_slot_begun(struct nswap_slot *s)
{
	if (s->state != NSWAP_SLOT_REMOTE)
		return false;
	s->state = NSWAP_SLOT_MOVING;
	return true;
}

/* MOVING -> REMOTE, if it is still held */
static bool hold_slot_ended(struct nswap_slot *s, const struct nswap_slot *held,
			    u16 peer)
{
	if (!nswap_slot_is(s, NSWAP_SLOT_MOVING, held->peer, held->gen))
		return false;
	s->state = NSWAP_SLOT_REMOTE;
	s->peer = peer;
	return true;
}

/* @held: result, its word; any context. Returns false if it is not at a peer, or held. */
bool nswap_slot_hold(struct nswap_device *dev, u64 slot, struct nswap_slot *held)
{
	return nswap_slot_update(dev, slot, held, hold_slot_begun);
}

/* has it not been claimed or freed since? a snapshot; any context */
bool nswap_slot_held(const struct nswap_device *dev, u64 slot,
		     const struct nswap_slot *held)
{
	struct nswap_slot s = nswap_slot_look(dev, slot);

	return nswap_slot_is(&s, NSWAP_SLOT_MOVING, held->peer, held->gen);
}

/*
 * The page is at @peer from now on. Process context; does not sleep. Returns false if
 * the slot was claimed or freed meanwhile, which has dealt with the copy at the peer
 * that *@held names.
 */
bool nswap_slot_release(struct nswap_device *dev, u64 slot,
			const struct nswap_slot *held, u16 peer)
{
	struct nswap_slot was;
	bool ret = nswap_slot_update(dev, slot, &was, hold_slot_ended, held, peer);

	if (ret)
		nswap_hooks.slot_released(dev->node, peer);
	return ret;
}
