// SPDX-License-Identifier: GPL-2.0
/* Share: what of a node's lent pages one owner may have. */
#include <kunit/test.h>

#include "../../nswap/pure/share.h"

static void limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_share_limit(4096, 100), NSWAP_NO_SHARE);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(0, 100), NSWAP_NO_SHARE);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(4096, 30), 1228ull);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(99, 1), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(100, 1), 1ull);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(0, 50), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_share_limit(1ull << 52, 99), (1ull << 52) / 100 * 99 + 95);
}

static void left(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_share_left(NSWAP_NO_SHARE, 5000), NSWAP_NO_SHARE);
	KUNIT_EXPECT_EQ(test, nswap_share_left(1228, 0), 1228ull);
	KUNIT_EXPECT_EQ(test, nswap_share_left(1228, 1227), 1ull);
	KUNIT_EXPECT_EQ(test, nswap_share_left(1228, 1228), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_share_left(1228, 4096), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_share_left(0, 0), 0ull);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(limit),
	KUNIT_CASE(left),
	{}
};

static struct kunit_suite share_suite = {
	.name = "nswap_share",
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);
