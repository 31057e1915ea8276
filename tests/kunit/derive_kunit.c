// SPDX-License-Identifier: GPL-2.0
/*
 * Keys from keys: no two purposes, and no two ways to cut a text, give the same.
 */
#include <kunit/test.h>

#include "../../nswap/keys/derive.c"

static const u8 zeros[NSWAP_KEY_BYTES];

static void known(struct kunit *test)
{
	/* hashlib.blake2s(le64(8) + b"nswap id", key=bytes(32)) */
	static const u8 want[] = {
		0xd0, 0xc7, 0x48, 0xb0, 0xc9, 0xa4, 0xef, 0x01,
		0x31, 0xda, 0xa4, 0x44, 0xd1, 0xa7, 0xff, 0x6a,
		0x09, 0xf5, 0x6e, 0x53, 0x68, 0xa8, 0x84, 0xab,
		0x04, 0xd6, 0x08, 0x2e, 0xd6, 0xf3, 0x0a, 0xcc,
	};
	u8 out[NSWAP_KEY_BYTES];

	nswap_derive(out, zeros, "nswap id", NULL, 0);
	KUNIT_EXPECT_EQ(test, memcmp(out, want, sizeof(want)), 0);
}

static void distinct(struct kunit *test)
{
	static const struct nswap_text one[] = { { "ab", 2 }, { "c", 1 } };
	static const struct nswap_text two[] = { { "a", 1 }, { "bc", 2 } };
	u8 x[NSWAP_KEY_BYTES], y[NSWAP_KEY_BYTES];

	nswap_derive(x, zeros, "label", one, 2);
	nswap_derive(y, zeros, "label", two, 2);
	KUNIT_EXPECT_NE(test, memcmp(x, y, sizeof(x)), 0);
	nswap_derive(y, zeros, "other", one, 2);
	KUNIT_EXPECT_NE(test, memcmp(x, y, sizeof(x)), 0);
	nswap_derive(y, x, "label", one, 2);
	KUNIT_EXPECT_NE(test, memcmp(x, y, sizeof(x)), 0);
	nswap_derive(y, zeros, "label", one, 2);
	KUNIT_EXPECT_EQ(test, memcmp(x, y, sizeof(x)), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(known),
	KUNIT_CASE(distinct),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_derive",
	.test_cases = cases,
};

kunit_test_suite(suite);
