// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching: each peer is told of what class a device is, and how many pages to set
 * aside for it, once in every session; again while the reserve is short, or the peer has
 * refused for want of memory.
 *
 *   device add: all peers that are up, one after the other; shares are equal as long as
 *               there is room, what they lack is asked of those that have more
 *   session up, short, refused: (tick) ATTACH -> ATTACHED, the next device
 *
 * Invariants:
 *  - A device of class normal without a reserve is never attached: peers take it for that.
 *  - A peer without NSWAP_HAS_CLASSES is told nothing; the log says so once a session.
 *  - Peers are not asked for more than the reserve together, but for those that are dead:
 *    one that comes back is asked for what the others lack.
 *  - The one ATTACH of a peer is claimed while it is under way.
 *  - A peer's @attached passes over no device: one that is told of out of turn, while it is
 *    added, moves it only if none before it is left; and an answer never undoes that all are
 *    to be said again.
 *
 * Nothing here sleeps but nswap_attach_device().
 */
#include <linux/jiffies.h>

#include "attach.h"
#include "base/log.h"
#include "core/client_state.h"
#include "core/devices.h"
#include "core/node.h"
#include "core/reserve.h"
#include "ctl.h"
#include "pure/peer_state.h"

#define ANSWER_WAIT	(2 * HZ)
#define SAY_AGAIN	(2 * HZ)	/* while a reserve is short, or a device was refused */

static bool attach_wanted(const struct nswap_device *dev)
{
	return dev->class != NSWAP_DEV_NORMAL || dev->reserve;
}

static bool attach_possible(const struct nswap_peer *peer)
{
	return READ_ONCE(peer->state) == NSWAP_PEER_UP &&
	       READ_ONCE(peer->features) & NSWAP_HAS_CLASSES;
}

/* may it still keep what it was asked for? */
static bool attach_counts(const struct nswap_peer *peer)
{
	u8 state = READ_ONCE(peer->state);

	return state != NSWAP_PEER_NEW && !nswap_peer_hopeless(state);
}

/* pages of the reserve that the others were not asked for */
static u32 attach_lacking(struct nswap_device *dev, const struct nswap_peer *but)
{
	u32 wanted = nswap_reserve_wanted(dev);
	struct nswap_peer *peer;
	unsigned int i;
	u64 asked = 0;

	nswap_for_each_peer(dev->node, i, peer) {
		if (peer != but && attach_counts(peer))
			asked += nswap_reserve_asked(dev, peer->index);
		nswap_peer_put(peer);
	}
	return wanted > asked ? wanted - asked : 0;
}

/* pages of the reserve that peers which are up keep; process, does not sleep */
u64 nswap_attach_reserved(struct nswap_device *dev)
{
	struct nswap_peer *peer;
	u64 promised = 0;
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		if (READ_ONCE(peer->state) == NSWAP_PEER_UP)
			promised += nswap_reserve_promised(dev, peer->index);
		nswap_peer_put(peer);
	}
	return promised;
}

/* fill in the claimed ATTACH of a peer, which is about to be sent */
static void attach_fill(struct nswap_peer *peer, struct nswap_device *dev, u32 pages)
{
	struct nswap_wire_hdr *h = &peer->attach.m.hdr;

	h->instance = cpu_to_le32(dev->instance);
	h->flags = cpu_to_le16(dev->class == NSWAP_DEV_CRITICAL ? NSWAP_F_CRITICAL :
			       dev->class == NSWAP_DEV_DROPPABLE ? NSWAP_F_DROPPABLE : 0);
	nswap_reserve_ask(dev, peer->index, pages);
}

/* the next device that the peer has not been told of, or NULL; inside rcu_read_lock() */
static struct nswap_device *attach_next(const struct nswap_peer *peer)
{
	struct nswap_device *dev, *next = NULL;

	list_for_each_entry_rcu(dev, &peer->node->devices, link)
		if (attach_wanted(dev) && READ_ONCE(dev->attached) &&
		    dev->instance > READ_ONCE(peer->attached) &&
		    (!next || dev->instance < next->instance))
			next = dev;
	return next;
}

/* a peer has answered for a device; inside rcu_read_lock() */
static void attach_told(struct nswap_peer *peer, u32 instance)
{
	u32 was = READ_ONCE(peer->attached);
	struct nswap_device *next = attach_next(peer);

	if (instance > was && (!next || next->instance >= instance))
		cmpxchg(&peer->attached, was, instance);
}

static int attach_answered(struct nswap_msg *m)
{
	struct nswap_ctl *c = container_of(m, struct nswap_ctl, m);
	const struct nswap_wire_hdr *rx = &m->conn->rx;
	u32 instance = le32_to_cpu(m->hdr.instance);
	struct nswap_peer *peer = c->peer;
	struct nswap_device *dev;

	if (rx->type != NSWAP_ATTACHED ||
	    le32_to_cpu(rx->nr) > le32_to_cpu(m->hdr.nr)) {
		m->lost(m);
		return -EPROTO;
	}
	rcu_read_lock();
	dev = nswap_device_find(peer->node, instance);
	if (dev)
		nswap_reserve_told(dev, peer->index, le32_to_cpu(rx->nr));
	attach_told(peer, instance);
	rcu_read_unlock();
	if (rx->status) {
		/* pairs with attach_again(), which goes back to the first device after that */
		smp_store_release(&peer->attach_refused, 1);
	}
	nswap_ctl_release(c);
	wake_up_all(&peer->wait);
	nswap_attach_tick(peer);
	if (rx->nr)
		nswap_client_kick_all(peer->node);
	return 0;
}

