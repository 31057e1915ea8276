// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache: moves of entries, who is current, what is taken for others, what is sent when.
 */
#include <kunit/test.h>

#include "../../nswap/pure/write_cache.c"

#define PAGES	8

static int make_table(struct kunit *test)
{
	struct nswap_wc_table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	return nswap_wc_init(t, PAGES) ? 0 : -ENOMEM;
}

static void drop_table(struct kunit *test)
{
	if (test->priv)
		nswap_wc_exit(test->priv);
}

static struct nswap_wc_entry *put(struct kunit *test, u32 slot, u8 state)
{
	struct nswap_wc_entry *e = nswap_wc_take(test->priv, slot,
						 state == NSWAP_WC_FILLING ||
						 state == NSWAP_WC_CLEAN ?
						 NSWAP_WC_FILLING : NSWAP_WC_DIRTY);

	KUNIT_ASSERT_NOT_NULL(test, e);
	if (state == NSWAP_WC_SENDING || state == NSWAP_WC_KEPT)
		nswap_wc_move(test->priv, e, NSWAP_WC_SENDING);
	if (state == NSWAP_WC_CLEAN || state == NSWAP_WC_KEPT)
		nswap_wc_move(test->priv, e, state);
	return e;
}

/* the table of moves, row by row */
static void test_moves(struct kunit *test)
{
	static const char *const rows[NSWAP_WC_NR] = {
		/* to: FREE FILLING CLEAN DIRTY SENDING KEPT */
		[NSWAP_WC_FREE] = "-x-x--",
		[NSWAP_WC_FILLING] = "x-x---",
		[NSWAP_WC_CLEAN] = "xx-x--",
		[NSWAP_WC_DIRTY] = "xx--x-",
		[NSWAP_WC_SENDING] = "x-xx-x",
		[NSWAP_WC_KEPT] = "xxxx--",
	};
	unsigned int from, to;

	for (from = 0; from < NSWAP_WC_NR; from++)
		for (to = 0; to < NSWAP_WC_NR; to++)
			KUNIT_EXPECT_EQ_MSG(test, nswap_wc_legal(from, to),
					    rows[from][to] == 'x', "%u to %u", from, to);
	KUNIT_EXPECT_FALSE(test, nswap_wc_legal(NSWAP_WC_NR, NSWAP_WC_FREE));
	KUNIT_EXPECT_FALSE(test, nswap_wc_legal(NSWAP_WC_FREE, NSWAP_WC_NR));
}

/* the clean page used longest ago goes first; none that is in use goes at all */
static void test_oldest_goes(struct kunit *test)
{
	struct nswap_wc_table *t = test->priv;
	struct nswap_wc_entry *e;
	u32 slot;

	for (slot = 1; slot <= PAGES; slot++)
		put(test, slot, NSWAP_WC_CLEAN);
	nswap_wc_touch(t, nswap_wc_find(t, 1));
	put(test, 100, NSWAP_WC_CLEAN);
	KUNIT_EXPECT_NOT_NULL(test, nswap_wc_find(t, 1));
	KUNIT_EXPECT_NULL(test, nswap_wc_find(t, 2));
	KUNIT_EXPECT_NOT_NULL(test, nswap_wc_find(t, 100));
	for (slot = 200; slot < 200 + PAGES; slot++) {
		e = put(test, slot, slot % 2 ? NSWAP_WC_KEPT : NSWAP_WC_DIRTY);
		/* for one that is not clean this says nothing */
		nswap_wc_touch(t, e);
	}
	KUNIT_EXPECT_EQ(test, t->count[NSWAP_WC_DIRTY], PAGES / 2);
	KUNIT_EXPECT_EQ(test, t->count[NSWAP_WC_KEPT], PAGES / 2);
	KUNIT_EXPECT_NULL(test, nswap_wc_take(t, 300, NSWAP_WC_DIRTY));
	KUNIT_EXPECT_NULL(test, nswap_wc_take(t, 300, NSWAP_WC_FILLING));
	/* what nothing has any more goes before what is dirty, and with what is beside it */
	nswap_wc_first(t, nswap_wc_find(t, 201));
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_find(t, 201),
			    list_first_entry(&t->list[NSWAP_WC_DIRTY],
					     struct nswap_wc_entry, link));
	KUNIT_EXPECT_FALSE(test, nswap_wc_find(t, 201)->alone);
}

