// SPDX-License-Identifier: GPL-2.0
/* IPTable: how long a peer was not heard of, if that is unusual. */
#include "ip_table_kunit.h"

/* when it was announced, and what is said of the time before */
static const struct { u64 at, after; } announced[] = {
	{ 2100, 0 }, { 5600, 3500 }, { 9100, 0 }, { 10100, 0 }, { 13200, 3100 },
};

static void unusual(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	int i;

	hear(t, 1, 11, 100);
	hear(t, 1, 11, 1100);
	for (i = 0; i < ARRAY_SIZE(announced); i++)
		KUNIT_EXPECT_EQ(test, hear(t, 1, 11, announced[i].at).after_ms,
				announced[i].after);
}

/* a node that is new, or in another epoch, was not heard of before */
static void none_before(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_EQ(test, hear(t, 1, 11, 100).after_ms, 0ull);
	KUNIT_EXPECT_EQ(test, hear(t, 1, 12, 9100).after_ms, 0ull);
}

static struct kunit_case ip_table_gap_cases[] = {
	KUNIT_CASE(unusual),
	KUNIT_CASE(none_before),
	{}
};

static struct kunit_suite ip_table_gap_suite = {
	.name = "nswap_ip_table_gap",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_gap_cases,
};

kunit_test_suite(ip_table_gap_suite);
