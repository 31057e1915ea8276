// SPDX-License-Identifier: GPL-2.0
/* Placement, burst: table-driven views, flash beside peers, the contract. */
#include "place_kunit.h"

#include "../../policy/place_burst.c"

/* a usable candidate with @n pages under way */
#define BUSY(i, n) \
	{ .index = i, .eligible = true, .grants = 64, .free = 9, .lent = 1000, \
	  .inflight = n }

static const struct place_row rows[] = {
	{ "no peer at all", .want = 0 },
	{ "none usable", { OUT(1, 9), DRY(2, 9), REST(3, 9), SHRINK(4, 9),
			     WAIT(5, 9) },
	  .want = 0 },
	{ "the only one", { BUSY(4, 600) }, .want = 4 },
	{ "the shortest queue", { BUSY(1, 9), BUSY(2, 8), BUSY(3, 9) },
	  .want = 2 },
	{ "equal queues: more free", { GOOD(1, 5), GOOD(2, 6), GOOD(3, 5) },
	  .want = 2 },
	{ "tie at first", { BUSY(1, 3), BUSY(2, 3) }, .want = 1 },
	{ "tie goes to the next", { BUSY(1, 3), BUSY(2, 3) }, 1, .want = 2 },
	{ "tie goes round", { BUSY(1, 3), BUSY(2, 3) }, 2, .want = 1 },
};

KUNIT_ARRAY_PARAM(row, rows, place_row_desc);

static void decision(struct kunit *test)
{
	place_check_row(test, &nswap_place_burst_ops);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_burst_ops);
}

/* the choice between a peer and flash with these queues */
static int beside_flash(u32 queue, unsigned int flash)
{
	struct nswap_place_peer peer[] = { BUSY(1, queue) };
	struct nswap_place_view view = {
		.peer = peer, .nr = 1, .flash = true, .flash_inflight = flash,
	};

	return nswap_place_burst_ops.pick(&view, 1);
}

static void flash(struct kunit *test)
{
	struct nswap_place_view none = { .flash = true, .flash_inflight = 99 };

	KUNIT_EXPECT_EQ(test, beside_flash(0, 0), 0);
	KUNIT_EXPECT_EQ(test, beside_flash(LONG - 1, 0), 0);
	KUNIT_EXPECT_EQ(test, beside_flash(LONG, 0), NSWAP_PLACE_FLASH);
	KUNIT_EXPECT_EQ(test, beside_flash(LONG, 1), NSWAP_PLACE_FLASH);
	KUNIT_EXPECT_EQ(test, beside_flash(LONG, 2), 0);
	KUNIT_EXPECT_EQ(test, beside_flash(5 * LONG, 9), NSWAP_PLACE_FLASH);
	KUNIT_EXPECT_EQ(test, beside_flash(5 * LONG, 10), 0);
	KUNIT_EXPECT_EQ(test, nswap_place_burst_ops.pick(&none, 1),
			NSWAP_PLACE_FLASH);
}

/* a peer with older copies of a page keeps it unless another one is clearly better */
static void old_place(struct kunit *test)
{
	const struct nswap_place_ops *ops = &nswap_place_burst_ops;
	struct nswap_place_peer picked = { .inflight = 1 };
	struct nswap_place_peer old = { .inflight = 33 };

	KUNIT_EXPECT_TRUE(test, place_as_good(ops, old, picked));
	old.inflight = 34;
	KUNIT_EXPECT_FALSE(test, place_as_good(ops, old, picked));
}

static struct kunit_case place_burst_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(flash),
	KUNIT_CASE(old_place),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_burst_suite = {
	.name = "nswap_place_burst",
	.test_cases = place_burst_cases,
};

kunit_test_suite(place_burst_suite);
