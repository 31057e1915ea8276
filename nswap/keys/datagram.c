// SPDX-License-Identifier: GPL-2.0
/*
 * Tags of announcements, by a key that all members have: they prove that a member sent
 * it, not which one. That an announcement is new its counter says, in @id of its header;
 * what would cost pages only a connection proves (nswap_peer_doubt()).
 */
#include <crypto/algapi.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "datagram.h"

static void datagram_tag(const struct nswap_identity *id, const void *at, size_t bytes,
			 u8 tag[NSWAP_KEY_BYTES])
{
	const struct nswap_text text = { at, bytes };

	nswap_derive(tag, id->announce, "nswap datagram", &text, 1);
}

/* The tag into a datagram of so many bytes that begins with @h; any context. */
void nswap_datagram_put(const struct nswap_identity *id, struct nswap_wire_hdr *h,
			size_t bytes)
{
	u8 tag[NSWAP_KEY_BYTES];

	datagram_tag(id, h, bytes, tag);
	memcpy(h->auth, tag, sizeof(h->auth));
}

/*
 * Has a member sent it? @bytes: sizeof(*h) at least; @h: afterwards without its tag. Any
 * context. Returns 0, or -EBADMSG.
 */
int nswap_datagram_take(const struct nswap_identity *id, struct nswap_wire_hdr *h,
			size_t bytes)
{
	u8 tag[NSWAP_KEY_BYTES], said[sizeof(h->auth)];

	memcpy(said, h->auth, sizeof(said));
	memset(h->auth, 0, sizeof(h->auth));
	datagram_tag(id, h, bytes, tag);
	return crypto_memneq(said, tag, sizeof(said)) ? -EBADMSG : 0;
}
