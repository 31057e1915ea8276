// SPDX-License-Identifier: GPL-2.0
/* Placement, two-choices: table-driven views, fairness, the common contract. */
#include "place_kunit.h"

#include "../../policy/place_two_choices.c"

/* the low half draws among all, the high half among the rest */
#define DRAW(one, other)	((other) << 16 | (one))

/* a usable candidate with pages under way */
#define BUSY(i, f, n) \
	{ .index = i, .eligible = true, .grants = 64, .free = f, .lent = 1000, \
	  .inflight = n }

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), SHRINK(4, 9),
			     WAIT(5, 9) },
	  .want = 0 },
	{ "the only one", { GOOD(4, 9) }, .random = DRAW(7, 7), .want = 4 },
	{ "the only usable one", { OUT(1, 9), GOOD(4, 9), DRY(6, 9) },
	  .random = DRAW(5, 3), .want = 4 },
	{ "fewer under way, drawn first", { BUSY(1, 1, 0), BUSY(2, 9, 4) },
	  .random = DRAW(0, 0), .want = 1 },
	{ "fewer under way, drawn second", { BUSY(1, 9, 4), BUSY(2, 1, 3) },
	  .random = DRAW(0, 0), .want = 2 },
	{ "equal queues: more free", { BUSY(1, 5, 2), BUSY(2, 9, 2) },
	  .random = DRAW(0, 0), .want = 2 },
	{ "equal in all: the first drawn", { GOOD(1, 5), GOOD(2, 5) },
	  .random = DRAW(1, 0), .want = 2 },
	{ "the best was not drawn",
	  { BUSY(1, 5, 9), BUSY(2, 5, 8), BUSY(3, 5, 0) },
	  .random = DRAW(0, 0), .want = 2 },
	{ "the other one is never the same one",
	  { BUSY(1, 5, 9), BUSY(2, 5, 8), BUSY(3, 5, 0) },
	  .random = DRAW(1, 1), .want = 3 },
	{ "those that are out are not drawn",
	  { BUSY(1, 5, 3), OUT(2, 99), BUSY(3, 5, 2), REST(4, 99) },
	  .random = DRAW(0, 0), .want = 3 },
	{ "the turn does not matter", { BUSY(1, 5, 0), BUSY(2, 5, 3) }, 1,
	  .random = DRAW(0, 0), .want = 1 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_two_choices_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_two_choices_ops);
}

/* queues that only grow stay level; no candidate, not even the last, is drawn twice */
static void levels_out(struct kunit *test)
{
	struct nswap_place_peer peer[] = {
		GOOD(1, 5), GOOD(2, 5), GOOD(3, 5), GOOD(4, 5), GOOD(5, 5),
	};
	struct nswap_place_view view = { peer, ARRAY_SIZE(peer), 0 };
	struct rnd_state rnd;
	unsigned int i;
	u16 index;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 1000; i++) {
		view.random = prandom_u32_state(&rnd);
		index = place_pick(test, &nswap_place_two_choices_ops, &view, 1);
		KUNIT_ASSERT_GE(test, index, 1);
		peer[index - 1].inflight++;
	}
	for (i = 0; i < ARRAY_SIZE(peer); i++) {
		KUNIT_EXPECT_GE(test, peer[i].inflight, 190u);
		KUNIT_EXPECT_LE(test, peer[i].inflight, 210u);
	}
}

/* a peer with older copies of a page keeps it unless another one is clearly better */
static void old_place(struct kunit *test)
{
	const struct nswap_place_ops *ops = &nswap_place_two_choices_ops;
	struct nswap_place_peer picked = { .inflight = 1 };
	struct nswap_place_peer old = { .inflight = 33 };

	KUNIT_EXPECT_TRUE(test, place_as_good(ops, old, picked));
	old.inflight = 34;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
}

static struct kunit_case place_two_choices_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(levels_out),
	KUNIT_CASE(old_place),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_two_choices_suite = {
	.name = "nswap_place_two_choices",
	.test_cases = place_two_choices_cases,
};

kunit_test_suite(place_two_choices_suite);
