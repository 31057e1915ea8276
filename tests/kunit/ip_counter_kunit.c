// SPDX-License-Identifier: GPL-2.0
/* IPTable: counters of announcements, from a node's address and from others. */
#include "../../nswap/pure/ip_counter.c"
#include "ip_table_kunit.h"

/* is it taken in? from elsewhere it is where the node is from then on, as without a session */
static bool taken(struct nswap_ipt *t, u16 at, u64 counter, bool moves)
{
	struct nswap_announcement a = {
		.id = id(1), .epoch = 11, .addr = addr(at), .counter = counter,
	};
	struct nswap_ipt_heard h;

	if (nswap_ipt_replay(t, &a, 100))
		return false;
	h = nswap_ipt_hear(t, &a, 100);
	if (h.elsewhere && moves)
		nswap_ipt_moved(t, h.index, &a.addr);
	return true;
}

/* what a member announces in another's name, from its own address, mutes that one not */
static void mutes_none(struct kunit *test, bool moves)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_TRUE(test, taken(t, 1, 5, moves));
	KUNIT_EXPECT_TRUE(test, taken(t, 2, U64_MAX, moves));
	KUNIT_EXPECT_FALSE(test, taken(t, 1, 5, moves));
	KUNIT_EXPECT_FALSE(test, taken(t, 2, U64_MAX, moves));
	KUNIT_EXPECT_TRUE(test, taken(t, 1, 6, moves));
	KUNIT_EXPECT_FALSE(test, taken(t, 2, U64_MAX, moves));
	KUNIT_EXPECT_TRUE(test, taken(t, 1, 7, moves));
	/* nor where it goes from there */
	KUNIT_EXPECT_TRUE(test, taken(t, 3, 8, moves));
}

/* of a node with a session, whose address a greeting proves */
static void elsewhere_mutes_none(struct kunit *test)
{
	mutes_none(test, false);
}

/* without one the sender's address is the node's for a while */
static void elsewhere_moves_and_mutes_none(struct kunit *test)
{
	mutes_none(test, true);
}

/* a stranger repeats what a node announced, from wherever that was */
static void repeated(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	u16 at;

	for (at = 1; at <= 4; at++) {
		KUNIT_EXPECT_TRUE(test, taken(t, at, 10 * at, true));
		KUNIT_EXPECT_TRUE(test, taken(t, at, 10 * at + 1, true));
	}
	for (at = 1; at <= 4; at++) {
		KUNIT_EXPECT_FALSE(test, taken(t, at, 10 * at, true));
		KUNIT_EXPECT_FALSE(test, taken(t, at, 10 * at + 1, true));
	}
	/* without a way to see that it has moved there */
	KUNIT_EXPECT_TRUE(test, taken(t, 5, 50, false));
	KUNIT_EXPECT_FALSE(test, taken(t, 5, 50, false));
	KUNIT_EXPECT_FALSE(test, taken(t, 4, 41, false));
}

/* one that has greeted is believed whatever its clock says, what it said before is not */
static void greeted_is_new(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr to = addr(2);
	u16 index;

	KUNIT_EXPECT_TRUE(test, taken(t, 1, 50, false));
	index = nswap_ipt_find(t, id(1));
	nswap_ipt_greeted(t, index, &to, id(1), 11, 100);
	nswap_ipt_moved(t, index, &to);
	KUNIT_EXPECT_FALSE(test, taken(t, 1, 50, false));
	KUNIT_EXPECT_TRUE(test, taken(t, 2, 3, false));
	KUNIT_EXPECT_FALSE(test, taken(t, 2, 3, false));
}

static struct kunit_case ip_counter_cases[] = {
	KUNIT_CASE(elsewhere_mutes_none),
	KUNIT_CASE(elsewhere_moves_and_mutes_none),
	KUNIT_CASE(repeated),
	KUNIT_CASE(greeted_is_new),
	{}
};

static struct kunit_suite ip_counter_suite = {
	.name = "nswap_ip_counter",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_counter_cases,
};

kunit_test_suite(ip_counter_suite);
