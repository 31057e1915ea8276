// SPDX-License-Identifier: GPL-2.0
/* Prefetch, when: each policy in each kind of situation. */
#include <kunit/test.h>

#include "../../prefetch/when.c"

/* a wake-up after @out and @in pages; flash is faster by default */
#define MOMENT(out, in, ...) \
	{ .used = 1000, .swap_outs = out, .swap_ins = in, .pct = 10, \
	  .from_us = 100, .to_us = 50, .free_pct = 100, ##__VA_ARGS__ }

struct when_row {
	const char *desc;
	struct nswap_prefetch_view view;
	bool always, swapping, idle, adaptive, full;
};

static const struct when_row rows[] = {
	{ "nothing happened", MOMENT(0, 0), true, false, true, false },
	{ "pages went out", MOMENT(5, 0), true, true, false, true },
	{ "pages came in", MOMENT(0, 1), true, true, false, true },
	{ "flash slower", MOMENT(5, 5, .to_us = 150,
				 .learned.wakeups = 31),
	  true, true, false, false },
	{ "flash slower, time to look", MOMENT(5, 5, .to_us = 150,
					       .learned.wakeups = 64),
	  true, true, false, true },
	{ "never read there", MOMENT(5, 5, .learned.wakeups = 1,
				     .learned.put = { 0, 999 },
				     .learned.ins = 1000),
	  true, true, false, false },
	{ "not read there yet", MOMENT(5, 5, .learned.wakeups = 1,
				       .learned.put = { 0, 999 },
				       .learned.ins = 999),
	  true, true, false, true },
	{ "often read there", MOMENT(5, 5, .learned.wakeups = 1,
				     .learned.put = { 0, 999 },
				     .learned.hits = { 0, 500 }),
	  true, true, false, true },
	{ "time to look, but idle", MOMENT(0, 0, .to_us = 150),
	  true, false, true, false },
	{ "an eighth is free", MOMENT(0, 0, .free_pct = 13),
	  true, false, true, false, false },
	{ "less is free", MOMENT(0, 0, .free_pct = 12),
	  true, false, true, false, true },
	{ "nothing is free", MOMENT(5, 5, .free_pct = 0),
	  true, true, false, true, true },
};

static void row_desc(const struct when_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void decision(struct kunit *test)
{
	const struct when_row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, when_always.due(&r->view), r->always);
	KUNIT_EXPECT_EQ(test, when_swapping.due(&r->view),
			r->swapping);
	KUNIT_EXPECT_EQ(test, when_idle.due(&r->view), r->idle);
	KUNIT_EXPECT_EQ(test, when_adaptive.due(&r->view),
			r->adaptive);
	KUNIT_EXPECT_EQ(test, when_full.due(&r->view), r->full);
}

/*
 * Flash that becomes slow in mid-run: adaptive turns itself off, except for an
 * occasional probe, and on again when flash is fast again.
 */
static void off_and_on(struct kunit *test)
{
	struct nswap_prefetch_view v = MOMENT(100, 100);
	const u64 hits[NSWAP_PREFETCH_ARMS] = { [1] = 8 };
	unsigned int i, due[3] = {};

	for (i = 0; i < 300; i++) {
		bool now;

		v.to_us = i >= 100 && i < 200 ? 150 : 80;
		now = when_adaptive.due(&v);
		due[i / 100] += now;
		nswap_prefetch_note(&v.learned, 1, now ? 10 : 0, v.swap_ins,
				    hits);
	}
	KUNIT_EXPECT_EQ(test, due[0], 100u);
	KUNIT_EXPECT_LE(test, due[1], 4u);
	KUNIT_EXPECT_GE(test, due[1], 3u);
	KUNIT_EXPECT_EQ(test, due[2], 100u);
}

static struct kunit_case when_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(off_and_on),
	{}
};

static struct kunit_suite when_suite = {
	.name = "nswap_prefetch_when",
	.test_cases = when_cases,
};

kunit_test_suite(when_suite);
