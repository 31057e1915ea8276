// SPDX-License-Identifier: GPL-2.0
/* Size, watermark: table-driven views, steadiness, the common contract. */
#include "size_kunit.h"

#include "../../policy/size_watermark.c"

static const struct size_row rows[] = {
	{ "an idle machine grows slowly", SIZE_VIEW(90000, 0), 2000 },
	{ "half the time, half the growth",
	  SIZE_VIEW(90000, 0, .elapsed_ms = 500), 1000 },
	{ "faster by its knob", SIZE_VIEW(90000, 0, .grow_pct = 50), 50000 },
	{ "at least a page", SIZE_VIEW(90000, 7, .elapsed_ms = 1,
				       .grow_pct = 1), 8 },
	{ "not above what is lent", SIZE_VIEW(90000, 59999), 60000 },
	{ "a busy machine lends nothing", SIZE_VIEW(14000, 0), 0 },
	{ "what is allocated counts as room",
	  SIZE_VIEW(40000, 30000, .allocated = 30000), 32000 },
	{ "down at once", SIZE_VIEW(5000, 50000, .allocated = 30000), 20000 },
	{ "down to nothing", SIZE_VIEW(1000, 50000, .allocated = 9000), 0 },
	{ "down to the least",
	  SIZE_VIEW(1000, 50000, .allocated = 9000, .least = 400), 400 },
	{ "the least is no more than what is lent",
	  SIZE_VIEW(1000, 50, .least = 400, .most = 60), 60 },
	{ "steady just below the mark",
	  SIZE_VIEW(36000, 20000), 20000 },
	{ "steady at the mark", SIZE_VIEW(35000, 20000), 20000 },
	{ "a page below the mark", SIZE_VIEW(34999, 20000), 19999 },
	{ "growth ends short of the mark",
	  SIZE_VIEW(37000, 20000, .grow_pct = 50), 20438 },
	{ "no headroom", SIZE_VIEW(1000, 5000, .headroom_pct = 0), 1000 },
	{ "all of it headroom", SIZE_VIEW(99000, 5000, .headroom_pct = 100), 0 },
};

KUNIT_ARRAY_PARAM(row, rows, size_row_desc);

static void decision(struct kunit *test)
{
	size_check_row(test, &nswap_size_watermark_ops);
}

static void contract(struct kunit *test)
{
	size_check_contract(test, &nswap_size_watermark_ops);
}

/* memory that varies by 1 % does not change the size */
static void steady(struct kunit *test)
{
	struct nswap_size_view v = SIZE_VIEW(50000, 0);
	unsigned int i, down = 0;
	struct rnd_state rnd;
	u64 was;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 1000; i++) {
		v.available = 50000 + prandom_u32_state(&rnd) % 1000;
		was = v.target;
		v.target = nswap_size_watermark_ops.lend(&v);
		down += v.target < was;
	}
	KUNIT_EXPECT_EQ(test, down, 0u);
	KUNIT_EXPECT_GT(test, v.target, 33000ull);
}

static struct kunit_case size_watermark_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(steady),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite size_watermark_suite = {
	.name = "nswap_size_watermark",
	.test_cases = size_watermark_cases,
};

kunit_test_suite(size_watermark_suite);
