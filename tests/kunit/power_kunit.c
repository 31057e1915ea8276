// SPDX-License-Identifier: GPL-2.0
/* Suspend and hibernation: what is refused, and why. */
#include <kunit/test.h>

#include "../../nswap/pure/power.c"

static void suspend(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, false, false, 0, 0),
			NSWAP_POWER_MAY);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, true, false, 0, 0),
			NSWAP_POWER_MAY);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, true, false, 1, 0),
			NSWAP_POWER_OUT);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, false, false, 0, 1),
			NSWAP_POWER_HELD);
}

static void hibernation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, false, false, 0, 0),
			NSWAP_POWER_MAY);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, true, false, 0, 0),
			NSWAP_POWER_OPEN);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, true, false, 1, 1),
			NSWAP_POWER_OUT);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, false, false, 0, U64_MAX),
			NSWAP_POWER_HELD);
}

/* keys keep a machine from writing its memory to a disk, and from nothing else */
static void keys(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, false, true, 0, 0),
			NSWAP_POWER_KEYS);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, false, true, 0, 0),
			NSWAP_POWER_MAY);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(false, true, true, 0, 0),
			NSWAP_POWER_MAY);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, true, true, 0, 0),
			NSWAP_POWER_OPEN);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, false, true, 1, 0),
			NSWAP_POWER_OUT);
	KUNIT_EXPECT_EQ(test, nswap_power_refuses(true, false, true, 0, 1),
			NSWAP_POWER_HELD);
}

static struct kunit_case power_cases[] = {
	KUNIT_CASE(suspend),
	KUNIT_CASE(hibernation),
	KUNIT_CASE(keys),
	{}
};

static struct kunit_suite power_suite = {
	.name = "nswap_power",
	.test_cases = power_cases,
};

kunit_test_suite(power_suite);
