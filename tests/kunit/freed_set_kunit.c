// SPDX-License-Identifier: GPL-2.0
/*
 * Freed slots of a device: each is found once, wherever it lies.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/mm.h>

#include "../../nswap/pure/freed_set.c"

#define NR	(5 * GROUP + 7)

static int set_make(struct kunit *test)
{
	struct nswap_freed_set *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned long *bit = kunit_kcalloc(test, BITS_TO_LONGS(NR), sizeof(long), GFP_KERNEL);

	if (!f || !bit)
		return -ENOMEM;
	test->priv = f;
	return nswap_freed_init(f, bit, NR);
}

static void set_drop(struct kunit *test)
{
	if (test->priv)
		nswap_freed_exit(test->priv);
}

/* the first and the last slot, those beside a group's ends, and the part of one at the end */
static void ends(struct kunit *test)
{
	static const u64 slot[] = { 0, 1, GROUP - 1, GROUP, 3 * GROUP - 1, 5 * GROUP, NR - 1 };
	struct nswap_freed_set *f = test->priv;
	u64 at = 0;
	int i;

	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), NR);
	for (i = ARRAY_SIZE(slot); i--;)
		KUNIT_EXPECT_EQ(test, nswap_freed_add(f, slot[i]), i == ARRAY_SIZE(slot) - 1);
	KUNIT_EXPECT_FALSE(test, nswap_freed_add(f, slot[0]));
	KUNIT_EXPECT_EQ(test, nswap_freed_count(f), ARRAY_SIZE(slot));
	for (i = 0; i < ARRAY_SIZE(slot); i++, at++) {
		at = nswap_freed_next(f, at);
		KUNIT_EXPECT_EQ(test, at, slot[i]);
	}
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, at), NR);
}

/* what was taken is not found again, unless it came back */
static void taken(struct kunit *test)
{
	struct nswap_freed_set *f = test->priv;

	nswap_freed_add(f, GROUP + 3);
	nswap_freed_add(f, GROUP + 9);
	nswap_freed_take(f, GROUP + 3);
	nswap_freed_done(f);
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), GROUP + 9);
	nswap_freed_take(f, GROUP + 9);
	nswap_freed_back(f, GROUP + 9);
	KUNIT_EXPECT_EQ(test, nswap_freed_count(f), 1);
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), GROUP + 9);
	nswap_freed_take(f, GROUP + 9);
	nswap_freed_add(f, GROUP + 9);
	nswap_freed_back(f, GROUP + 9);
	KUNIT_EXPECT_EQ(test, nswap_freed_count(f), 1);
	nswap_freed_take(f, GROUP + 9);
	nswap_freed_done(f);
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), NR);
	KUNIT_EXPECT_EQ(test, nswap_freed_count(f), 0);
}

/* a group without slots is passed over: it loses its bit at the first look */
static void passed_over(struct kunit *test)
{
	struct nswap_freed_set *f = test->priv;

	nswap_freed_add(f, 2 * GROUP + 1);
	nswap_freed_take(f, 2 * GROUP + 1);
	nswap_freed_done(f);
	KUNIT_EXPECT_FALSE(test, bitmap_empty(f->some, freed_groups(f)));
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), NR);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->some, freed_groups(f)));
	/* and has it again with the next slot */
	nswap_freed_add(f, 2 * GROUP);
	KUNIT_EXPECT_EQ(test, nswap_freed_next(f, 0), 2 * GROUP);
}

static struct kunit_case freed_set_cases[] = {
	KUNIT_CASE(ends),
	KUNIT_CASE(taken),
	KUNIT_CASE(passed_over),
	{}
};

static struct kunit_suite freed_set_suite = {
	.name = "nswap_freed_set",
	.init = set_make,
	.exit = set_drop,
	.test_cases = freed_set_cases,
};

kunit_test_suite(freed_set_suite);