/* rewritten while it is sent: the newer one is current, and is not sent before that ends */
static void test_rewritten(struct kunit *test)
{
	struct nswap_wc_table *t = test->priv;
	struct nswap_wc_entry *run[PAGES], *old, *new;

	old = put(test, 7, NSWAP_WC_SENDING);
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_find(t, 7), old);
	old->stale = true;
	KUNIT_EXPECT_NULL(test, nswap_wc_find(t, 7));
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_readable(t, 7), old);
	new = put(test, 7, NSWAP_WC_DIRTY);
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_find(t, 7), new);
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_readable(t, 7), new);
	KUNIT_EXPECT_PTR_EQ(test, nswap_wc_sending(t, 7), old);
	KUNIT_EXPECT_EQ(test, nswap_wc_run(t, run, PAGES), 0);
	put(test, 8, NSWAP_WC_DIRTY);
	KUNIT_EXPECT_EQ(test, nswap_wc_run(t, run, PAGES), 1);
	KUNIT_EXPECT_EQ(test, run[0]->slot, 8);
	nswap_wc_move(t, old, NSWAP_WC_FREE);
	KUNIT_EXPECT_EQ(test, nswap_wc_run(t, run, PAGES), 1);
	KUNIT_EXPECT_PTR_EQ(test, run[0], new);
}

/* freed meanwhile: nothing is read of it any more */
static void test_freed(struct kunit *test)
{
	struct nswap_wc_table *t = test->priv;
	struct nswap_wc_entry *e = put(test, 7, NSWAP_WC_SENDING);

	e->stale = true;
	e->freed = true;
	KUNIT_EXPECT_NULL(test, nswap_wc_readable(t, 7));
	nswap_wc_move(t, e, NSWAP_WC_FREE);
	KUNIT_EXPECT_FALSE(test, e->stale || e->freed);
	KUNIT_EXPECT_NULL(test, nswap_wc_sending(t, 7));
	/* a page-out that waits for what is sent is newer than that */
	e = put(test, 9, NSWAP_WC_SENDING);
	e->stale = true;
	put(test, 9, NSWAP_WC_FILLING);
	KUNIT_EXPECT_EQ(test, nswap_wc_readable(t, 9)->state, NSWAP_WC_FILLING);
	nswap_wc_find(t, 9)->stale = true;
	KUNIT_EXPECT_EQ(test, nswap_wc_readable(t, 9)->state, NSWAP_WC_FILLING);
}

/* the oldest with its neighbours, upwards; what failed goes alone, and first */
static void test_runs(struct kunit *test)
{
	static const u32 order[] = { 21, 50, 20, 22, 19, 24 };
	struct nswap_wc_table *t = test->priv;
	struct nswap_wc_entry *run[PAGES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		put(test, order[i], NSWAP_WC_DIRTY);
	KUNIT_ASSERT_EQ(test, nswap_wc_run(t, run, PAGES), 4);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, run[i]->slot, 19 + i);
		KUNIT_EXPECT_EQ(test, run[i]->state, NSWAP_WC_SENDING);
	}
	for (i = 4; i--;)
		nswap_wc_again(t, run[i]);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, nswap_wc_run(t, run, PAGES), 1);
		KUNIT_EXPECT_EQ(test, run[0]->slot, 19 + i);
		nswap_wc_move(t, run[0], NSWAP_WC_CLEAN);
		KUNIT_EXPECT_FALSE(test, run[0]->alone);
	}
	KUNIT_ASSERT_EQ(test, nswap_wc_run(t, run, PAGES), 1);
	KUNIT_EXPECT_EQ(test, run[0]->slot, 50);
}

/* no more than may be, and down to slot 0 */
static void test_most(struct kunit *test)
{
	struct nswap_wc_table *t = test->priv;
	struct nswap_wc_entry *run[PAGES];
	u32 slot;

	for (slot = PAGES; slot--;)
		put(test, slot, NSWAP_WC_DIRTY);
	KUNIT_ASSERT_EQ(test, nswap_wc_run(t, run, 3), 3);
	KUNIT_EXPECT_EQ(test, run[0]->slot, PAGES - 3);
	KUNIT_ASSERT_EQ(test, nswap_wc_run(t, run, PAGES), PAGES - 3);
	KUNIT_EXPECT_EQ(test, run[0]->slot, 0);
	KUNIT_EXPECT_EQ(test, nswap_wc_run(t, run, PAGES), 0);
}

static void test_passing(struct kunit *test)
{
	struct nswap_wc_table *t = test->priv;

	KUNIT_EXPECT_FALSE(test, nswap_wc_passes(t, 5));
	nswap_wc_pass(t, 5);
	nswap_wc_pass(t, 5);
	KUNIT_EXPECT_TRUE(test, nswap_wc_passes(t, 5));
	KUNIT_EXPECT_FALSE(test, nswap_wc_passes(t, 6));
	nswap_wc_passed(t, 5);
	KUNIT_EXPECT_TRUE(test, nswap_wc_passes(t, 5));
	nswap_wc_passed(t, 5);
	KUNIT_EXPECT_FALSE(test, nswap_wc_passes(t, 5));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_moves),
	KUNIT_CASE(test_oldest_goes),
	KUNIT_CASE(test_rewritten),
	KUNIT_CASE(test_freed),
	KUNIT_CASE(test_runs),
	KUNIT_CASE(test_most),
	KUNIT_CASE(test_passing),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_write_cache",
	.init = make_table,
	.exit = drop_table,
	.test_cases = cases,
};

kunit_test_suite(suite);
