// SPDX-License-Identifier: GPL-2.0
/*
 * Losses: the slots of a peer whose epoch is over become LOST, or HOME or FLASH if
 * there is another copy; or another peer, if that has one (mirror.c). Those whose copy
 * is just being written home, and those that are MOVING, are left to the task that
 * does that, which has this run again.
 *
 * A page-in of such a slot fails whether this has run or not: it looks at the
 * peer first. This corrects the count of lost pages and allows the peer's index
 * to be released once its slots are freed or written again.
 *
 * Invariants:
 *  - Never on the page-out path, but before the session of a peer that has forgotten this
 *    node's pages is up, which page-outs to it wait for: so that one allocates nothing and
 *    takes no lock that a task holds which allocates. It finds devices under RCU, a chunk of
 *    slots at a time; the work for LOST peers, under the node's control lock.
 *  - Each slot is changed by nswap_slot_update() as everywhere else.
 */
#include <linux/sched.h>

#include "base/hooks.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/home_copy.h"
#include "core/mirror.h"
#include "core/node.h"
#include "core/slot_hold.h"
#include "core/slot_update.h"
#include "loss.h"

/* has it lost its copies? @at: index; @index: the peer that has, 0 for all LOST ones */
static bool loss_at(struct nswap_device *dev, u16 at, u16 index)
{
	return at && (index ? at == index :
		      nswap_peer_state(dev->node, at) == NSWAP_PEER_LOST);
}

/* REMOTE -> HOME, FLASH or LOST; for a slot that is MOVING its claim decides */
static bool loss_slot_lost(struct nswap_slot *s, struct nswap_device *dev,
			   u64 slot, u16 index)
{
	if (s->state != NSWAP_SLOT_REMOTE || !loss_at(dev, s->peer, index))
		return false;
	return !nswap_mirror_of(dev, slot, s) &&
	       nswap_home_copy_lost(dev, slot, s);
}

/* the second place becomes the first, and there is no second one */
static void loss_of_first(struct nswap_device *dev, u64 slot,
			  const struct nswap_slot *held)
{
	u16 second = nswap_mirror_of(dev, slot, held);

	if (!second || !nswap_mirror_replace(dev, slot, held->gen, second, 0))
		nswap_slot_release(dev, slot, held, held->peer);
	else if (nswap_slot_release(dev, slot, held, second))
		nswap_peer_slots(dev->node, held->peer, -1);
	else
		nswap_hooks.copy_obsolete(dev, slot, held->gen, second);
}

/**
 * nswap_loss_of_copy() - one of two places does not have its copy any more
 * @dev: device
 * @slot: slot
 * @gen: generation of the page
 * @peer: index of the peer
 *
 * Context: process; does not sleep; on the page-in path.
 * Return: false if the page had no other place, and nothing was changed.
 */
bool nswap_loss_of_copy(struct nswap_device *dev, u64 slot, u32 gen, u16 peer)
{
	struct nswap_slot s = nswap_slot_look(dev, slot), held;
	u16 second = nswap_mirror_of(dev, slot, &s);

	if (!second || s.gen != gen)
		return false;
	if (second == peer) {
		if (nswap_mirror_replace(dev, slot, gen, peer, 0))
			nswap_peer_slots(dev->node, peer, -1);
		return true;
	}
	if (!nswap_slot_hold(dev, slot, &held))
		return true;
	if (held.gen == gen && held.peer == peer)
		loss_of_first(dev, slot, &held);
	else
		nswap_slot_release(dev, slot, &held, held.peer);
	return true;
}

/* true: it was at two places, and has been seen to */
static bool loss_of_pair(struct nswap_device *dev, u64 slot, u16 index)
{
	struct nswap_slot s;
	u16 second;

	if (!READ_ONCE(dev->mirror))
		return false;
	s = nswap_slot_look(dev, slot);
	second = nswap_mirror_of(dev, slot, &s);
	/* first the second: if both are lost, the page is */
	if (loss_at(dev, second, index))
		nswap_loss_of_copy(dev, slot, s.gen, second);
	else if (second && nswap_slot_at_peer(&s) && loss_at(dev, s.peer, index))
		return nswap_loss_of_copy(dev, slot, s.gen, s.peer);
	return false;
}

/* @index: as below; returns whether a page is lost that cannot be rebuilt */
static bool lose_slot(struct nswap_device *dev, u64 slot, u16 index)
{
	struct nswap_slot was;

	if (loss_of_pair(dev, slot, index) ||
	    !nswap_slot_update(dev, slot, &was, loss_slot_lost, dev, slot, index))
		return false;
	nswap_peer_slots(dev->node, was.peer, -1);
	/* pages of cells can be */
	return !dev->outer && nswap_slot_look(dev, slot).state == NSWAP_SLOT_LOST;
}

/*
 * The slots of the next chunk that is used. @index: the peer that has no pages any more, 0 for
 * all that are LOST; @from: where to begin, moved on. Does not sleep.
 */
static u64 lose_chunk(struct nswap_device *dev, u16 index, u64 *from)
{
	u64 slot = nswap_slot_map_next(&dev->map, *from), n = 0;

	*from = nswap_slot_chunk_end(&dev->map, slot);
	spin_lock(&dev->node->client->loss_lock);
	for (; slot < *from; slot++)
		n += lose_slot(dev, slot, index);
	spin_unlock(&dev->node->client->loss_lock);
	return n;
}

/* a slot names a peer again after a while: its loss may have passed it over; process */
void nswap_loss_passed(struct nswap_node *node, u16 peer)
{
	if (peer && nswap_peer_state(node, peer) == NSWAP_PEER_LOST)
		queue_work(system_dfl_wq, &node->client->losses);
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
	u64 slot;

	mutex_lock(&cl->node->control);
	if (any_lost(cl->node))
		list_for_each_entry(dev, &cl->node->devices, link)
			for (slot = 0; slot < dev->map.nr; cond_resched())
				lose_chunk(dev, 0, &slot);
	mutex_unlock(&cl->node->control);
}

/* the next chunk of slots; @n: grows by the pages that are lost; false after the last device */
static bool forget_chunk(struct nswap_peer *peer, struct nswap_device_part *part, u64 *n)
{
	struct nswap_device *dev;

	rcu_read_lock();
	dev = nswap_device_part(peer->node, part);
	if (dev) {
		*n += lose_chunk(dev, peer->index, &part->at);
		nswap_device_part_over(part, dev->map.nr);
	}
	rcu_read_unlock();
	return dev;
}

/*
 * A peer no longer holds any page of this node. @peer: its session is about to come
 * up; no page-out can reach it yet. Its lease for this node has run out: pages whose
 * slots name it are lost, and page-ins of them fail, which is not the same as zeros.
 * Context: process, the session's leader; may be rescheduled, waits for nothing. A device that
 * is added meanwhile has no page there, and one that is taken out sees to its own.
 */
void nswap_loss_forgotten(struct nswap_peer *peer)
{
	struct nswap_device_part part = {};
	u64 n = 0;

	if (!atomic64_read(&peer->slots))
		return;
	while (forget_chunk(peer, &part, &n))
		cond_resched();
	if (n)
		nswap_warn(peer->node, "peer %s no longer holds anything of this node: %llu pages are lost; restart programs that fail, and see nswapctl device protect",
			   peer->name, n);
}