/* Returns 0, or -ENOMEM. What the epoch that had its index before was asked for is over. */
int nswap_attach_init(struct nswap_peer *peer)
{
	struct nswap_device *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &peer->node->devices, link)
		nswap_reserve_told(dev, peer->index, 0);
	rcu_read_unlock();
	return nswap_ctl_init(&peer->attach, peer, false, attach_answered);
}

/* a session is about to come up: the peer knows nothing of devices for sure */
void nswap_attach_session(struct nswap_peer *peer)
{
	struct nswap_device *dev;

	WRITE_ONCE(peer->attach_refused, 0);
	WRITE_ONCE(peer->attached, 0);
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &peer->node->devices, link)
		nswap_reserve_refused(dev, peer->index);
	rcu_read_unlock();
}

/*
 * Now and then, if a reserve is short or it refused, all is said again; a round ends before the
 * next one begins. Inside rcu_read_lock()
 */
static void attach_again(struct nswap_peer *peer)
{
	struct nswap_device *dev;

	if (time_before(jiffies, READ_ONCE(peer->attach_again)) || attach_next(peer))
		return;
	WRITE_ONCE(peer->attach_again, jiffies + SAY_AGAIN);
	if (xchg(&peer->attach_refused, 0))
		WRITE_ONCE(peer->attached, 0);
	list_for_each_entry_rcu(dev, &peer->node->devices, link)
		if (dev->reserve && READ_ONCE(dev->attached) &&
		    nswap_attach_reserved(dev) != nswap_reserve_wanted(dev))
			WRITE_ONCE(peer->attached, 0);
}

/*
 * Tell a peer of the next device it has not been told of. Context: process, does not
 * sleep or allocate; inside no lock.
 */
void nswap_attach_tick(struct nswap_peer *peer)
{
	struct nswap_device *dev;
	bool mine = false;
	u32 pages = 0;

	rcu_read_lock();
	if (attach_possible(peer))
		attach_again(peer);
	dev = attach_next(peer);
	if (dev && attach_possible(peer)) {
		mine = nswap_ctl_claim(&peer->attach);
		if (mine) {
			pages = attach_lacking(dev, peer);
			attach_fill(peer, dev, pages);
		}
	} else if (dev && READ_ONCE(peer->state) == NSWAP_PEER_UP) {
		nswap_warn(peer->node, "peer %s knows no classes and reserves: pages of device %u are normal ones there; install the same version of nswap on both",
			   peer->name, dev->instance);
		WRITE_ONCE(peer->attached, dev->instance);
	}
	rcu_read_unlock();
	if (mine)
		nswap_ctl_send(&peer->attach, NSWAP_ATTACH, pages);
}

/* ask one peer and wait for its answer */
static void attach_ask(struct nswap_peer *peer, struct nswap_device *dev, u32 pages)
{
	bool mine = false;

	wait_event_timeout(peer->wait, !attach_possible(peer) ||
			   (mine = nswap_ctl_claim(&peer->attach)), ANSWER_WAIT);
	if (!mine)
		return;
	attach_fill(peer, dev, pages);
	nswap_ctl_send(&peer->attach, NSWAP_ATTACH, pages);
	wait_event_timeout(peer->wait, !test_bit(0, &peer->attach.busy), ANSWER_WAIT);
}

static unsigned int attach_peers(struct nswap_node *node)
{
	struct nswap_peer *peer;
	unsigned int i, n = 0;

	nswap_for_each_peer(node, i, peer) {
		n += attach_possible(peer);
		nswap_peer_put(peer);
	}
	return n;
}

/* ask all of them once, for equal shares of what is lacking or for all of that */
static void attach_round(struct nswap_device *dev, unsigned int shares)
{
	struct nswap_peer *peer;
	unsigned int i;

	nswap_for_each_peer(dev->node, i, peer) {
		u32 kept = nswap_reserve_asked(dev, peer->index);
		u32 more = attach_lacking(dev, NULL);

		if (attach_possible(peer)) {
			attach_ask(peer, dev, kept + DIV_ROUND_UP(more, shares));
			shares -= shares > 1;
		}
		nswap_peer_put(peer);
	}
}

/**
 * nswap_attach_device() - tell all peers that are up of a new device
 * @dev: device in its node's list, not used yet
 *
 * Context: process, sleeps for answers, at most 4 s a peer and round; under the node's
 * control lock.
 * Return: pages of its reserve that they keep.
 */
u32 nswap_attach_device(struct nswap_device *dev)
{
	unsigned int peers = attach_wanted(dev) ? attach_peers(dev->node) : 0;

	if (peers)
		attach_round(dev, peers);
	if (peers && nswap_attach_reserved(dev) < nswap_reserve_wanted(dev))
		attach_round(dev, 1);
	WRITE_ONCE(dev->attached, true);
	return nswap_attach_reserved(dev);
}
