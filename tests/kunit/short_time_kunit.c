// SPDX-License-Identifier: GPL-2.0
/* Moments in 32 bits: where jiffies wrap none is in the future, nor days ago. */
#include <kunit/test.h>

#include "../../nswap/pure/short_time.h"

static void around(struct kunit *test, unsigned long middle)
{
	unsigned long since, now;

	for (since = middle - 8; since != middle + 8; since++) {
		u32 mark = nswap_short_time(since);

		KUNIT_EXPECT_NE(test, mark, 0u);
		KUNIT_EXPECT_FALSE(test, mark & 1);
		for (now = since; now != since + 100; now++) {
			unsigned long was = nswap_short_time_was(mark, now);

			KUNIT_EXPECT_LE(test, since - was, 3ul);
		}
	}
}

static void short_time_wraps(struct kunit *test)
{
	around(test, 1ul << 20);
	around(test, 1ul << 31);
	/* 0 on 32 bits */
	around(test, (unsigned long)(1ull << 32));
	around(test, (unsigned long)(3ull << 32));
}

static struct kunit_case short_time_cases[] = {
	KUNIT_CASE(short_time_wraps),
	{}
};

static struct kunit_suite short_time_suite = {
	.name = "nswap_short_time",
	.test_cases = short_time_cases,
};

kunit_test_suite(short_time_suite);
