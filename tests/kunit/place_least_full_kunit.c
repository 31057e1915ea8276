// SPDX-License-Identifier: GPL-2.0
/* Placement, least-full: table-driven views, ties, the common contract. */
#include "place_kunit.h"

#include "../../policy/place_least_full.c"

/* a usable candidate that lends @l pages, @f of them free */
#define LENDS(i, f, l) \
	{ .index = i, .eligible = true, .grants = 64, .free = f, .lent = l }

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), SHRINK(4, 9) },
	  .want = 0 },
	{ "the only one, full", { LENDS(4, 0, 9) }, .want = 4 },
	{ "the share, not the free RAM",
	  { LENDS(1, 50, 1000), LENDS(2, 9, 10) }, .want = 2 },
	{ "least full, first", { GOOD(1, 9), GOOD(2, 5), GOOD(3, 1) }, .want = 1 },
	{ "least full, last", { GOOD(1, 5), GOOD(2, 1), GOOD(3, 9) }, .want = 3 },
	{ "less full but not eligible", { OUT(1, 99), GOOD(2, 5) }, .want = 2 },
	{ "less full but no grant", { DRY(1, 99), GOOD(2, 5) }, .want = 2 },
	{ "less full but shrinking", { SHRINK(1, 99), GOOD(2, 5) }, .want = 2 },
	{ "equal shares of unequal sizes: a turn",
	  { LENDS(1, 50, 100), LENDS(2, 5, 10) }, 1, .want = 2 },
	{ "equal shares of unequal sizes: its turn is over",
	  { LENDS(1, 50, 100), LENDS(2, 5, 10) }, 2, .want = 1 },
	{ "one that lends nothing counts as full",
	  { LENDS(1, 0, 0), LENDS(2, 1, 1000) }, .want = 2 },
	{ "unless all are", { LENDS(1, 0, 0), LENDS(2, 0, 9) }, 1, .want = 2 },
	{ "more free than lent: nothing is used",
	  { LENDS(1, 99, 100), LENDS(2, 20, 10) }, .want = 2 },
	{ "more than 32 bits of it",
	  { LENDS(1, 1ull << 40, 1ull << 41), LENDS(2, 3ull << 39, 1ull << 41) },
	  .want = 2 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_least_full_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_least_full_ops);
}

/* peers of different sizes fill up together: each gets its share of the pages */
static void fills_evenly(struct kunit *test)
{
	struct nswap_place_peer peer[] = {
		LENDS(1, 100, 100), LENDS(2, 400, 400), LENDS(3, 1500, 1500),
	};
	struct nswap_place_view view = { peer, ARRAY_SIZE(peer), 0 };
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		view.last = place_pick(test, &nswap_place_least_full_ops, &view,
				       1);
		KUNIT_ASSERT_GE(test, view.last, 1);
		peer[view.last - 1].free--;
	}
	KUNIT_EXPECT_EQ(test, peer[0].free, 50ull);
	KUNIT_EXPECT_EQ(test, peer[1].free, 200ull);
	KUNIT_EXPECT_EQ(test, peer[2].free, 750ull);
}

/* a peer with older copies of a page keeps it unless another one is clearly better */
static void old_place(struct kunit *test)
{
	const struct nswap_place_ops *ops = &nswap_place_least_full_ops;
	struct nswap_place_peer picked = { .free = 95, .lent = 100 };
	struct nswap_place_peer old = { .free = 90, .lent = 100 };

	KUNIT_EXPECT_TRUE(test, place_as_good(ops, old, picked));
	picked.free = 98;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
}

static struct kunit_case place_least_full_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(fills_evenly),
	KUNIT_CASE(old_place),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_least_full_suite = {
	.name = "nswap_place_least_full",
	.test_cases = place_least_full_cases,
};

kunit_test_suite(place_least_full_suite);
