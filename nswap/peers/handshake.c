// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake, the side that connects.
 *
 *   connect -> GREET (who are you?) -> caller: the right one? -> HELLO -> HELLO_ACK
 *
 * Invariants:
 *  - The caller owns the link from nswap_handshake_connect() on, and closes it,
 *    whatever happens here.
 *  - HELLO is sent only after GREET, with the ticket of GREET: the caller has
 *    seen id and epoch before the other side acts on anything.
 *  - Every step has a timeout. A session must lift that of receiving afterwards.
 *  - A node with keys believes nothing of GREET before HELLO_ACK proves it (exchange.c); a
 *    node without refuses one that has keys, and the other way round.
 *  - Another version of the protocol ends the handshake, and is recorded for users.
 *
 * Context: threads of sessions and movers. They restore page-outs after a cut:
 * nothing is allocated here except by the transport, as documented there.
 */
#include <linux/string.h>

#include "core/node.h"
#include "handshake.h"
#include "version.h"

#define CONNECT_MS	1000
#define GREET_MS	2000

static int handshake_receive(struct nswap_handshake *hs, struct nswap_link *l,
			     u8 type, struct nswap_wire_hdr *hdr,
			     void *payload, size_t bytes)
{
	int ret = nswap_recv_buf(hs->t, l, hdr, sizeof(*hdr));

	if (!ret)
		ret = nswap_wire_check(hdr);
	if (!ret && hdr->type != type)
		ret = -EPROTO;
	if (!ret && bytes)
		ret = nswap_recv_buf(hs->t, l, payload, bytes);
	return ret;
}

static int handshake_send_hello(struct nswap_handshake *hs,
				struct nswap_link *l, struct nswap_exchange *x)
{
	struct nswap_identity *me = hs->node->identity;
	struct {
		struct nswap_wire_hdr hdr;
		struct nswap_wire_hello hello;
	} __packed m = {};
	int ret;

	nswap_wire_init(&m.hdr, NSWAP_HELLO, 0, sizeof(m.hello));
	m.hello.id = cpu_to_le64(hs->node->id);
	m.hello.epoch = cpu_to_le64(hs->node->epoch);
	m.hello.session = cpu_to_le64(hs->session);
	m.hello.ticket = hs->greet.ticket;
	m.hello.features = cpu_to_le64(NSWAP_HAS_ALL);
	m.hello.class = hs->class;
	ret = me ? nswap_exchange_hello(x, me, &hs->greet, &m.hello) : 0;
	if (ret)
		return ret;
	return nswap_send_buf(hs->t, l, &m, sizeof(m));
}

/* process, a kernel thread; sleeps for at most CONNECT_MS */
struct nswap_link *nswap_handshake_connect(struct nswap_handshake *hs)
{
	struct nswap_addr own = nswap_node_addr(hs->node);

	return hs->t->connect(hs->node->net, &own, hs->addr, CONNECT_MS);
}

/**
 * nswap_handshake_greet() - receive the server's GREET
 * @hs: the attempt; its @id, @epoch and @greet are set, and not proved yet
 * @l: its link
 *
 * Context: process, a kernel thread; sleeps for at most GREET_MS.
 * Return: 0; -EPROTONOSUPPORT if the server speaks another version of the
 * protocol; -ENOKEY if it has keys and this node has not; -EPROTO; the transport's
 * error.
 */
int nswap_handshake_greet(struct nswap_handshake *hs, struct nswap_link *l)
{
	struct nswap_wire_greet *greet = &hs->greet;
	struct nswap_wire_hdr hdr;
	int ret;

	hs->t->recv_timeout(l, GREET_MS);
	ret = handshake_receive(hs, l, NSWAP_GREET, &hdr, greet, sizeof(*greet));
	if (ret == -EPROTONOSUPPORT && !hs->node->identity)
		nswap_version_met(hs->node, hs->addr, hdr.version);
	if (!ret && !hs->node->identity &&
	    memchr_inv(&greet->keys, 0, sizeof(greet->keys)))
		ret = -ENOKEY;
	if (ret)
		return ret;
	hs->id = le64_to_cpu(greet->id);
	hs->epoch = le64_to_cpu(greet->epoch);
	return 0;
}

/* HELLO, and HELLO_ACK if it is from the node of GREET */
static int handshake_prove(struct nswap_handshake *hs, struct nswap_link *l,
			   struct nswap_exchange *x)
{
	struct nswap_wire_welcome welcome;
	struct nswap_wire_hdr hdr;
	int ret;

	ret = handshake_send_hello(hs, l, x);
	if (!ret)
		ret = handshake_receive(hs, l, NSWAP_HELLO_ACK, &hdr, &welcome,
					sizeof(welcome));
	/* it has greeted in this version: not another version, but malformed */
	if (ret == -EPROTONOSUPPORT)
		ret = -EPROTO;
	/* a node that does not believe another one closes without a word */
	if (hs->node->identity && (ret == -ECONNRESET || ret == -EPIPE))
		ret = -EACCES;
	if (!ret && hs->node->identity)
		ret = nswap_exchange_welcomed(x, &hdr, &welcome);
	if (!ret && memchr_inv(&welcome.keys, 0, sizeof(welcome.keys)))
		ret = -EPROTO;
	if (ret)
		return ret;
	if (le16_to_cpu(hdr.status) != NSWAP_ST_OK)
		return -EACCES;
	hs->features = le64_to_cpu(welcome.features) & NSWAP_HAS_ALL;
	hs->grants = le32_to_cpu(hdr.grants);
	hs->free = le64_to_cpu(hdr.free);
	hs->held = le64_to_cpu(hdr.slot);
	return 0;
}

/**
 * nswap_handshake_hello() - send HELLO and receive HELLO_ACK
 * @hs: the attempt, after nswap_handshake_greet(); the rest of it is set
 * @l: its link
 *
 * Context: process, a kernel thread; sleeps for at most GREET_MS after sending.
 * Return: 0; -EACCES if the other side refuses; -EKEYREJECTED if it is no member, or
 * -ENOKEY if it has no keys; -EBADMSG if it is not who it says; -EPROTO; the transport's
 * error.
 */
int nswap_handshake_hello(struct nswap_handshake *hs, struct nswap_link *l)
{
	struct nswap_exchange x = {};
	int ret = handshake_prove(hs, l, &x);

	if (!ret && hs->node->identity)
		nswap_exchange_tags(&x, &hs->tags, false);
	nswap_exchange_end(&x);
	return ret;
}
