// SPDX-License-Identifier: GPL-2.0
/* Steps of a page-out and a page-in: table-driven, and they always add up. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/base/latency_steps.c"

struct row {
	const char *desc;
	u8 tier;
	struct nswap_times t;
	bool bad;
	u64 want[NSWAP_STEPS];
};

/* queue, policy, send, network, peer, disk, receive, complete, total */
static const struct row rows[] = {
	{ "each step of a page at a peer", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 17, 37, 45, 61, .took = 12 },
	  .want = { 1, 2, 4, 8, 12, 0, 8, 16, 51 } },
	{ "a peer that says nothing", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 17, 37, 45, 61 },
	  .want = { 1, 2, 4, 20, 0, 0, 8, 16, 51 } },
	{ "a peer that claims too much", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 17, 37, 45, 61, .took = U32_MAX },
	  .want = { 1, 2, 0, 0, 24, 0, 8, 16, 51 } },
	{ "the answer overtook the sender", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 50, 37, 45, 61, .took = 12 },
	  .want = { 1, 2, 12, 0, 12, 0, 8, 16, 51 } },
	{ "a stamp of sending from long ago", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 1, 37, 45, 61, .took = 12 },
	  .want = { 1, 2, 0, 12, 12, 0, 8, 16, 51 } },
	{ "all at once", NSWAP_TIER_REMOTE, { 5, 5, 5, 5, 5, 5, 5, .took = 9 },
	  .want = { 0 } },
	{ "each step of a page at home", NSWAP_TIER_HOME,
	  { 10, 11, 13, 17, 37, 0, 61, .took = 12 },
	  .want = { 1, 2, 4, 0, 0, 20, 0, 24, 51 } },
	{ "flash is like home", NSWAP_TIER_FLASH,
	  { 10, 11, 13, 17, 37, 0, 61 },
	  .want = { 1, 2, 4, 0, 0, 20, 0, 24, 51 } },
	{ "its turn before it came", NSWAP_TIER_REMOTE,
	  { 10, 9, 13, 17, 37, 45, 61 }, true },
	{ "given away before its turn", NSWAP_TIER_HOME,
	  { 10, 14, 13, 17, 37, 45, 61 }, true },
	{ "answered before it was given away", NSWAP_TIER_HOME,
	  { 10, 11, 13, 17, 12, 45, 61 }, true },
	{ "no stamp of receiving", NSWAP_TIER_REMOTE,
	  { 10, 11, 13, 17, 37, 0, 61 }, true },
	{ "ended before", NSWAP_TIER_HOME, { 10, 11, 13, 17, 37, 45, 36 }, true },
};

static void row_desc(const struct row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void split(struct kunit *test)
{
	const struct row *r = test->param_value;
	u64 ns[NSWAP_STEPS];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, nswap_steps_of(r->tier, &r->t, ns), !r->bad);
	for (i = 0; !r->bad && i < NSWAP_STEPS; i++)
		KUNIT_EXPECT_EQ_MSG(test, ns[i], r->want[i], "%s",
				    nswap_step_name(i));
}

static u64 later(struct rnd_state *rnd, u64 *now)
{
	return *now += prandom_u32_state(rnd) % 100;
}

static void add_up(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i, n;

	prandom_seed_state(&rnd, 4);
	for (n = 0; n < 20000; n++) {
		u64 now = 1, sum = 0, ns[NSWAP_STEPS];
		struct nswap_times t = {};
		u8 tier = n % NSWAP_TIERS;

		t.came = later(&rnd, &now);
		t.turn = later(&rnd, &now);
		t.began = later(&rnd, &now);
		t.sent = prandom_u32_state(&rnd) % 600;
		t.answered = later(&rnd, &now);
		t.received = later(&rnd, &now);
		t.ended = later(&rnd, &now);
		t.took = prandom_u32_state(&rnd) % 200;
		KUNIT_ASSERT_TRUE(test, nswap_steps_of(tier, &t, ns));
		for (i = 0; i < NSWAP_STEP_TOTAL; i++) {
			sum += ns[i];
			if (!nswap_step_of_tier(tier, i))
				KUNIT_ASSERT_EQ(test, ns[i], 0ull);
		}
		KUNIT_ASSERT_EQ(test, sum, ns[NSWAP_STEP_TOTAL]);
		KUNIT_ASSERT_EQ(test, sum, t.ended - t.came);
	}
}

static void buckets(struct kunit *test)
{
	unsigned int b;

	KUNIT_EXPECT_EQ(test, nswap_bucket(0, 40), 0u);
	for (b = 1; b < 39; b++) {
		KUNIT_EXPECT_EQ(test, nswap_bucket(1ull << (b - 1), 40), b);
		KUNIT_EXPECT_EQ(test, nswap_bucket((1ull << b) - 1, 40), b);
	}
	KUNIT_EXPECT_EQ(test, nswap_bucket(1ull << 38, 40), 39u);
	KUNIT_EXPECT_EQ(test, nswap_bucket(U64_MAX, 40), 39u);
	KUNIT_EXPECT_EQ(test, nswap_bucket(U64_MAX, 16), 15u);
}

static void names(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NSWAP_STEPS; i++)
		KUNIT_EXPECT_NOT_NULL(test, nswap_step_name(i));
	for (i = 0; i < NSWAP_TIERS; i++)
		KUNIT_EXPECT_NOT_NULL(test, nswap_tier_name(i));
	KUNIT_EXPECT_STREQ(test, nswap_op_name(WRITE), "page-out");
	KUNIT_EXPECT_STREQ(test, nswap_op_name(READ), "page-in");
}

static struct kunit_case steps_cases[] = {
	KUNIT_CASE_PARAM(split, row_gen_params),
	KUNIT_CASE(add_up),
	KUNIT_CASE(buckets),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite steps_suite = {
	.name = "nswap_steps",
	.test_cases = steps_cases,
};

kunit_test_suite(steps_suite);
