// SPDX-License-Identifier: GPL-2.0
/* Placement, quietest: where page-outs lean to, row by row; a day of it; the contract. */
#include "place_kunit.h"

#include "../../policy/place_quietest.c"

#define PLACE(now, quiet, by_others) \
	{ .there = true, .us = now, .quiet_us = quiet, .others = by_others }
#define NOWHERE		{ .there = false }
#define P		NSWAP_LEAN_PEERS
#define F		NSWAP_LEAN_FLASH
#define H		NSWAP_LEAN_HOME

struct lean_row {
	const char *desc;
	enum nswap_lean now;
	struct nswap_lean_place peers, flash, home;
	enum nswap_lean want;
	u32 held_ms;
	u32 changes;
	u32 left_us;
};

static const struct lean_row rows[] = {
	{ "all quiet", P, PLACE(100, 100, 0), NOWHERE, PLACE(0, 0, 0), P },
	{ "others, but as quick", P, PLACE(200, 100, 900), NOWHERE, PLACE(0, 0, 0), P },
	{ "slow, but by ourselves", P, PLACE(900, 100, 299), NOWHERE, PLACE(0, 0, 0), P },
	{ "others make it slow", P, PLACE(201, 100, 300), NOWHERE, PLACE(0, 0, 0), H },
	{ "nothing goes out", P, PLACE(0, 100, 900), NOWHERE, PLACE(0, 0, 0), P },
	{ "never known quiet", P, PLACE(900, 0, 600), NOWHERE, PLACE(0, 0, 0), H },
	{ "never known, few others", P, PLACE(900, 0, 599), NOWHERE, PLACE(0, 0, 0), P },
	{ "no disk", P, PLACE(900, 100, 900), NOWHERE, NOWHERE, P },
	{ "a disk that is slower", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 900, 0), P },
	{ "a disk that was quicker", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 899, 0), H },
	{ "a disk in use by others", P, PLACE(900, 100, 900), NOWHERE,
	  PLACE(0, 0, 300), P },
	{ "flash first", P, PLACE(900, 100, 900), PLACE(0, 0, 0), PLACE(0, 0, 0), F },
	{ "the faster one", P, PLACE(900, 100, 900), PLACE(0, 300, 0),
	  PLACE(0, 200, 0), H },
	{ "what is known before what is not", P, PLACE(900, 100, 900), PLACE(0, 0, 0),
	  PLACE(0, 200, 0), H },
	{ "flash in use: home", P, PLACE(900, 100, 900), PLACE(0, 100, 500),
	  PLACE(0, 200, 0), H },
	{ "too soon", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 0, 0), P, 1999 },
	{ "too soon after two", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 0, 0), P,
	  7999, 2 },
	{ "late enough after two", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 0, 0), H,
	  8000, 2 },
	{ "after many, a minute", P, PLACE(900, 100, 900), NOWHERE, PLACE(0, 0, 0), H,
	  64000, 99 },
	{ "away, network busy", H, PLACE(0, 100, 500), NOWHERE, PLACE(300, 200, 0), H },
	{ "away, not quite quiet", H, PLACE(0, 100, 100), NOWHERE, PLACE(300, 200, 0), H },
	{ "away, network quiet", H, PLACE(0, 100, 99), NOWHERE, PLACE(300, 200, 0), P },
	{ "away to what is quicker", F, PLACE(0, 100, 0), PLACE(49, 49, 0), NOWHERE, F },
	{ "away to what is as quick", F, PLACE(0, 100, 0), PLACE(50, 50, 0), NOWHERE, P },
	{ "away to what is slower than that", H, PLACE(0, 100, 900), NOWHERE,
	  PLACE(901, 901, 0), P, .left_us = 900 },
	{ "away, peers are full", H, { .us = 0, .others = 0 }, NOWHERE,
	  PLACE(300, 300, 0), H },
	{ "away, home fails", H, PLACE(0, 100, 900), NOWHERE, NOWHERE, P, 1 },
	{ "away, others come there too", H, PLACE(0, 100, 900), PLACE(0, 200, 0),
	  PLACE(500, 200, 400), F },
};

static void lean_row_desc(const struct lean_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lean_row, rows, lean_row_desc);

