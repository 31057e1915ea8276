// SPDX-License-Identifier: GPL-2.0
/* Prefetch, count: how many pages each policy wants. */
#include <kunit/test.h>

#include "../../prefetch/count.c"

#define VIEW(u, out, p, ...) \
	{ .used = u, .swap_outs = out, .pct = p, .from_us = 100, \
	  .to_us = 80, ##__VA_ARGS__ }
/* pages prefetched, pages read there, pages paged in from anywhere */
#define LEARNED(p, h, i) \
	.learned = { .put = { 0, p }, .hits = { 0, h }, .ins = i }

struct count_row {
	const char *desc;
	struct nswap_prefetch_view view;
	u64 out, used, adaptive;
};

static const struct count_row rows[] = {
	{ "nothing at all", VIEW(0, 0, 10), 0, 0, 0 },
	{ "nothing went out", VIEW(1000, 0, 10), 0, 100, 0 },
	{ "the paper's tenth", VIEW(1000, 500, 10), 50, 100, 50 },
	{ "at least a page", VIEW(1, 1, 1), 1, 1, 1 },
	{ "all of it", VIEW(1000, 500, 100), 500, 1000, 500 },
	{ "each read once", VIEW(1000, 500, 10, LEARNED(100, 100, 1000)),
	  50, 100, 250 },
	{ "each read ten times", VIEW(1000, 500, 10, LEARNED(100, 1000, 1000)),
	  50, 100, 250 },
	{ "one in four read", VIEW(1000, 500, 10, LEARNED(100, 25, 1000)),
	  50, 100, 125 },
	{ "one in ten read", VIEW(1000, 500, 10, LEARNED(100, 10, 1000)),
	  50, 100, 50 },
	{ "turns to come", VIEW(1000, 500, 10, LEARNED(100, 0, 999)),
	  50, 100, 50 },
	{ "hardly ever read", VIEW(1000, 500, 10, LEARNED(100, 1, 1000)),
	  50, 100, 5 },
	{ "flash slower", VIEW(1000, 500, 10, LEARNED(100, 100, 1000),
			       .to_us = 126), 50, 100, 5 },
	{ "makes room", VIEW(1000, 500, 10, LEARNED(100, 0, 1000), .down = true),
	  50, 100, 50 },
	{ "makes room, read often", VIEW(1000, 500, 10, LEARNED(100, 100, 1000),
					 .down = true), 50, 100, 5 },
};

static void row_desc(const struct count_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void decision(struct kunit *test)
{
	const struct count_row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, count_out.pages(&r->view), r->out);
	KUNIT_EXPECT_EQ(test, count_used.pages(&r->view), r->used);
	KUNIT_EXPECT_EQ(test, count_adaptive.pages(&r->view),
			r->adaptive);
}

static struct kunit_case count_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	{}
};

static struct kunit_suite count_suite = {
	.name = "nswap_prefetch_count",
	.test_cases = count_cases,
};

kunit_test_suite(count_suite);
