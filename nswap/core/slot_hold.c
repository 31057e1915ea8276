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
 *  - A page of flash that is being stored at a peer stays FLASH(g): until the peer's answer
 *    is here, its entry does not say that the peer's copy, which has g as well, counts. So
 *    while the device has such stores, each copy of a FLASH(g) counts: one that is obsolete
 *    is found by a later comparison.
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

/* before pages of flash are sent to peers; any context */
void nswap_flash_stores_begin(struct nswap_device *dev)
{
	atomic_inc(&dev->flash_stores);
	/* before the first copy is made, so before a peer can name it */
	smp_mb__after_atomic();
}

/* all are recorded at their peers, or will not be; any context */
void nswap_flash_stores_end(struct nswap_device *dev)
{
	/* pairs with nswap_flash_stores() */
	smp_mb__before_atomic();
	atomic_dec(&dev->flash_stores);
}
