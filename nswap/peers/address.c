// SPDX-License-Identifier: GPL-2.0
/*
 * Address of a peer. A node keeps its name, id and epoch, when its address changes,
 * and so its pages: only the way to it is another one.
 *
 *   announced from elsewhere -> hint -> tried by the leader -> greeted by the same
 *   id and epoch -> the peer's address
 *
 * Invariants:
 *  - While a peer has threads, a datagram gives no more than a hint: the address
 *    changes when a greeting there has proved id and epoch.
 *  - A hint never replaces the address: they are tried in turn, and so is the one
 *    that the user listed, until there is a session.
 *  - While an epoch is heard at one address, a greeting of another epoch with its id
 *    at another address is no proof that it is over.
 *
 * Lock order: peer->lock and ipt_lock are never held together.
 */
#include "base/clock.h"
#include "base/log.h"
#include "core/node.h"
#include "address.h"
#include "pure/ip_table.h"

static void name_after(struct nswap_peer *peer, const struct nswap_addr *a)
{
	/* readers of the old name may still be at it */
	char *name = peer->names[peer->name == peer->names[0]];

	if (a->family == AF_INET)
		snprintf(name, sizeof(peer->names[0]), "%pI4:%u", a->ip, a->port);
	else
		snprintf(name, sizeof(peer->names[0]), "[%pI6c]:%u", a->ip, a->port);
	WRITE_ONCE(peer->name, name);
}

/**
 * nswap_address_set() - a peer is to be reached at this address
 * @peer: the peer; new, without threads under peers_lock, or by its leader
 * @addr: where its id and epoch are
 *
 * Context: process; does not sleep.
 */
void nswap_address_set(struct nswap_peer *peer, const struct nswap_addr *addr)
{
	struct nswap_node *node = peer->node;
	const char *was = peer->name;

	spin_lock(&peer->lock);
	peer->addr = *addr;
	name_after(peer, addr);
	spin_unlock(&peer->lock);
	if (!was)
		return;
	spin_lock_irq(&node->ipt_lock);
	nswap_ipt_moved(&node->ipt, peer->index, addr);
	spin_unlock_irq(&node->ipt_lock);
	nswap_info(node, "peer %s is at %s now", was, peer->name);
}

static bool heard_lately(unsigned long when)
{
	return when && time_before(jiffies, when + msecs_to_jiffies(NSWAP_LATELY_MS));
}

/**
 * nswap_address_heard() - a peer's id was announced from another address
 * @peer: a peer with threads
 * @addr: where from
 * @own_epoch: in the peer's epoch, not in another one
 *
 * Context: process; does not sleep.
 */
void nswap_address_heard(struct nswap_peer *peer, const struct nswap_addr *addr,
			 bool own_epoch)
{
	bool fresh = false;

	spin_lock(&peer->lock);
	if (own_epoch || !peer->hint_own || !heard_lately(peer->hinted)) {
		fresh = !peer->hinted || !nswap_addr_equal(&peer->hint, addr);
		peer->hint = *addr;
		peer->hint_own = own_epoch;
		peer->hinted = jiffies ?: 1;
		if (fresh)
			peer->try_hint = true;
	}
	spin_unlock(&peer->lock);
	if (fresh)
		wake_up_all(&peer->wait);
}

/* is this a peer's address now? process; does not sleep */
bool nswap_address_is(struct nswap_peer *peer, const struct nswap_addr *addr)
{
	bool is;

	spin_lock(&peer->lock);
	is = nswap_addr_equal(&peer->addr, addr);
	spin_unlock(&peer->lock);
	return is;
}

/* was it announced from another address lately? any context */
bool nswap_address_hinted(struct nswap_peer *peer)
{
	return heard_lately(READ_ONCE(peer->hinted));
}

/**
 * nswap_address_lives_elsewhere() - was a peer's epoch heard at another address?
 * @peer: the peer
 * @here: the address where its id greets with another epoch
 *
 * Context: process, the leader; does not sleep.
 * Return: true if it was lately: two nodes have one id, and the peer is not over.
 */
bool nswap_address_lives_elsewhere(struct nswap_peer *peer,
				   const struct nswap_addr *here)
{
	struct nswap_node *node = peer->node;
	const struct nswap_ipt_entry *e = &node->ipt.entry[peer->index];
	bool lives;

	spin_lock(&peer->lock);
	lives = peer->hint_own && heard_lately(peer->hinted) &&
		!nswap_addr_equal(&peer->hint, here);
	spin_unlock(&peer->lock);
	spin_lock_irq(&node->ipt_lock);
	lives = lives || (!nswap_addr_equal(&e->addr, here) &&
			  nswap_ipt_fresh(e, nswap_now_ms(), NSWAP_LATELY_MS));
	spin_unlock_irq(&node->ipt_lock);
	return lives;
}

/* choose where the leader connects next, @peer->to; process, the leader */
void nswap_address_next(struct nswap_peer *peer)
{
	struct nswap_node *node = peer->node;
	struct nswap_addr to[3] = {}, listed = {};
	unsigned int nr = 0;

	spin_lock_irq(&node->ipt_lock);
	if (node->ipt.entry[peer->index].listed)
		listed = node->ipt.entry[peer->index].listed_at;
	spin_unlock_irq(&node->ipt_lock);
	spin_lock(&peer->lock);
	to[nr++] = peer->addr;
	if (peer->hinted && !nswap_addr_equal(&peer->hint, &to[0]))
		to[nr++] = peer->hint;
	if (listed.family && !nswap_addr_equal(&listed, &to[0]) &&
	    !nswap_addr_equal(&listed, &to[nr - 1]))
		to[nr++] = listed;
	if (peer->try_hint)
		peer->attempt = 1;
	peer->try_hint = false;
	peer->to = to[peer->attempt++ % nr];
	spin_unlock(&peer->lock);
}

/* a greeting at @peer->to was the peer's own; process, the leader */
void nswap_address_reached(struct nswap_peer *peer)
{
	peer->attempt = 0;
	if (!nswap_addr_equal(&peer->to, &peer->addr))
		nswap_address_set(peer, &peer->to);
	spin_lock(&peer->lock);
	if (nswap_addr_equal(&peer->hint, &peer->addr))
		peer->hinted = 0;
	spin_unlock(&peer->lock);
}
