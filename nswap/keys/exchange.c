// SPDX-License-Identifier: GPL-2.0
/*
 * Exchange of keys, both sides.
 *
 *   server -> client  GREET      S: its key, s: its half for this while
 *   client -> server  HELLO      C: its key, c: its half for this exchange, mac, tag
 *   server -> client  HELLO_ACK  tag
 *
 *   secret = H(cluster; c s, C s, c S, GREET, HELLO), a product being what Curve25519
 *   makes of one secret and one public half
 *
 * As in Noise's XX, without hiding who is there: c s is new each time, C s needs the
 * client's key, c S the server's, and both need the cluster's. The tag of HELLO proves
 * the client, that of HELLO_ACK the server; all that was said before is in both.
 *
 * Invariants:
 *  - Nothing is multiplied for a key that is no member's or an id that is not its, and by
 *    a server for a host that does not know the cluster's secret. A client that is made to
 *    connect to a stranger multiplies four times an attempt.
 *  - A server does nothing for a client before nswap_exchange_heard(), a client believes
 *    nothing of a server before nswap_exchange_welcomed().
 *  - No memory is allocated and no program is asked: a node short of memory comes back
 *    to its pages.
 */
#include <crypto/algapi.h>
#include <crypto/curve25519.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "exchange.h"

static const u8 no_key[NSWAP_KEY_BYTES];

static void hash_greet(struct nswap_exchange *x, const struct nswap_wire_greet *greet)
{
	const struct nswap_text text = { greet, sizeof(*greet) };

	nswap_derive(x->greeted, no_key, "nswap greet", &text, 1);
}

/* the three products and all that was said; @hello without its tag */
static void exchange_key(struct nswap_exchange *x, const struct nswap_identity *me,
			 u8 product[3][NSWAP_KEY_BYTES],
			 const struct nswap_wire_hello *hello)
{
	const struct nswap_text text[] = {
		{ product, 3 * NSWAP_KEY_BYTES },
		{ x->greeted, sizeof(x->greeted) },
		{ hello, sizeof(*hello) },
	};

	nswap_derive(x->key, me->cluster, "nswap exchange", text, ARRAY_SIZE(text));
	memzero_explicit(product, 3 * NSWAP_KEY_BYTES);
}

/* that it is of this cluster, cheap to check; @hello: without tag and mac */
static void hello_mac(const struct nswap_exchange *x, const struct nswap_identity *me,
		      const struct nswap_wire_hello *hello, u8 mac[NSWAP_KEY_BYTES])
{
	const struct nswap_text text[] = {
		{ x->greeted, sizeof(x->greeted) },
		{ hello, sizeof(*hello) },
	};

	nswap_derive(mac, me->cluster, "nswap mac", text, ARRAY_SIZE(text));
}

static void hello_tag(const struct nswap_exchange *x, u8 tag[NSWAP_KEY_BYTES])
{
	nswap_derive(tag, x->key, "nswap hello", NULL, 0);
}

static void welcome_tag(const struct nswap_exchange *x, const struct nswap_wire_hdr *hdr,
			const struct nswap_wire_welcome *welcome,
			u8 tag[NSWAP_KEY_BYTES])
{
	const struct nswap_text text[] = {
		{ hdr, sizeof(*hdr) },
		{ welcome, sizeof(*welcome) },
	};

	nswap_derive(tag, x->key, "nswap welcome", text, ARRAY_SIZE(text));
}

/*
 * Server: its keys into GREET, which is complete otherwise. Process. Returns 0, or
 * -EAGAIN.
 */
int nswap_exchange_greet(struct nswap_exchange *x, struct nswap_identity *me,
			 struct nswap_wire_greet *greet)
{
	int ret = nswap_identity_half(me, x->once, greet->keys.once);

	if (ret)
		return ret;
	memcpy(greet->keys.own, me->public, sizeof(greet->keys.own));
	hash_greet(x, greet);
	return 0;
}

/* is it a member's key, and the id made from it? */
static int exchange_believe(const struct nswap_identity *me,
			    const struct nswap_wire_keys *keys, __le64 id)
{
	if (!memchr_inv(keys->own, 0, sizeof(keys->own)))
		return -ENOKEY;
	if (nswap_identity_name(keys->own) != le64_to_cpu(id) ||
	    !nswap_identity_believes(me, keys->own))
		return -EKEYREJECTED;
	return 0;
}

/**
 * nswap_exchange_hello() - client: its keys and tag into HELLO
 * @x: result
 * @me: the node's keys
 * @greet: GREET as received
 * @hello: complete but for keys
 *
 * Context: process; does not sleep; four multiplications.
 * Return: 0; -ENOKEY: the server has no keys; -EKEYREJECTED: it is no member.
 */
int nswap_exchange_hello(struct nswap_exchange *x, const struct nswap_identity *me,
			 const struct nswap_wire_greet *greet,
			 struct nswap_wire_hello *hello)
{
	u8 product[3][NSWAP_KEY_BYTES] = {}, tag[NSWAP_KEY_BYTES];
	int ret = exchange_believe(me, &greet->keys, greet->id);