static void leans(struct kunit *test)
{
	const struct lean_row *r = test->param_value;
	struct nswap_lean_view v = {
		.at = { r->peers, r->flash, r->home }, .now = r->now,
		.held_ms = r->held_ms ?: 3000, .changes = r->changes,
		.left_us = r->left_us,
	};

	KUNIT_EXPECT_EQ(test, nswap_place_quietest_ops.lean(&v), r->want);
}

/* one look of a quarter of a second: the answer becomes where page-outs go */
static unsigned int look(struct nswap_lean_view *v)
{
	enum nswap_lean to = nswap_place_quietest_ops.lean(v);

	v->held_ms += 250;
	if (to == v->now)
		return 0;
	if (v->now == P)
		v->left_us = v->at[P].us;
	v->now = to;
	v->held_ms = 0;
	v->changes++;
	return 1;
}

/* others who come and go every second for an hour: few changes, each after a longer rest */
static void rate_is_bounded(struct kunit *test)
{
	struct nswap_lean_view v = { .at = { PLACE(900, 100, 900), NOWHERE,
					     PLACE(300, 300, 0) } };
	unsigned int i, changes = 0;

	for (i = 0; i < 4 * 3600; i++) {
		v.at[P].others = i / 4 % 2 ? 900 : 0;
		v.at[P].us = v.now != P ? 0 : i / 4 % 2 ? 900 : 100;
		changes += look(&v);
	}
	KUNIT_EXPECT_GE(test, changes, 10u);
	KUNIT_EXPECT_LE(test, changes, 5 + 3600 / 64u + 1);
}

/* any view: never to a tier that is not there, and never anywhere but where it is named */
static void any_view(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i, k;

	prandom_seed_state(&rnd, 7);
	for (i = 0; i < 20000; i++) {
		struct nswap_lean_view v = {
			.now = prandom_u32_state(&rnd) % NSWAP_LEANS,
			.held_ms = prandom_u32_state(&rnd) % 70000,
			.changes = prandom_u32_state(&rnd) % 40,
			.left_us = prandom_u32_state(&rnd) % 1000,
		};
		enum nswap_lean to;

		for (k = 0; k < NSWAP_LEANS; k++)
			v.at[k] = (struct nswap_lean_place){
				.there = prandom_u32_state(&rnd) % 3,
				.us = prandom_u32_state(&rnd) % 3 * 400,
				.quiet_us = prandom_u32_state(&rnd) % 3 * 150,
				.others = prandom_u32_state(&rnd) % 1001,
			};
		to = nswap_place_quietest_ops.lean(&v);
		KUNIT_ASSERT_LT(test, to, NSWAP_LEANS);
		KUNIT_ASSERT_TRUE(test, v.at[to].there || to == P);
	}
}

/* what is picked, by where it leans */
static void picks(struct kunit *test)
{
	struct nswap_place_peer peer[] = { GOOD(1, 5), GOOD(2, 6) };
	struct nswap_place_view view = { .peer = peer, .nr = 2, .flash = true,
					 .home = true };
	const struct nswap_place_ops *ops = &nswap_place_quietest_ops;

	KUNIT_EXPECT_EQ(test, ops->pick(&view, 1), 1);
	view.lean = F;
	KUNIT_EXPECT_EQ(test, ops->pick(&view, 1), NSWAP_PLACE_FLASH);
	view.lean = H;
	KUNIT_EXPECT_EQ(test, ops->pick(&view, 1), NSWAP_PLACE_HOME);
	view.home = false;
	KUNIT_EXPECT_EQ(test, ops->pick(&view, 1), 1);
	view.lean = F;
	view.flash = false;
	KUNIT_EXPECT_EQ(test, ops->pick(&view, 1), 1);
}

static void contract(struct kunit *test)
{
	place_check_contract(test, &nswap_place_quietest_ops);
}

static struct kunit_case place_quietest_cases[] = {
	KUNIT_CASE_PARAM(leans, lean_row_gen_params),
	KUNIT_CASE(rate_is_bounded),
	KUNIT_CASE(any_view),
	KUNIT_CASE(picks),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite place_quietest_suite = {
	.name = "nswap_place_quietest",
	.test_cases = place_quietest_cases,
};

kunit_test_suite(place_quietest_suite);
