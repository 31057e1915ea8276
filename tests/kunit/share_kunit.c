// SPDX-License-Identifier: GPL-2.0
/* Share and weight: what of a node's lent pages one owner may have, beside others. */
#include <kunit/test.h>

#include "../../nswap/pure/share.h"
#include "../../nswap/pure/weight.h"

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
	/* alone: all that may be; with others half of what is free, by weight */
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 100, 100, 128, 2048), 2048u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 100, 200, 128, 2048), 1024u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 100, 1000, 128, 2048), 204u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 400, 1000, 128, 2048), 819u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(4096, 100, 20000, 128, 2048), 128u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(0, 100, 200, 128, 2048), 128u);
	KUNIT_EXPECT_EQ(test, nswap_share_window(1ull << 40, 1000, 1023000, 128, 2048), 2048u);
}

static void fair(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_share_fair(4096, 10, 10), 4096ull);
	KUNIT_EXPECT_EQ(test, nswap_share_fair(4096, 100, 400), 1024ull);
	KUNIT_EXPECT_EQ(test, nswap_share_fair(4096, 300, 400), 3072ull);
	KUNIT_EXPECT_EQ(test, nswap_share_fair(3, 10, 1010), 0ull);
}

static void weight(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(NSWAP_WEIGHT), 0);
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(125), -1);
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(400), -6);
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(NSWAP_WEIGHT_MOST), -10);
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(80), 1);
	KUNIT_EXPECT_EQ(test, nswap_weight_nice(NSWAP_WEIGHT_LEAST), 10);
	KUNIT_EXPECT_EQ(test, nswap_weight_turn(32, NSWAP_WEIGHT), 32u);
	KUNIT_EXPECT_EQ(test, nswap_weight_turn(32, 250), 80u);
	KUNIT_EXPECT_EQ(test, nswap_weight_turn(5, NSWAP_WEIGHT_LEAST), 1u);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(limit),
	KUNIT_CASE(left),
	KUNIT_CASE(window),
	KUNIT_CASE(fair),
	KUNIT_CASE(weight),
	{}
};

static struct kunit_suite share_suite = {
	.name = "nswap_share",
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);
