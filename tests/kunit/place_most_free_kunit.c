// SPDX-License-Identifier: GPL-2.0
/* Placement, most-free: table-driven views, ties, the common contract. */
#include "place_kunit.h"

#include "../../policy/place_most_free.c"

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), WAIT(4, 9) },
	  .want = 0 },
	{ "the only one", { GOOD(4, 9) }, .want = 4 },
	{ "most free, first", { GOOD(1, 9), GOOD(2, 5), GOOD(3, 1) }, .want = 1 },
	{ "most free, middle", { GOOD(1, 5), GOOD(2, 9), GOOD(3, 1) }, .want = 2 },
	{ "most free, last", { GOOD(1, 5), GOOD(2, 1), GOOD(3, 9) }, .want = 3 },
	{ "most free twice in a row",
	  { GOOD(1, 5), GOOD(2, 9), GOOD(3, 1) }, 2, .want = 2 },
	{ "more free but not eligible",
	  { OUT(1, 99), GOOD(2, 5), GOOD(3, 1) }, .want = 2 },
	{ "more free but no grant",
	  { DRY(1, 99), GOOD(2, 5), GOOD(3, 1) }, .want = 2 },
	{ "more free but resting",
	  { REST(1, 99), GOOD(2, 5), GOOD(3, 1) }, .want = 2 },
	{ "more free but shrinking",
	  { SHRINK(1, 99), GOOD(2, 5), GOOD(3, 1) }, .want = 2 },
	{ "nothing announced as free, yet granted", { GOOD(1, 0) }, .want = 1 },
	{ "tie at first", { GOOD(1, 5), GOOD(2, 5) }, .want = 1 },
	{ "tie goes to the next", { GOOD(1, 5), GOOD(2, 5) }, 1, .want = 2 },
	{ "tie goes round", { GOOD(1, 5), GOOD(2, 5) }, 2, .want = 1 },
	{ "tie over a smaller one",
	  { GOOD(1, 5), GOOD(2, 4), GOOD(3, 5) }, 1, .want = 3 },
	{ "tie over one that is out",
	  { GOOD(1, 5), OUT(2, 5), GOOD(3, 5) }, 1, .want = 3 },
	{ "tie, the last one is gone",
	  { GOOD(3, 5), GOOD(9, 5) }, 5, .want = 9 },
	{ "free RAM, not the share of it",
	  { { .index = 1, .eligible = true, .grants = 1, .free = 10, .lent = 10 },
	    { .index = 2, .eligible = true, .grants = 1, .free = 11, .lent = 999 } },
	  .want = 2 },
	{ "more than 32 bits of it",
	  { GOOD(1, 1), GOOD(2, 1ull << 40) }, .want = 2 },
	{ "fewer grants than pages",
	  { { .index = 1, .eligible = true, .grants = 1, .free = 9 },
	    { .index = 2, .eligible = true, .grants = 64, .free = 8 } },
	  .pages = NSWAP_REQ_SLOTS, .want = 1 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_most_free_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_most_free_ops);
}

/* pages go to the peer with most free until all are level, then evenly to all */
static void levels_out(struct kunit *test)
{
	struct nswap_place_peer peer[] = {
		GOOD(1, 100), GOOD(2, 400), GOOD(3, 200),
	};
	struct nswap_place_view view = { peer, ARRAY_SIZE(peer), 0 };
	unsigned int i;

	for (i = 0; i < 400; i++) {
		view.last = place_pick(test, &nswap_place_most_free_ops, &view,
				       1);
		KUNIT_ASSERT_GE(test, view.last, 1);
		peer[view.last - 1].free--;
	}
	for (i = 0; i < ARRAY_SIZE(peer); i++)
		KUNIT_EXPECT_EQ(test, peer[i].free, 100ull);
	for (i = 0; i < 30; i++) {
		view.last = place_pick(test, &nswap_place_most_free_ops, &view,
				       1);
		KUNIT_ASSERT_GE(test, view.last, 1);
		peer[view.last - 1].free--;
	}
	for (i = 0; i < ARRAY_SIZE(peer); i++)
		KUNIT_EXPECT_EQ(test, peer[i].free, 90ull);
}

/* a peer with older copies of a page keeps it unless another one is clearly better */
static void old_place(struct kunit *test)
{
	const struct nswap_place_ops *ops = &nswap_place_most_free_ops;
	struct nswap_place_peer picked = { .free = 100 };
	struct nswap_place_peer old = { .free = 90 };

	KUNIT_EXPECT_TRUE(test, place_as_good(ops, old, picked));
	old.free = 80;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
}

static struct kunit_case place_most_free_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(levels_out),
	KUNIT_CASE(old_place),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_most_free_suite = {
	.name = "nswap_place_most_free",
	.test_cases = place_most_free_cases,
};

kunit_test_suite(place_most_free_suite);
