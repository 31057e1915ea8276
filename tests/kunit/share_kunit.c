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

static void window(struct kunit *test)
{
	/* alone: all that may be; with others half of what is free, in equal parts */
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 0, 128, 2048), 2048u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 1, 128, 2048), 2048u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 2, 128, 2048), 1024u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 10, 128, 2048), 204u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 200, 128, 2048), 128u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(0, 2, 128, 2048), 128u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(1ull << 40, 1023, 128, 2048), 2048u);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(limit),
	KUNIT_CASE(left),
	KUNIT_CASE(window),
	{}
};

static struct kunit_suite share_suite = {
	.name = "nswap_share",
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);
