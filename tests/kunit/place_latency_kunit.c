// SPDX-License-Identifier: GPL-2.0
/* Placement, latency: table-driven views, a simulated queue, the contract. */
#include "place_kunit.h"

#include "../../policy/place_latency.c"

/* a usable candidate: @ns a page-out took, @n pages under way */
#define TOOK(i, ns, n) \
	{ .index = i, .eligible = true, .grants = 64, .free = 9, .lent = 1000, \
	  .store_ns = ns, .inflight = n }

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), SHRINK(4, 9),
			     WAIT(5, 9) },
	  .want = 0 },
	{ "the only one", { TOOK(4, 1000000, 60) }, .want = 4 },
	{ "the faster one", { TOOK(1, 900, 0), TOOK(2, 800, 0) }, .want = 2 },
	{ "not the next in turn", { TOOK(1, 900, 0), TOOK(2, 800, 0) }, 2,
	  .want = 2 },
	{ "a long queue is slow too", { TOOK(1, 900, 0), TOOK(2, 800, 1) },
	  .want = 1 },
	{ "a long message hides a short queue",
	  { TOOK(1, 900, 0), TOOK(2, 800, 1) }, .pages = 32, .want = 2 },
	{ "faster but not eligible",
	  { { .index = 1, .grants = 64, .store_ns = 1 }, TOOK(2, 800, 9) },
	  .want = 2 },
	{ "unknown and idle: tried at once", { TOOK(1, 1, 0), TOOK(2, 0, 0) },
	  .want = 2 },
	{ "unknown, its first message under way",
	  { TOOK(1, 1000000000, 60), TOOK(2, 0, 1) }, .want = 1 },
	{ "all unknown, one is idle", { TOOK(1, 0, 4), TOOK(2, 0, 0) },
	  .want = 2 },
	{ "all unknown and busy: the shorter queue",
	  { TOOK(1, 0, 4), TOOK(2, 0, 3) }, .want = 2 },
	{ "tie at first", { TOOK(1, 5, 0), TOOK(2, 5, 0) }, .want = 1 },
	{ "tie goes to the next", { TOOK(1, 5, 0), TOOK(2, 5, 0) }, 1, .want = 2 },
	{ "tie goes round", { TOOK(1, 5, 0), TOOK(2, 5, 0) }, 2, .want = 1 },
	{ "no number is too large",
	  { TOOK(1, U64_MAX, 1u << 30), TOOK(2, U64_MAX, 5) }, .want = 2 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_latency_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_latency_ops);
}

/* with 64 pages under way a peer four times as fast gets four fifths */
static void shares(struct kunit *test)
{
	struct nswap_place_peer peer[] = {
		TOOK(1, 400, 0), TOOK(2, 100, 0),
	};
	struct nswap_place_view view = { peer, ARRAY_SIZE(peer), 0 };
	unsigned int i;

	for (i = 0; i < 60; i++) {
		view.last = place_pick(test, &nswap_place_latency_ops, &view, 1);
		KUNIT_ASSERT_GE(test, view.last, 1);
		peer[view.last - 1].inflight++;
	}
	KUNIT_EXPECT_EQ(test, peer[0].inflight, 12u);
	KUNIT_EXPECT_EQ(test, peer[1].inflight, 48u);
}

/* a peer with older copies of a page keeps it unless another one is clearly better */
static void old_place(struct kunit *test)
{
	const struct nswap_place_ops *ops = &nswap_place_latency_ops;
	struct nswap_place_peer picked = { .store_ns = 100 };
	struct nswap_place_peer old = { .store_ns = 120 };

	KUNIT_EXPECT_TRUE(test, place_as_good(ops, old, picked));
	old.store_ns = 130;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
	old.store_ns = 100;
	picked.store_ns = 0;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
}

static struct kunit_case place_latency_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(shares),
	KUNIT_CASE(old_place),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_latency_suite = {
	.name = "nswap_place_latency",
	.test_cases = place_latency_cases,
};

kunit_test_suite(place_latency_suite);
