// SPDX-License-Identifier: GPL-2.0
/*
 * A node follows its interface to another address. It keeps its name, id and epoch,
 * and so its pages at others and those of others here:
 *
 *   address gone, the interface has another -> listen there -> open the sessions
 *   again from there -> the caller announces it
 *
 * A node looks, it is not told: a notifier would run under the lock that every change
 * of an interface takes, and the announcer wakes up every second anyway.
 *
 * Invariant: the announcer's thread is the only one that changes the address.
 */
#include "base/log.h"
#include "core/node.h"
#include "core/subnet.h"
#include "peers/peer_table.h"
#include "readdress.h"
#include "server/server.h"
#include "transport/sockaddr.h"

/**
 * nswap_readdress() - follow the interface, if it has another address now
 * @node: node that is up
 *
 * Context: process, the announcer's thread; sleeps, not for the network.
 * Return: true if the address has changed: it has to be announced.
 */
bool nswap_readdress(struct nswap_node *node)
{
	struct sockaddr_storage from, to;
	struct nswap_addr now;

	if (!nswap_subnet_moved(node, &now))
		return false;
	nswap_to_sockaddr(&node->addr, &from);
	nswap_to_sockaddr(&now, &to);
	write_seqlock_bh(&node->addr_seq);
	node->addr = now;
	write_sequnlock_bh(&node->addr_seq);
	nswap_info(node, "%s has another address: %pISpc was %pISpc, pages stay where they are",
		   node->iface, &to, &from);
	nswap_server_rebind(node);
	nswap_peers_rebind(node);
	return true;
}
