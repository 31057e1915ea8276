// SPDX-License-Identifier: GPL-2.0
/*
 * Another version of the wire protocol.
 *
 * There are three ways to meet it: a datagram, a client that says hello, and a
 * server that greets. Each ends there: no datagram is answered, and a connection
 * is closed with nothing sent beyond the GREET that a server begins with, which
 * the other version refuses likewise. So of another version only the first five
 * bytes, magic and version, are ever interpreted.
 *
 * Invariants:
 *  - It is recorded in the IPTable for users, and logged once, until that
 *    changes. A node that speaks this version again is a peer again.
 *  - A datagram and a client prove nothing: what they say is not recorded for a
 *    peer that has a session, or has been heard of recently.
 */
#include "address.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/node.h"
#include "peer.h"
#include "transport/sockaddr.h"
#include "version.h"

static bool version_has_session(struct nswap_node *node,
				const struct nswap_addr *addr)
{
	struct nswap_peer *peer;
	bool found = false;
	unsigned int i;

	nswap_for_each_peer(node, i, peer) {
		found = found || (READ_ONCE(peer->state) == NSWAP_PEER_UP &&
				  nswap_address_is(peer, addr));
		nswap_peer_put(peer);
	}
	return found;
}

static void version_note(struct nswap_node *node, const struct nswap_addr *addr,
			 u8 version, u64 silent_ms)
{
	struct nswap_addr own = nswap_node_addr(node);
	struct sockaddr_storage ss;
	bool news;

	if (nswap_addr_equal(addr, &own) ||
	    (silent_ms && version_has_session(node, addr)))
		return;
	spin_lock_irq(&node->ipt_lock);
	news = nswap_ipt_speaks(&node->ipt, addr, version, nswap_now_ms(),
				silent_ms);
	spin_unlock_irq(&node->ipt_lock);
	if (news && nswap_to_sockaddr(addr, &ss) > 0)
		nswap_warn(node, "%pISpc is refused: it speaks version %u of the protocol, this node version %u; install the same version of nswap on both",
			   &ss, version, NSWAP_WIRE_VERSION);
}

/* a datagram of another version was received */
void nswap_version_heard(struct nswap_node *node, const struct nswap_addr *from,
			 u8 version)
{
	version_note(node, from, version, nswap_knob(node, silent_ms));
}

/* a client says hello in another version; process, does not sleep; a server's thread */
void nswap_version_client(struct nswap_node *node,
			  const struct nswap_addr *from, u8 version)
{
	struct nswap_addr at = *from;

	at.port = node->addr.port;
	version_note(node, &at, version, nswap_knob(node, silent_ms));
}

/* a server greets in another version; process, no sleep; session's leader or mover */
void nswap_version_met(struct nswap_node *node, const struct nswap_addr *at,
		       u8 version)
{
	version_note(node, at, version, 0);
}
