// SPDX-License-Identifier: GPL-2.0
/* Reading policies: which copy of a page is read. */
#include <kunit/test.h>

#include "../../policy/read_line.h"
#include "../../policy/read_prefetched.c"
#include "../../policy/read_fastest.c"
#include "../../policy/read_least.c"
#include "../../policy/read_soonest.c"

#define AT(t, age, n)	{ .us = t, .age_ms = age, .inflight = n }
#define LINE(t, more, n)	{ .us = t, .next_us = more, .inflight = n }
#define NEVER		AT(0, U32_MAX, 0)

struct read_row {
	const char *desc;
	const struct nswap_read_ops *ops;
	struct nswap_read_view view;
	enum nswap_read_tier want;
};

#define ROW(what, policy, ram, flash, answer) \
	{ what, &nswap_read_##policy##_ops, { { ram, flash } }, \
	  NSWAP_READ_##answer }

static const struct read_row rows[] = {
	ROW("prefetched: flash", prefetched, AT(1, 0, 0), AT(9, 0, 9), FLASH),
	ROW("prefetched: nothing known", prefetched, NEVER, NEVER, FLASH),
	ROW("fastest: peers", fastest, AT(80, 0, 9), AT(100, 0, 0), PEERS),
	ROW("fastest: flash", fastest, AT(101, 0, 0), AT(100, 0, 9), FLASH),
	ROW("fastest: equal", fastest, AT(100, 0, 0), AT(100, 0, 0), FLASH),
	ROW("fastest: flash unknown", fastest, AT(1, 0, 0), NEVER, FLASH),
	ROW("fastest: peers unknown", fastest, NEVER, AT(1, 0, 0), PEERS),
	ROW("fastest: flash old", fastest, AT(1, 0, 0), AT(9, 101, 0), FLASH),
	ROW("fastest: flash not yet old", fastest, AT(1, 0, 0),
	    AT(9, 100, 0), PEERS),
	ROW("fastest: old, but being measured", fastest, AT(1, 0, 0),
	    AT(9, 5000, 1), PEERS),
	ROW("fastest: peers old", fastest, AT(9, 101, 0), AT(1, 0, 0), PEERS),
	ROW("fastest: first of all, being measured", fastest, AT(7, 0, 0),
	    AT(0, U32_MAX, 1), FLASH),
	ROW("least: peers", least, AT(900, 0, 3), AT(1, 0, 4), PEERS),
	ROW("least: flash", least, AT(1, 0, 5), AT(900, 0, 4), FLASH),
	ROW("least: equal", least, AT(1, 0, 4), AT(900, 0, 4), FLASH),
	ROW("least: nothing known", least, NEVER, NEVER, FLASH),
	ROW("soonest: nothing waits", soonest, LINE(150, 43, 0), LINE(151, 1, 0), PEERS),
	ROW("soonest: equal", soonest, LINE(150, 43, 0), LINE(150, 50, 0), FLASH),
	ROW("soonest: peers' queue is long", soonest, LINE(150, 43, 2),
	    LINE(225, 65, 0), FLASH),
	ROW("soonest: but not long enough", soonest, LINE(150, 43, 1),
	    LINE(225, 65, 0), PEERS),
	ROW("soonest: both wait", soonest, LINE(150, 43, 4), LINE(120, 35, 6), PEERS),
	ROW("soonest: flash unknown", soonest, AT(1, 0, 0), NEVER, FLASH),
	ROW("soonest: peers old", soonest, AT(9, 101, 0), AT(1, 0, 0), PEERS),
};

static void row_desc(const struct read_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void decision(struct kunit *test)
{
	const struct read_row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, (int)r->ops->pick(&r->view), (int)r->want);
}

/* Reads of @from to @to pages that take @first us and @next for each further page. */
static void reads(struct nswap_read_line *line, int from, int to, int first, int next)
{
	int i;

	for (i = 0; i < 3000; i++) {
		int nr = from + i % (to - from + 1);

		nswap_read_line_learn(line, nr, first + (nr - 1) * next, 8);
	}
}

static void line_is_learned(struct kunit *test)
{
	struct nswap_read_line line = {};

	KUNIT_EXPECT_EQ(test, nswap_read_line_at(&line, NSWAP_READ_UNIT), 0);
	reads(&line, 1, 8, 150, 43);
	KUNIT_EXPECT_LE(test, abs((int)nswap_read_line_at(&line, NSWAP_READ_UNIT) - 150), 8);
	KUNIT_EXPECT_LE(test,
			abs((int)nswap_read_line_at(&line, 8 * NSWAP_READ_UNIT) - 451), 8);
}

/* A tier that reads page by page, and one that reads in runs, equally fast. */
static void sizes_do_not_matter(struct kunit *test)
{
	struct nswap_read_line alone = {}, runs = {};
	u32 pages = 4 * NSWAP_READ_UNIT;

	reads(&alone, 1, 2, 150, 43);
	reads(&runs, 4, 8, 150, 43);
	KUNIT_EXPECT_LE(test, abs((int)nswap_read_line_at(&alone, pages) -
				  (int)nswap_read_line_at(&runs, pages)), 28);
}

static void line_has_no_ends(struct kunit *test)
{
	struct nswap_read_line line = {};
	int i;

	nswap_read_line_learn(&line, NSWAP_REQ_SLOTS, 1, 8);
	KUNIT_EXPECT_GE(test, line.first, 1);
	for (i = 0; i < 1000; i++) {
		nswap_read_line_learn(&line, NSWAP_REQ_SLOTS, i & 1 ? 1 : NSWAP_READ_MOST_US,
				      1);
		nswap_read_line_learn(&line, 1, i & 2 ? 1 : NSWAP_READ_MOST_US, 1);
		nswap_read_line_learn(&line, 2, NSWAP_READ_MOST_US, 1);
		KUNIT_ASSERT_GE(test, line.first, 1);
		KUNIT_ASSERT_GE(test, line.next, 0);
		KUNIT_ASSERT_LE(test, line.next, NSWAP_READ_MOST_US * NSWAP_READ_UNIT);
	}
}

static struct kunit_case read_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(line_is_learned),
	KUNIT_CASE(sizes_do_not_matter),
	KUNIT_CASE(line_has_no_ends),
	{}
};

static struct kunit_suite read_suite = {
	.name = "nswap_read",
	.test_cases = read_cases,
};

kunit_test_suite(read_suite);
