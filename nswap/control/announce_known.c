// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements: whom they are for, and whose are believed. A node that only lends
 * (tools/nswap-lend) does the same.
 */
#include "announce_keys.h"
#include "announce_known.h"
#include "base/clock.h"
#include "core/subnet.h"
#include "transport/sockaddr.h"

/**
 * nswap_announce_known() - the next peer that is to be told
 * @node: node
 * @index: of the one before it, 0 at first; moved on
 * @all: not only those that are listed
 * @to: result; room for two addresses
 * @ask: result: it was not heard of lately
 *
 * Context: any.
 * Return: at how many addresses it may be; 0 after the last one.
 */
unsigned int nswap_announce_known(struct nswap_node *node, unsigned int *index, bool all,
				  struct nswap_addr *to, bool *ask)
{
	u64 lately = nswap_knob(node, silent_ms) / 2, now = nswap_now_ms();
	unsigned long flags;
	unsigned int nr = 0;

	spin_lock_irqsave(&node->ipt_lock, flags);
	while (!nr && ++*index <= node->ipt.top) {
		const struct nswap_ipt_entry *e = &node->ipt.entry[*index];

		if (e->gone || !(e->listed || (all && nswap_ipt_alive(e))))
			continue;
		if (!nswap_addr_equal(&e->addr, &node->addr))
			to[nr++] = e->addr;
		if (e->listed && !nswap_addr_equal(&e->addr, &e->listed_at) &&
		    !nswap_addr_equal(&e->listed_at, &node->addr))
			to[nr++] = e->listed_at;
		*ask = !nswap_ipt_fresh(e, now, lately);
	}
	spin_unlock_irqrestore(&node->ipt_lock, flags);
	return nr;
}

/**
 * nswap_announce_believed() - is an announcement new, and of a neighbour or a listed peer?
 * @node: node
 * @heard: announcement; its address gets the scope it came from
 * @from: where it came from; gets its port
 * @iface: index of the interface on which it came in
 *
 * Context: process; what is refused is counted, but for the node's own.
 * Return: true if it is to be taken in.
 */
bool nswap_announce_believed(struct nswap_node *node, struct nswap_announcement *heard,
			     struct nswap_addr *from, int iface)
{
	if (heard->id == node->id || nswap_announce_again(node, heard))
		return false;
	if (nswap_addr_link_local(&heard->addr))
		heard->addr.scope = from->scope;
	from->port = heard->addr.port;
	if (nswap_addr_equal(from, &heard->addr) && nswap_subnet_accepts(node, from, iface))
		return true;
	nswap_stat_inc(node, announce_rejected);
	return false;
}
