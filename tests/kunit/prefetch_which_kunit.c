// SPDX-License-Identifier: GPL-2.0
/* Prefetch, which: what each policy does with a slot, and the choice of one. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../prefetch/which.c"

struct which_row {
	const char *desc;
	const struct nswap_which_ops *ops;
	enum nswap_which_look referenced, other;
};

static const struct which_row rows[] = {
	{ "rr", &which_rr, NSWAP_WHICH_TAKE, NSWAP_WHICH_TAKE },
	{ "rand", &which_rand, NSWAP_WHICH_TAKE, NSWAP_WHICH_TAKE },
	{ "lrs", &which_lrs, NSWAP_WHICH_CLEAR, NSWAP_WHICH_TAKE },
	{ "mrs", &which_mrs, NSWAP_WHICH_TAKE, NSWAP_WHICH_PASS },
};

static void row_desc(const struct which_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void decision(struct kunit *test)
{
	const struct which_row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, (int)r->ops->look(true), (int)r->referenced);
	KUNIT_EXPECT_EQ(test, (int)r->ops->look(false), (int)r->other);
}

/* two rounds of the hand: a page swapped before the first is taken in the second */
static void clock(struct kunit *test)
{
	bool referenced[] = { false, true, true, false };
	unsigned int i, turn, taken[2] = {};

	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < ARRAY_SIZE(referenced); i++) {
			enum nswap_which_look l =
				which_lrs.look(referenced[i]);

			taken[turn] += l == NSWAP_WHICH_TAKE;
			if (l == NSWAP_WHICH_CLEAR)
				referenced[i] = false;
		}
	}
	KUNIT_EXPECT_EQ(test, taken[0], 2u);
	KUNIT_EXPECT_EQ(test, taken[1], 4u);
}

/* an arm with more hits than the others, @down: fewer, is found and kept */
static void find_best(struct kunit *test, bool down)
{
	unsigned int i, at, chosen;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 3);
	for (at = 0; at < ARRAY_SIZE(others); at++) {
		struct nswap_prefetch_view v = { .down = down };

		for (i = chosen = 0; i < 2000; i++) {
			const struct nswap_which_ops *ops =
				which_adaptive.choose(&v);
			u64 hits[NSWAP_PREFETCH_ARMS] = {};

			KUNIT_ASSERT_TRUE(test, ops && ops->look);
			hits[ops->arm] = prandom_u32_state(&rnd) %
					 ((ops == others[at]) ^ down ? 40 : 10);
			nswap_prefetch_note(&v.learned, ops->arm, 20, 20, hits);
			chosen += i >= 1000 && ops == others[at];
		}
		KUNIT_EXPECT_GT(test, chosen, 800u);
	}
}

static void best_is_found(struct kunit *test)
{
	find_best(test, false);
}

static void best_makes_room(struct kunit *test)
{
	find_best(test, true);
}

/* each arm is tried, whatever was learned */
static void each_is_tried(struct kunit *test)
{
	struct nswap_prefetch_view v = {
		.learned = { .put = { 0, 100 }, .hits = { 0, 1000 } },
	};
	unsigned int i, tried[NSWAP_PREFETCH_ARMS] = {};

	for (i = 0; i < 64; i++) {
		v.learned.wakeups = i;
		tried[which_adaptive.choose(&v)->arm]++;
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_GE(test, tried[others[i]->arm], 2u);
}

/* an arm that finds nothing is passed over, but for its turns, until it finds something */
static void barren_is_passed(struct kunit *test)
{
	struct nswap_prefetch_view v = { .down = true };
	unsigned int i, barren = 0;
	u8 arm = others[0]->arm;
	u64 none[NSWAP_PREFETCH_ARMS] = {};

	for (i = 0; i < 320; i++) {
		const struct nswap_which_ops *ops = which_adaptive.choose(&v);
		u64 put = ops->arm == arm ? 0 : 20;

		barren += ops->arm == arm;
		nswap_prefetch_tried(&v.learned, ops->arm, put);
		nswap_prefetch_note(&v.learned, ops->arm, put, 20, none);
	}
	KUNIT_EXPECT_EQ(test, barren, 10u);
	nswap_prefetch_tried(&v.learned, arm, 20);
	KUNIT_EXPECT_EQ(test, v.learned.barren, 0u);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		nswap_prefetch_tried(&v.learned, others[i]->arm, 0);
	KUNIT_EXPECT_NOT_NULL(test, which_adaptive.choose(&v));
}

static struct kunit_case which_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(clock),
	KUNIT_CASE(best_is_found),
	KUNIT_CASE(best_makes_room),
	KUNIT_CASE(each_is_tried),
	KUNIT_CASE(barren_is_passed),
	{}
};

static struct kunit_suite which_suite = {
	.name = "nswap_prefetch_which",
	.test_cases = which_cases,
};

kunit_test_suite(which_suite);
