// SPDX-License-Identifier: GPL-2.0
/* Rebalancing: single decisions, and pairs of nodes that reach a stable state. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../policy/balance.c"

#define VIEW(l, u, ol, ou, p, ...) \
	{ .lent = l, .used = u, .others_lent = ol, .others_used = ou, \
	  .pct = p, ##__VA_ARGS__ }

struct row {
	const char *desc;
	struct nswap_balance_view view;
	u64 want;
};

static const struct row rows[] = {
	{ "off", VIEW(1000, 1000, 1000, 0, 0), 0 },
	{ "off, under way", VIEW(1000, 1000, 1000, 0, 0, .under_way = true), 0 },
	{ "full beside empty", VIEW(1000, 1000, 1000, 0, 20), 451 },
	{ "as full as the others", VIEW(1000, 500, 4000, 2000, 20), 0 },
	{ "emptier", VIEW(1000, 100, 4000, 2000, 20), 0 },
	{ "just as much fuller as it may be", VIEW(1000, 700, 1000, 500, 20), 0 },
	{ "a page more", VIEW(1000, 701, 1000, 500, 20), 51 },
	{ "the same, under way: goes on",
	  VIEW(1000, 700, 1000, 500, 20, .under_way = true), 51 },
	{ "under way, half is left",
	  VIEW(1000, 600, 1000, 500, 20, .under_way = true), 0 },
	{ "under way, a page more than half",
	  VIEW(1000, 601, 1000, 500, 20, .under_way = true), 1 },
	{ "others much larger", VIEW(1000, 900, 1000000, 0, 20), 800 },
	{ "others much smaller", VIEW(1000000, 900000, 1000, 0, 20), 800 },
	{ "all it holds at most", VIEW(10, 1, 1000000, 0, 1), 1 },
	{ "holds more than it lends", VIEW(1000, 3000, 1000, 0, 20), 451 },
	{ "lends nothing", VIEW(0, 1000, 1000, 0, 20), 0 },
	{ "nobody else lends", VIEW(1000, 1000, 0, 0, 20), 0 },
	{ "others hold more than they lend", VIEW(1000, 1000, 10, 50, 20), 0 },
	{ "no percent point counts: 100", VIEW(1000, 1000, 1000, 0, 100), 0 },
	{ "a machine of many TiB",
	  VIEW(1ull << 34, 1ull << 34, 1ull << 34, 0, 20), 7730941133 },
};

static void row_desc(const struct row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void decision(struct kunit *test)
{
	const struct row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, nswap_balance(&r->view), r->want);
}

static void takes_only_the_emptier(struct kunit *test)
{
	struct nswap_balance_view v = VIEW(1000, 700, 0, 0, 20);

	KUNIT_EXPECT_TRUE(test, nswap_balance_takes(&v, 1000, 0));
	KUNIT_EXPECT_TRUE(test, nswap_balance_takes(&v, 1000, 599));
	KUNIT_EXPECT_FALSE(test, nswap_balance_takes(&v, 1000, 600));
	KUNIT_EXPECT_FALSE(test, nswap_balance_takes(&v, 1000, 900));
	KUNIT_EXPECT_TRUE(test, nswap_balance_takes(&v, 10, 5));
	KUNIT_EXPECT_FALSE(test, nswap_balance_takes(&v, 0, 0));
}

struct node {
	u64 lent;
	u64 used;
	bool under_way;
	u64 out;
};

static u64 hand_on(struct node *from, struct node *to, u32 pct)
{
	struct nswap_balance_view v = VIEW(from->lent, from->used, to->lent,
					   to->used, pct, from->under_way);
	u64 n = nswap_balance(&v);

	from->under_way = n;
	n = min(n, to->lent - to->used);
	from->used -= n;
	to->used += n;
	from->out += n;
	return n;
}

/* from any start, one of two nodes moves pages, the other never does, and it stops */
static void two_nodes_rest(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int round;

	prandom_seed_state(&rnd, 6);
	for (round = 0; round < 20000; round++) {
		struct node a = {
			.lent = 100 + (prandom_u32_state(&rnd) >> round % 20),
		};
		struct node b = {
			.lent = 100 + (prandom_u32_state(&rnd) >> round % 17),
		};
		u32 pct = 2 + prandom_u32_state(&rnd) % 99;
		unsigned int turn = 0;

		a.used = prandom_u32_state(&rnd) % (a.lent + 1);
		b.used = prandom_u32_state(&rnd) % (b.lent + 1);
		while (hand_on(&a, &b, pct) + hand_on(&b, &a, pct))
			KUNIT_ASSERT_LT(test, turn++, 10u);
		KUNIT_ASSERT_TRUE(test, !a.out || !b.out);
	}
}

static struct kunit_case balance_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(takes_only_the_emptier),
	KUNIT_CASE(two_nodes_rest),
	{}
};

static struct kunit_suite balance_suite = {
	.name = "nswap_balance",
	.test_cases = balance_cases,
};

kunit_test_suite(balance_suite);
