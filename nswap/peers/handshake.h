/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake, the side that connects: connections of a session and links of a
 * mover open the same way.
 */
#ifndef NSWAP_HANDSHAKE_H
#define NSWAP_HANDSHAKE_H

#include "keys/exchange.h"
#include "transport/transport.h"
#include "pure/wire.h"

/**
 * struct nswap_handshake - one attempt to open a link to another node
 * @node: the node that connects
 * @t: transport
 * @addr: address to connect to
 * @class: enum nswap_conn_class
 * @session: number of the session, 0 for a link outside of one
 * @id: of the node that answered, from GREET
 * @epoch: its epoch, from GREET
 * @greet: GREET; its ticket is echoed in HELLO
 * @tags: of the messages that follow, from HELLO_ACK like the rest
 * @features: what both sides have
 * @grants: first grants
 * @free: pages it lends that are free
 * @held: pages it holds for @node
 */
struct nswap_handshake {
	struct nswap_node *node;
	const struct nswap_transport_ops *t;
	const struct nswap_addr *addr;
	u8 class;
	u64 session;
	u64 id;
	u64 epoch;
	struct nswap_wire_greet greet;
	struct nswap_tags tags;
	u64 features;
	u32 grants;
	u64 free;
	u64 held;
};

struct nswap_link *nswap_handshake_connect(struct nswap_handshake *hs);
int nswap_handshake_greet(struct nswap_handshake *hs, struct nswap_link *l);
int nswap_handshake_hello(struct nswap_handshake *hs, struct nswap_link *l);

#endif
