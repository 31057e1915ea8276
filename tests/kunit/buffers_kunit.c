// SPDX-License-Identifier: GPL-2.0
/* Buffers of links: what each gets, and that all of them keep to the budget. */
#include <kunit/test.h>

#include "../../nswap/pure/buffers.c"

static void budget_follows_ram(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_buffers_budget(0), BUDGET_LEAST);
	KUNIT_EXPECT_EQ(test, nswap_buffers_budget(4ull << 30), 128ull << 20);
	KUNIT_EXPECT_EQ(test, nswap_buffers_budget(1ull << 40), BUDGET_MOST);
}

static void shares(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_buffers_share(BUDGET_MOST, 0), NSWAP_BUFFER);
	KUNIT_EXPECT_EQ(test, nswap_buffers_share(32ull * NSWAP_BUFFER, 0),
			NSWAP_BUFFER);
	KUNIT_EXPECT_EQ(test, nswap_buffers_share(32ull * NSWAP_BUFFER,
						  16ull * NSWAP_BUFFER),
			NSWAP_BUFFER / 2);
	KUNIT_EXPECT_EQ(test, nswap_buffers_share(1, 2), NSWAP_BUFFER_LEAST);
}

/* all links of 1023 peers, both roles, three connections each */
static void budget_is_kept(struct kunit *test)
{
	const unsigned int nr = 1023 * 6;
	unsigned int i, small = 0;
	u64 taken = 0;

	for (i = 0; i < nr; i++) {
		u32 share = nswap_buffers_share(BUDGET_LEAST, taken);

		taken += 2 * share;
		small += share == NSWAP_BUFFER_LEAST;
	}
	KUNIT_EXPECT_LE(test, taken,
			BUDGET_LEAST + 2ull * NSWAP_BUFFER_LEAST * small);
	/* the first 10 peers of a machine with 2 GiB or less share most of it */
	KUNIT_EXPECT_GT(test, nr - small, 60u);
}

static struct kunit_case buffers_cases[] = {
	KUNIT_CASE(budget_follows_ram),
	KUNIT_CASE(shares),
	KUNIT_CASE(budget_is_kept),
	{}
};

static struct kunit_suite buffers_suite = {
	.name = "nswap_buffers",
	.test_cases = buffers_cases,
};

kunit_test_suite(buffers_suite);
