// SPDX-License-Identifier: GPL-2.0
/* Lists of what a peer holds: which could be a server's, and that they end. */
#include <kunit/test.h>

#include "../../nswap/pure/hold_list.c"

#define MOST	5000u	/* slots that this node has named */

static struct nswap_wire_run run_of(u32 instance, u64 slot, u32 count)
{
	return (struct nswap_wire_run){
		.instance = cpu_to_le32(instance), .gen = cpu_to_le32(1),
		.slot = cpu_to_le64(slot), .count = cpu_to_le32(count),
	};
}

/* a list of one run, not the last, from the start */
static bool one_run(u32 instance, u64 slot, u32 count)
{
	struct nswap_wire_run r = run_of(instance, slot, count);
	struct nswap_hold_at at = { .instance = 2, .slot = 100 };

	return nswap_hold_list_sane(&at, MOST, &r, 1, false);
}

static void order(struct kunit *test)
{
	struct nswap_hold_at at = { .instance = 2, .slot = 100 };
	struct nswap_wire_run r[2] = { run_of(2, 100, 1), run_of(2, 101, 4) };

	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, MOST, r, 2, false));
	r[1] = run_of(2, 100, 4);
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, r, 2, true));
	r[1] = run_of(3, 0, 4);
	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, MOST, r, 2, true));
	KUNIT_EXPECT_FALSE(test, one_run(2, 99, 1));
	KUNIT_EXPECT_FALSE(test, one_run(1, 200, 1));
	KUNIT_EXPECT_FALSE(test, one_run(2, 100, 0));
	KUNIT_EXPECT_FALSE(test, one_run(2, U64_MAX, 1));
	r[0].reserved = cpu_to_le32(1);
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, r, 1, true));
}

/* a list without pages is the end */
static void empty(struct kunit *test)
{
	struct nswap_hold_at at = {};

	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, 0, NULL, 0, true));
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, NULL, 0, false));
}

/* one list has no more pages than a server looks at, in one run or in many */
static void one_list(struct kunit *test)
{
	struct nswap_wire_run *r = kunit_kcalloc(test, NSWAP_WIRE_RUNS, sizeof(*r), GFP_KERNEL);
	const u32 each = NSWAP_WIRE_RUN_MAX / NSWAP_WIRE_RUNS;
	struct nswap_hold_at at = {};
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_EXPECT_TRUE(test, one_run(2, 100, NSWAP_WIRE_RUN_MAX));
	KUNIT_EXPECT_FALSE(test, one_run(2, 100, NSWAP_WIRE_RUN_MAX + 1));
	KUNIT_EXPECT_FALSE(test, one_run(2, 100, U32_MAX));
	for (i = 0; i < NSWAP_WIRE_RUNS; i++)
		r[i] = run_of(1, 2 * each * i, each);
	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, MOST, r, NSWAP_WIRE_RUNS, false));
	le32_add_cpu(&r[NSWAP_WIRE_RUNS - 1].count, 1);
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, r, NSWAP_WIRE_RUNS, false));
}

/* lists that are never the last, each in order: after so many pages they are refused */
static void ends(struct kunit *test)
{
	struct nswap_hold_at at = {};
	struct nswap_wire_run r;
	u32 lists = 0;

	for (;;) {
		r = run_of(at.instance + 1, 7, 3);
		if (!nswap_hold_list_sane(&at, MOST, &r, 1, false))
			break;
		at.instance++;
		at.slot = 10;
		at.seen += 3;
		KUNIT_ASSERT_LE(test, ++lists, MOST);
	}
	KUNIT_EXPECT_EQ(test, lists, MOST / 3);
	/* exactly all of them is what an honest peer may hold */
	r = run_of(at.instance + 1, 7, MOST % 3);
	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, MOST, &r, 1, true));
	/* a device that was added meanwhile has slots as well */
	r = run_of(at.instance + 1, 7, 3);
	KUNIT_EXPECT_TRUE(test, nswap_hold_list_sane(&at, MOST + 1, &r, 1, true));
	at.seen = MOST + 1;
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, &r, 1, true));
	KUNIT_EXPECT_FALSE(test, nswap_hold_list_sane(&at, MOST, NULL, 0, true));
}

static struct kunit_case hold_list_cases[] = {
	KUNIT_CASE(order),
	KUNIT_CASE(empty),
	KUNIT_CASE(one_list),
	KUNIT_CASE(ends),
	{}
};

static struct kunit_suite hold_list_suite = {
	.name = "nswap_hold_list",
	.test_cases = hold_list_cases,
};

kunit_test_suite(hold_list_suite);
