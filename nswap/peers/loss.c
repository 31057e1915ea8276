// SPDX-License-Identifier: GPL-2.0
/*
 * Losses: the slots of a peer whose epoch is over become LOST, or HOME or FLASH if
 * there is another copy. Those whose copy is just being written home are left to that
 * write, which has this run again.
 *
 * A page-in of such a slot fails whether this has run or not: it looks at the
 * peer first. This corrects the count of lost pages and allows the peer's index
 * to be released once its slots are freed or written again.
 *
 * Invariant: never on the page-out path. The node's control lock keeps the
 * devices; each slot is changed by nswap_slot_update() as everywhere else.
 */
#include <linux/sched.h>

#include "base/log.h"
#include "core/client_state.h"
#include "core/home_copy.h"
#include "core/node.h"
#include "core/slot_update.h"
#include "loss.h"

/* REMOTE -> HOME, FLASH or LOST; for a slot that is MOVING its claim decides */
static bool loss_slot_lost(struct nswap_slot *s, struct nswap_device *dev,
			   u64 slot, u16 index)
{
	if (s->state != NSWAP_SLOT_REMOTE ||
	    (index ? s->peer != index :
		     nswap_peer_state(dev->node, s->peer) != NSWAP_PEER_LOST))
		return false;
	return nswap_home_copy_lost(dev, slot, s);
}

/* @index: the peer that has no pages any more, 0 for all that are LOST */
static u64 lose_slots(struct nswap_device *dev, u16 index)
{
	struct nswap_slot was;
	u64 slot, n = 0;

	for (slot = 0; slot < dev->map.nr; slot++) {
		if (!(slot % 65536))
			cond_resched();
		if (!nswap_slot_update(dev, slot, &was, loss_slot_lost, dev,
				       slot, index))
			continue;
		nswap_peer_slots(dev->node, was.peer, -1);
		n += nswap_slot_look(dev, slot).state == NSWAP_SLOT_LOST;
	}
	return n;
}

static bool any_lost(struct nswap_node *node)
{
	struct nswap_peer *peer;
	bool any = false;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		any = any || (READ_ONCE(peer->state) == NSWAP_PEER_LOST &&
			      atomic64_read(&peer->slots));
		nswap_peer_put(peer);
	}
	return any;
}

/*
 * Mark the slots of all peers that are LOST. Context: process, sleeps; a work queue
 * that page-outs do not wait for.
 */
void nswap_loss_work(struct work_struct *work)
{
	struct nswap_client *cl = container_of(work, struct nswap_client, losses);
	struct nswap_device *dev;

	mutex_lock(&cl->node->control);
	if (any_lost(cl->node))
		list_for_each_entry(dev, &cl->node->devices, link)
			lose_slots(dev, 0);
	mutex_unlock(&cl->node->control);
}

/*
 * A peer no longer holds any page of this node. @peer: its session is about to come
 * up; no page-out can reach it yet. Its lease for this node has run out: pages whose
 * slots name it are lost, and page-ins of them fail, which is not the same as zeros.
 * Context: process, the session's leader; sleeps.
 */
void nswap_loss_forgotten(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	struct nswap_device *dev;
	u64 n = 0;

	if (!atomic64_read(&peer->slots))
		return;
	mutex_lock(&node->control);
	list_for_each_entry(dev, &node->devices, link)
		n += lose_slots(dev, peer->index);
	mutex_unlock(&node->control);
	if (n)
		nswap_warn(node, "peer %s no longer holds anything of this node: %llu pages are lost",
			   peer->name, n);
}
