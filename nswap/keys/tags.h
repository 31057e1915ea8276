/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags of messages: each is what its sender sent, in this direction, in this order.
 */
#ifndef NSWAP_TAGS_H
#define NSWAP_TAGS_H

#include <linux/siphash.h>

#include "pure/wire.h"

/**
 * struct nswap_tag_keys - keys of one direction
 * @head: for headers
 * @plain: for payload that is not pages
 */
struct nswap_tag_keys {
	siphash_key_t head;
	siphash_key_t plain;
};

/**
 * struct nswap_tags - the tags of a connection
 * @on: there are tags; else all functions do nothing
 * @out: keys for what this side sends
 * @in: keys for what it receives
 * @sent: messages sent so far; the sender's
 * @received: messages received so far; the receiver's
 * @digest: of the payload that is to come; the receiver's
 */
struct nswap_tags {
	bool on;
	struct nswap_tag_keys out;
	struct nswap_tag_keys in;
	u64 sent;
	u64 received;
	__le64 digest;
};

void nswap_tags_put(const struct nswap_tags *t, struct nswap_wire_hdr *h,
		    const void *plain);
int nswap_tags_take(struct nswap_tags *t, struct nswap_wire_hdr *h);
int nswap_tags_plain(const struct nswap_tags *t, const void *plain, size_t bytes);

/* the message whose tag was put last is on its way */
static inline void nswap_tags_sent(struct nswap_tags *t)
{
	t->sent++;
}

/* it is not, after all: the next message gets its number */
static inline void nswap_tags_unsent(struct nswap_tags *t)
{
	t->sent--;
}

#endif