	if (ret)
		return ret;
	ret = nswap_identity_once(x->once, hello->keys.once);
	if (ret)
		return ret;
	hash_greet(x, greet);
	memcpy(hello->keys.own, me->public, sizeof(hello->keys.own));
	hello_mac(x, me, hello, tag);
	memcpy(hello->keys.mac, tag, sizeof(hello->keys.mac));
	if (!curve25519(product[0], x->once, greet->keys.once) ||
	    !curve25519(product[1], me->secret, greet->keys.once) ||
	    !curve25519(product[2], x->once, greet->keys.own))
		ret = -EKEYREJECTED;
	exchange_key(x, me, product, hello);
	if (ret)
		return ret;
	hello_tag(x, tag);
	memcpy(hello->keys.tag, tag, sizeof(hello->keys.tag));
	return 0;
}

/**
 * nswap_exchange_heard() - server: is this HELLO a member's, and an answer to our GREET?
 * @x: of nswap_exchange_greet()
 * @me: the node's keys
 * @hello: as received; afterwards without its tag
 *
 * Context: process; does not sleep; three multiplications for a member's key.
 * Return: 0; -ENOKEY: the client has no keys; -EKEYREJECTED: it is no member, or has not
 * the key that it names, or not the cluster's; -EBADMSG: tag of another exchange.
 */
int nswap_exchange_heard(struct nswap_exchange *x, const struct nswap_identity *me,
			 struct nswap_wire_hello *hello)
{
	u8 product[3][NSWAP_KEY_BYTES] = {}, tag[NSWAP_KEY_BYTES];
	struct nswap_wire_keys said = hello->keys;
	int ret = exchange_believe(me, &hello->keys, hello->id);

	if (ret)
		return ret;
	memset(hello->keys.tag, 0, sizeof(hello->keys.tag));
	memset(hello->keys.mac, 0, sizeof(hello->keys.mac));
	hello_mac(x, me, hello, tag);
	if (crypto_memneq(said.mac, tag, sizeof(said.mac)))
		return -EBADMSG;
	memcpy(hello->keys.mac, said.mac, sizeof(said.mac));
	if (!curve25519(product[0], x->once, hello->keys.once) ||
	    !curve25519(product[1], x->once, hello->keys.own) ||
	    !curve25519(product[2], me->secret, hello->keys.once))
		ret = -EKEYREJECTED;
	exchange_key(x, me, product, hello);
	if (ret)
		return ret;
	hello_tag(x, tag);
	return crypto_memneq(said.tag, tag, sizeof(said.tag)) ? -EBADMSG : 0;
}

/* Server: the tag into HELLO_ACK, complete otherwise. */
void nswap_exchange_welcome(const struct nswap_exchange *x,
			    const struct nswap_wire_hdr *hdr,
			    struct nswap_wire_welcome *welcome)
{
	u8 tag[NSWAP_KEY_BYTES];

	welcome_tag(x, hdr, welcome, tag);
	memcpy(welcome->keys.tag, tag, sizeof(welcome->keys.tag));
}

/*
 * Client: is HELLO_ACK the server's? @welcome: afterwards without its tag. Returns 0,
 * -ENOKEY or -EBADMSG.
 */
int nswap_exchange_welcomed(const struct nswap_exchange *x,
			    const struct nswap_wire_hdr *hdr,
			    struct nswap_wire_welcome *welcome)
{
	u8 tag[NSWAP_KEY_BYTES], said[sizeof(welcome->keys.tag)];

	memcpy(said, welcome->keys.tag, sizeof(said));
	memset(welcome->keys.tag, 0, sizeof(welcome->keys.tag));
	welcome_tag(x, hdr, welcome, tag);
	return crypto_memneq(said, tag, sizeof(said)) ? -EBADMSG : 0;
}

static void exchange_direction(const struct nswap_exchange *x, const char *label,
			       struct nswap_tag_keys *keys)
{
	u8 out[NSWAP_KEY_BYTES];
	unsigned int i;

	nswap_derive(out, x->key, label, NULL, 0);
	for (i = 0; i < 2; i++) {
		keys->head.key[i] = get_unaligned_le64(out + 8 * i);
		keys->plain.key[i] = get_unaligned_le64(out + 16 + 8 * i);
	}
	memzero_explicit(out, sizeof(out));
}

/* The keys for the messages that follow; @server: this side is the server. */
void nswap_exchange_tags(const struct nswap_exchange *x, struct nswap_tags *t,
			 bool server)
{
	*t = (struct nswap_tags){ .on = true };
	exchange_direction(x, "nswap to server", server ? &t->in : &t->out);
	exchange_direction(x, "nswap to client", server ? &t->out : &t->in);
}

/* forget what was secret */
void nswap_exchange_end(struct nswap_exchange *x)
{
	memzero_explicit(x, sizeof(*x));
}
