// SPDX-License-Identifier: GPL-2.0
/*
 * Tags of messages: SipHash-2-4 of the header with its number, and of what comes with
 * it but for pages.
 *
 *   auth:  8 bytes of tag, 8 bytes of digest of the payload without pages
 *
 * Invariants:
 *  - Both directions have keys of their own, so nothing can be sent back. The number is
 *    not sent: whatever is left out, repeated or out of order has a wrong tag.
 *  - The first wrong tag ends the connection: a forger has one attempt in 2^64 for each.
 *    That is why SipHash, which has a key and is ten times cheaper here than BLAKE2s,
 *    is enough: nothing is learned from a tag, and none has to last longer than its
 *    connection.
 *  - A tag is checked before anything is done with a header; the digest, which the tag
 *    covers, before anything is done with a payload. Pages have neither: what protects
 *    them is sealing.
 *
 * Nothing here sleeps, locks or allocates.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "tags.h"

/* of the payload of the message with that number, but for its pages */
static __le64 digest_of(const siphash_key_t *key, const void *plain, size_t bytes,
			u64 number)
{
	return cpu_to_le64(siphash_2u64(siphash(plain, bytes, key), number, key));
}

/* of a header whose first eight bytes of auth are its number */
static __le64 tag_of(const siphash_key_t *key, const struct nswap_wire_hdr *h)
{
	return cpu_to_le64(siphash(h, sizeof(*h), key));
}

static void put_auth(struct nswap_wire_hdr *h, __le64 first, __le64 second)
{
	memcpy(h->auth, &first, sizeof(first));
	memcpy(h->auth + sizeof(first), &second, sizeof(second));
}

/**
 * nswap_tags_put() - put the tag of the next message into its header
 * @t: the connection's
 * @h: complete but for @auth
 * @plain: its payload but for pages, nswap_wire_plain() bytes
 *
 * If the message is not sent after all, the next one gets its number.
 *
 * Context: any, one sender at a time.
 */
void nswap_tags_put(const struct nswap_tags *t, struct nswap_wire_hdr *h,
		    const void *plain)
{
	size_t bytes = nswap_wire_plain(h);
	__le64 digest = 0;

	if (!t->on)
		return;
	if (bytes)
		digest = digest_of(&t->out.plain, plain, bytes, t->sent);
	put_auth(h, cpu_to_le64(t->sent), digest);
	put_auth(h, tag_of(&t->out.head, h), digest);
}

/**
 * nswap_tags_take() - check the tag of a header
 * @t: the connection's
 * @h: as received; afterwards without its tag
 *
 * Context: any, one receiver at a time.
 * Return: 0, or -EBADMSG: the connection must end.
 */
int nswap_tags_take(struct nswap_tags *t, struct nswap_wire_hdr *h)
{
	__le64 tag;

	if (!t->on)
		return 0;
	memcpy(&tag, h->auth, sizeof(tag));
	memcpy(&t->digest, h->auth + sizeof(tag), sizeof(t->digest));
	put_auth(h, cpu_to_le64(t->received), t->digest);
	tag ^= tag_of(&t->in.head, h);
	memset(h->auth, 0, sizeof(h->auth));
	t->received++;
	return tag ? -EBADMSG : 0;
}

/* check all of the payload but pages. Returns 0, or -EBADMSG: the connection must end. */
int nswap_tags_plain(const struct nswap_tags *t, const void *plain, size_t bytes)
{
	if (!t->on || !bytes)
		return 0;
	return digest_of(&t->in.plain, plain, bytes, t->received - 1) == t->digest ?
		0 : -EBADMSG;
}
