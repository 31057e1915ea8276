/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exchange of keys: GREET, HELLO and HELLO_ACK prove who is at the other end of a
 * connection, and leave both sides with keys for its messages.
 */
#ifndef NSWAP_EXCHANGE_H
#define NSWAP_EXCHANGE_H

#include "identity.h"
#include "tags.h"

/**
 * struct nswap_exchange - one exchange; wipe it with nswap_exchange_end()
 * @once: secret half of this side's key for it
 * @greeted: hash of GREET
 * @key: what both sides know at the end, and no other
 */
struct nswap_exchange {
	u8 once[NSWAP_KEY_BYTES];
	u8 greeted[NSWAP_KEY_BYTES];
	u8 key[NSWAP_KEY_BYTES];
};

int nswap_exchange_greet(struct nswap_exchange *x, struct nswap_identity *me,
			 struct nswap_wire_greet *greet);
int nswap_exchange_hello(struct nswap_exchange *x, const struct nswap_identity *me,
			 const struct nswap_wire_greet *greet,
			 struct nswap_wire_hello *hello);
int nswap_exchange_heard(struct nswap_exchange *x, const struct nswap_identity *me,
			 struct nswap_wire_hello *hello);
void nswap_exchange_welcome(const struct nswap_exchange *x,
			    const struct nswap_wire_hdr *hdr,
			    struct nswap_wire_welcome *welcome);
int nswap_exchange_welcomed(const struct nswap_exchange *x,
			    const struct nswap_wire_hdr *hdr,
			    struct nswap_wire_welcome *welcome);
void nswap_exchange_tags(const struct nswap_exchange *x, struct nswap_tags *t,
			 bool server);
void nswap_exchange_end(struct nswap_exchange *x);

#endif
