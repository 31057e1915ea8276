// SPDX-License-Identifier: GPL-2.0
/*
 * Identities: keys that users give, and who is a member.
 */
#include <kunit/test.h>

#include "../../nswap/keys/identity.c"

#define MEMBERS	100

static u8 keys[MEMBERS][NSWAP_KEY_BYTES];

static struct nswap_identity_config a_config(void)
{
	struct nswap_identity_config cfg = {};

	get_random_bytes(cfg.cluster, sizeof(cfg.cluster));
	return cfg;
}

/* the same cluster and address make the same node, another one of either another */
static void made(struct kunit *test)
{
	struct nswap_identity_config cfg = a_config(), other = a_config();
	struct nswap_identity *a = nswap_identity_make(&cfg, 1);
	struct nswap_identity *b = nswap_identity_make(&cfg, 1);
	struct nswap_identity *c = nswap_identity_make(&cfg, 2);
	struct nswap_identity *d = nswap_identity_make(&other, 1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(a) || IS_ERR(b) || IS_ERR(c) || IS_ERR(d));
	KUNIT_EXPECT_EQ(test, memcmp(a->public, b->public, NSWAP_KEY_BYTES), 0);
	KUNIT_EXPECT_NE(test, memcmp(a->public, c->public, NSWAP_KEY_BYTES), 0);
	KUNIT_EXPECT_NE(test, memcmp(a->public, d->public, NSWAP_KEY_BYTES), 0);
	KUNIT_EXPECT_NE(test, nswap_identity_name(a->public),
			nswap_identity_name(c->public));
	KUNIT_EXPECT_TRUE(test, nswap_identity_believes(a, d->public));
	KUNIT_EXPECT_EQ(test, nswap_identity_members(a), 0u);
	nswap_identity_free(a);
	nswap_identity_free(b);
	nswap_identity_free(c);
	nswap_identity_free(d);
}

static void members(struct kunit *test)
{
	struct nswap_identity_config cfg = a_config();
	struct nswap_identity *id = nswap_identity_make(&cfg, 1);
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	/* all that know the cluster's key can make this one: a list says nothing */
	KUNIT_EXPECT_EQ(test, nswap_identity_trust(id, keys[0], MEMBERS), -EINVAL);
	nswap_identity_free(id);
	cfg.has_secret = true;
	get_random_bytes(cfg.secret, sizeof(cfg.secret));
	id = nswap_identity_make(&cfg, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	get_random_bytes(keys, sizeof(keys));
	KUNIT_EXPECT_EQ(test, nswap_identity_trust(id, keys[0], MEMBERS), -EKEYREJECTED);
	KUNIT_EXPECT_EQ(test, nswap_identity_members(id), 0u);
	memcpy(keys[MEMBERS / 2], id->public, NSWAP_KEY_BYTES);
	KUNIT_EXPECT_EQ(test, nswap_identity_trust(id, keys[0], MEMBERS), 0);
	KUNIT_EXPECT_EQ(test, nswap_identity_members(id), MEMBERS);
	for (i = 0; i < MEMBERS; i++) {
		KUNIT_EXPECT_TRUE(test, nswap_identity_believes(id, keys[i]));
		KUNIT_EXPECT_TRUE(test, nswap_identity_knows(id,
							     nswap_identity_name(keys[i])));
	}
	for (i = 0; i < MEMBERS; i++) {
		keys[i][31] ^= 1;
		KUNIT_EXPECT_FALSE(test, nswap_identity_believes(id, keys[i]));
		KUNIT_EXPECT_FALSE(test, nswap_identity_knows(id,
							      nswap_identity_name(keys[i])));
	}
	nswap_identity_free(id);
}

static void unusable(struct kunit *test)
{
	struct nswap_identity_config none = {}, cfg = a_config();

	get_random_bytes(keys, sizeof(keys));
	KUNIT_EXPECT_EQ(test, PTR_ERR(nswap_identity_make(&none, 1)), -EINVAL);
	cfg.member = keys[0];
	cfg.nr = MEMBERS;
	KUNIT_EXPECT_EQ(test, PTR_ERR(nswap_identity_make(&cfg, 1)), -EINVAL);
	cfg.has_secret = true;
	KUNIT_EXPECT_EQ(test, PTR_ERR(nswap_identity_make(&cfg, 1)), -EKEYREJECTED);
}

/* the half for those that ask is the same for a while, and another one later */
static void half(struct kunit *test)
{
	u8 s[3][NSWAP_KEY_BYTES], p[3][NSWAP_KEY_BYTES];
	struct nswap_identity_config cfg = a_config();
	struct nswap_identity *id = nswap_identity_make(&cfg, 1);
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	for (i = 0; i < 3; i++) {
		if (i == 2)
			id->once_until = jiffies - 1;
		KUNIT_EXPECT_EQ(test, nswap_identity_half(id, s[i], p[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, memcmp(p[0], p[1], NSWAP_KEY_BYTES), 0);
	KUNIT_EXPECT_EQ(test, memcmp(s[0], s[1], NSWAP_KEY_BYTES), 0);
	KUNIT_EXPECT_NE(test, memcmp(p[0], p[2], NSWAP_KEY_BYTES), 0);
	nswap_identity_free(id);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(made),
	KUNIT_CASE(members),
	KUNIT_CASE(unusable),
	KUNIT_CASE(half),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_identity",
	.test_cases = cases,
};

kunit_test_suite(suite);
