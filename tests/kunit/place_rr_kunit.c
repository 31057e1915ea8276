// SPDX-License-Identifier: GPL-2.0
/* Placement, round-robin: table-driven views, turns, the common contract. */
#include "place_kunit.h"

#include "../../policy/place_rr.c"

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), WAIT(4, 9) },
	  .want = 0 },
	{ "the only one", { GOOD(4, 9) }, .want = 4 },
	{ "the only one, again", { GOOD(4, 9) }, .last = 4, .want = 4 },
	{ "the first at first", { GOOD(1, 9), GOOD(2, 9) }, .want = 1 },
	{ "the next", { GOOD(1, 9), GOOD(2, 9), GOOD(3, 9) }, 1, .want = 2 },
	{ "after the last the first", { GOOD(1, 9), GOOD(2, 9) }, 2, .want = 1 },
	{ "gaps in the table", { GOOD(3, 9), GOOD(700, 9) }, 3, .want = 700 },
	{ "the last one is gone", { GOOD(3, 9), GOOD(9, 9) }, 5, .want = 9 },
	{ "not eligible is skipped",
	  { GOOD(1, 9), OUT(2, 9), GOOD(3, 9) }, 1, .want = 3 },
	{ "without grants is skipped",
	  { GOOD(1, 9), DRY(2, 9), GOOD(3, 9) }, 1, .want = 3 },
	{ "shrinking is skipped",
	  { GOOD(1, 9), SHRINK(2, 9), GOOD(3, 9) }, 1, .want = 3 },
	{ "resting is skipped",
	  { GOOD(1, 9), REST(2, 9), GOOD(3, 9) }, 1, .want = 3 },
	{ "skipped round the end",
	  { GOOD(1, 9), GOOD(2, 9), OUT(3, 9) }, 2, .want = 1 },
	{ "what is lent does not matter",
	  { GOOD(1, 900), GOOD(2, 1) }, 1, .want = 2 },
	{ "fewer grants than pages",
	  { { .index = 1, .eligible = true, .grants = 1, .free = 1 } },
	  .pages = NSWAP_REQ_SLOTS, .want = 1 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_rr_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_rr_ops);
}

/* the usable ones get the same number of turns, in order */
static void turns(struct kunit *test)
{
	static const struct nswap_place_peer peer[] = {
		GOOD(2, 5), OUT(3, 5), GOOD(5, 500), DRY(8, 5), GOOD(9, 0),
	};
	static const u16 want[] = { 2, 5, 9 };
	struct nswap_place_view view = { peer, ARRAY_SIZE(peer), 0 };
	unsigned int i;

	for (i = 0; i < 30; i++) {
		view.last = place_pick(test, &nswap_place_rr_ops, &view, 1);
		KUNIT_EXPECT_EQ(test, view.last, want[i % 3]);
	}
}

static struct kunit_case place_rr_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(turns),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_rr_suite = {
	.name = "nswap_place_rr",
	.test_cases = place_rr_cases,
};

kunit_test_suite(place_rr_suite);
