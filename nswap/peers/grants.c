// SPDX-License-Identifier: GPL-2.0
/*
 * Grants of a peer, as reported by its answers: pages it sets aside for this
 * node, or that it has none.
 */
#include "core/client_state.h"
#include "core/node.h"
#include "grants.h"
#include "place.h"

/* A peer granted pages and reported what is free; process, page-out path; no sleep. */
void nswap_peer_granted(struct nswap_peer *peer, u32 grants, u64 free)
{
	nswap_place_give(peer, grants, free);
	nswap_client_kick(peer->node);
}

/* start the backoff of a peer; process, page-out path; does not sleep */
void nswap_peer_back_off(struct nswap_peer *peer)
{
	u32 ms = nswap_knob(peer->node, refraction_ms);

	WRITE_ONCE(peer->refraction, jiffies + msecs_to_jiffies(ms));
	nswap_place_look(peer, NSWAP_PLACE_CHANGED);
	/* also with refraction_ms 0: not again before the next tick */
	nswap_place_rest(peer);
}

/*
 * A peer had no room for some pages: what it announced as free is not there.
 * Context: process, page-out path; does not sleep.
 */
void nswap_peer_refused(struct nswap_peer *peer, unsigned int pages)
{
	struct nswap_node *node = peer->node;
	unsigned long flags;

	nswap_stat_add(node, refused, pages);
	spin_lock_irqsave(&node->ipt_lock, flags);
	nswap_ipt_refused(&node->ipt, peer->index);
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	nswap_peer_back_off(peer);
}
