// SPDX-License-Identifier: GPL-2.0
/*
 * Exchange of keys: both sides end with the same keys, or none do.
 */
#include <kunit/test.h>

#include "../../nswap/keys/exchange.c"

/**
 * struct talk - one exchange
 * @client: keys of the side that connects
 * @server: keys of the other
 * @c: its exchange
 * @s: likewise
 * @greet: what is said
 * @hello: likewise
 * @hdr: likewise
 * @welcome: likewise
 */
struct talk {
	struct nswap_identity *client;
	struct nswap_identity *server;
	struct nswap_exchange c;
	struct nswap_exchange s;
	struct nswap_wire_greet greet;
	struct nswap_wire_hello hello;
	struct nswap_wire_hdr hdr;
	struct nswap_wire_welcome welcome;
};

static int make_talk(struct kunit *test)
{
	struct nswap_identity_config cfg = {
		.cluster = { 1, 2, 3 }, .has_secret = true,
	};
	struct talk *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	get_random_bytes(cfg.secret, sizeof(cfg.secret));
	t->client = nswap_identity_make(&cfg, 1);
	get_random_bytes(cfg.secret, sizeof(cfg.secret));
	t->server = nswap_identity_make(&cfg, 2);
	if (IS_ERR(t->client) || IS_ERR(t->server))
		return -ENOMEM;
	t->greet.ticket = cpu_to_le64(1);
	t->greet.id = cpu_to_le64(nswap_identity_name(t->server->public));
	t->hello.id = cpu_to_le64(nswap_identity_name(t->client->public));
	test->priv = t;
	return 0;
}

static void end_talk(struct kunit *test)
{
	struct talk *t = test->priv;

	if (!t)
		return;
	nswap_identity_free(t->client);
	nswap_identity_free(t->server);
}

static int talk_hello(struct talk *t)
{
	memset(&t->hello.keys, 0, sizeof(t->hello.keys));
	return nswap_exchange_greet(&t->s, t->server, &t->greet) ?:
	       nswap_exchange_hello(&t->c, t->client, &t->greet, &t->hello);
}

static void agreed(struct kunit *test)
{
	struct nswap_tags client, server;
	struct talk *t = test->priv;

	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	KUNIT_ASSERT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), 0);
	nswap_wire_init(&t->hdr, NSWAP_HELLO_ACK, 0, sizeof(t->welcome));
	nswap_exchange_welcome(&t->s, &t->hdr, &t->welcome);
	KUNIT_EXPECT_EQ(test, nswap_exchange_welcomed(&t->c, &t->hdr, &t->welcome), 0);
	nswap_exchange_tags(&t->c, &client, false);
	nswap_exchange_tags(&t->s, &server, true);
	KUNIT_EXPECT_EQ(test, memcmp(&client.out, &server.in, sizeof(client.out)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&client.in, &server.out, sizeof(client.in)), 0);
	KUNIT_EXPECT_NE(test, memcmp(&client.in, &client.out, sizeof(client.in)), 0);
	nswap_exchange_end(&t->c);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&t->c, 0, sizeof(t->c)));
}

/* each byte of HELLO counts, and each of HELLO_ACK */
static void changed(struct kunit *test)
{
	struct nswap_wire_hello hello;
	struct nswap_wire_welcome w;
	struct talk *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	for (i = 0; i < sizeof(hello); i++) {
		hello = t->hello;
		((u8 *)&hello)[i] ^= 0x10;
		KUNIT_EXPECT_NE(test, nswap_exchange_heard(&t->s, t->server, &hello), 0);
	}
	KUNIT_ASSERT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), 0);
	nswap_wire_init(&t->hdr, NSWAP_HELLO_ACK, 0, sizeof(t->welcome));
	nswap_exchange_welcome(&t->s, &t->hdr, &t->welcome);
	for (i = 0; i < sizeof(w); i++) {
		w = t->welcome;
		((u8 *)&w)[i] ^= 0x10;
		KUNIT_EXPECT_EQ(test, nswap_exchange_welcomed(&t->c, &t->hdr, &w),
				-EBADMSG);
	}
	w = t->welcome;
	t->hdr.grants = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, nswap_exchange_welcomed(&t->c, &t->hdr, &w), -EBADMSG);
}

/* GREET is part of it: another ticket or epoch is another exchange */
static void other_greet(struct kunit *test)
{
	struct talk *t = test->priv;

	KUNIT_ASSERT_EQ(test, nswap_exchange_greet(&t->s, t->server, &t->greet), 0);
	t->greet.epoch = cpu_to_le64(7);
	KUNIT_ASSERT_EQ(test, nswap_exchange_hello(&t->c, t->client, &t->greet, &t->hello),
			0);
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), -EBADMSG);
}

static void other_cluster(struct kunit *test)
{
	struct talk *t = test->priv;

	t->client->cluster[0] ^= 1;
	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), -EBADMSG);
}

static void other_key(struct kunit *test)
{
	struct talk *t = test->priv;

	/* it says the client's public key, and has another secret */
	t->client->secret[5] ^= 1;
	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), -EBADMSG);
}

static void no_member(struct kunit *test)
{
	struct talk *t = test->priv;
	u8 only[1][NSWAP_KEY_BYTES];

	memcpy(only[0], t->server->public, NSWAP_KEY_BYTES);
	KUNIT_ASSERT_EQ(test, nswap_identity_trust(t->server, only[0], 1), 0);
	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello),
			-EKEYREJECTED);
}

/* a point of small order makes a product that everybody knows */
static void weak_points(struct kunit *test)
{
	struct talk *t = test->priv;
	u8 mac[NSWAP_KEY_BYTES];

	KUNIT_ASSERT_EQ(test, talk_hello(t), 0);
	memset(t->hello.keys.once, 0, sizeof(t->hello.keys.once));
	memset(t->hello.keys.tag, 0, sizeof(t->hello.keys.tag));
	memset(t->hello.keys.mac, 0, sizeof(t->hello.keys.mac));
	hello_mac(&t->s, t->server, &t->hello, mac);
	memcpy(t->hello.keys.mac, mac, sizeof(t->hello.keys.mac));
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello),
			-EKEYREJECTED);
	memset(t->greet.keys.once, 0, sizeof(t->greet.keys.once));
	t->greet.keys.once[0] = 1;
	memset(&t->hello.keys, 0, sizeof(t->hello.keys));
	KUNIT_EXPECT_EQ(test, nswap_exchange_hello(&t->c, t->client, &t->greet, &t->hello),
			-EKEYREJECTED);
}

static void without(struct kunit *test)
{
	struct talk *t = test->priv;

	KUNIT_EXPECT_EQ(test, nswap_exchange_hello(&t->c, t->client, &t->greet, &t->hello),
			-ENOKEY);
	KUNIT_ASSERT_EQ(test, nswap_exchange_greet(&t->s, t->server, &t->greet), 0);
	KUNIT_EXPECT_EQ(test, nswap_exchange_heard(&t->s, t->server, &t->hello), -ENOKEY);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(agreed),
	KUNIT_CASE(changed),
	KUNIT_CASE(other_greet),
	KUNIT_CASE(other_cluster),
	KUNIT_CASE(other_key),
	KUNIT_CASE(no_member),
	KUNIT_CASE(weak_points),
	KUNIT_CASE(without),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_exchange",
	.init = make_talk,
	.exit = end_talk,
	.test_cases = cases,
};

kunit_test_suite(suite);
