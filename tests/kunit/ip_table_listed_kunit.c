// SPDX-License-Identifier: GPL-2.0
/* IPTable: peers that the user listed by address. */
#include "ip_table_kunit.h"

static void listed_once(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	KUNIT_EXPECT_EQ(test, list(t, 2), 2);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	expect_entry(test, t, 1, LISTED, 1, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, 0), 0);
}

static void listed_is_adopted_by_announcement(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 1);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
	KUNIT_EXPECT_EQ(test, t->top, 1u);
}

static void listed_is_adopted_by_greeting(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 1);
	expect(test, greeted(t, 1, id(1), 11, 100),
	       NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 0ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 100ull);
	expect(test, hear(t, 1, 11, 200), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
}

/* listed after it was heard, and still listed after its reboot */
static void listed_survives_reboot(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	expect(test, hear(t, 1, 12, 200), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_EQ(test, list(t, 1), 2);
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	expect_entry(test, t, 2, KNOWN, 1, 12);
}

/* entry 1 is gone, and leaves nothing behind: entry 2 is listed at that address */
static void found_there(struct kunit *test, struct nswap_ipt *t, u16 n)
{
	struct nswap_addr at = addr(n);

	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)GONE);
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &at));
}

/* a host that is listed by another of its addresses than the one it announces */
static void listed_by_another_address(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 9);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 2, 0);
	expect(test, greeted(t, 1, id(1), 11, 200),
	       NSWAP_IPT_SAME, 2, 0);
	KUNIT_EXPECT_EQ(test, t->entry[2].heard_ms, 200ull);
	found_there(test, t, 9);
	expect_entry(test, t, 2, KNOWN, 1, 11);
}

/* a known node has moved to a listed address of which nothing was heard */
static void known_node_moves_to_listed(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 2, 0);
	nswap_ipt_moved(t, 2, &nine);
	expect(test, greeted(t, 1, id(1), 11, 200), NSWAP_IPT_SAME, 2, 0);
	/* a node that comes up there meanwhile gets an entry of its own */
	expect(test, hear(t, 9, 99, 300), NSWAP_IPT_NEW, 3, 0);
	found_there(test, t, 9);
}

/* one that is listed elsewhere: the address stays listed, for the node that was meant */
static void listed_node_moves_to_listed(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9), one = addr(1);

	list(t, 9);
	list(t, 1);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 2, 0);
	nswap_ipt_moved(t, 2, &nine);
	expect(test, greeted(t, 1, id(1), 11, 200), NSWAP_IPT_SAME, 2, 0);
	expect_entry(test, t, 1, LISTED, 9, 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &one));
}

/* another node is where a listed one was that is forgotten: it is listed there */
static void listed_node_is_replaced(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	expect(test, hear(t, 9, 99, 100), NSWAP_IPT_NEW, 1, 0);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 2, 0);
	nswap_ipt_moved(t, 2, &nine);
	nswap_ipt_forget(t, 1);
	found_there(test, t, 9);
	nswap_ipt_forget(t, 2);
	nswap_ipt_release(t, 2);
	expect_entry(test, t, 2, LISTED, 9, 0);
}

/* an announcement changes no address: the listed one is known to work */
static void listed_address_stays(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	greeted(t, 1, id(1), 11, 100);
	expect(test, hear(t, 1, 11, 200), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[1].addr, &nine));
}

/* a listed node that has moved is listed where the user said, and is so again */
static void listed_node_moves(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr one = addr(1), two = addr(2);

	list(t, 1);
	hear(t, 1, 11, 100);
	nswap_ipt_moved(t, 1, &two);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[1].listed_at, &one));
	expect(test, hear(t, 1, 12, 200), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &one));
	nswap_ipt_release(t, 1);
	nswap_ipt_moved(t, 2, &two);
	nswap_ipt_forget(t, 2);
	nswap_ipt_release(t, 2);
	expect_entry(test, t, 2, LISTED, 1, 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &one));
}

/* it is listed through epochs and addresses; without it all starts again from zero */
static void listed_is_listed_again(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	greeted(t, 1, id(1), 11, 1);
	expect(test, hear(t, 1, 12, 2), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &nine));
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	nswap_ipt_forget(t, 2);
	nswap_ipt_release(t, 2);
	expect_entry(test, t, 2, LISTED, 9, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_EQ(test, t->entry[2].heard_ms, 0ull);
}

/* that it will be back is true until it is heard again, at its address only */
static void leaving_for_a_reboot(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_announcement a = from(1, 11);

	hear(t, 1, 11, 100);
	a.answer = true;
	nswap_ipt_hear(t, &a, 200);
	KUNIT_EXPECT_FALSE(test, t->entry[1].reboots);
	a.leaving = true;
	nswap_ipt_hear(t, &a, 300);
	KUNIT_EXPECT_TRUE(test, t->entry[1].reboots);
	greeted(t, 1, id(1), 11, 400);
	KUNIT_EXPECT_TRUE(test, t->entry[1].reboots);
	hear(t, 1, 11, 500);
	KUNIT_EXPECT_FALSE(test, t->entry[1].reboots);
	a.addr = addr(2);
	nswap_ipt_hear(t, &a, 600);
	KUNIT_EXPECT_FALSE(test, t->entry[1].reboots);
}

/* a known node restarts while the table is full: it gets its entry once that is released */
static void restarted_when_full(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	u16 n;

	list(t, 1);
	for (n = 1; n <= NSWAP_MAX_PEERS; n++)
		hear(t, n, 1, 1);
	expect(test, hear(t, 2000, 1, 2), NSWAP_IPT_FULL, 0, 0);
	for (n = 1; n <= 2; n++) {
		expect(test, greeted(t, n, id(n), 2, 2), NSWAP_IPT_FULL, 0, n);
		expect_entry(test, t, n, GONE, n, 1);
		KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, id(n)), 0);
		expect(test, hear(t, n, 2, 3), NSWAP_IPT_FULL, 0, 0);
		nswap_ipt_release(t, n);
		KUNIT_EXPECT_EQ(test, stands_for(&t->entry[n]), (u8)(n == 1 ? LISTED : UNUSED));
		expect(test, hear(t, n, 2, 4), NSWAP_IPT_NEW, n, 0);
		expect_entry(test, t, n, KNOWN, n, 2);
	}
	expect(test, hear(t, 3, 2, 5), NSWAP_IPT_FULL, 0, 3);
}

static struct kunit_case ip_table_listed_cases[] = {
	KUNIT_CASE(listed_once),
	KUNIT_CASE(listed_is_adopted_by_announcement),
	KUNIT_CASE(listed_is_adopted_by_greeting),
	KUNIT_CASE(listed_survives_reboot),
	KUNIT_CASE(listed_by_another_address),
	KUNIT_CASE(known_node_moves_to_listed),
	KUNIT_CASE(listed_node_moves_to_listed),
	KUNIT_CASE(listed_node_is_replaced),
	KUNIT_CASE(listed_address_stays),
	KUNIT_CASE(listed_node_moves),
	KUNIT_CASE(listed_is_listed_again),
	KUNIT_CASE(leaving_for_a_reboot),
	KUNIT_CASE(restarted_when_full),
	{}
};

static struct kunit_suite ip_table_listed_suite = {
	.name = "nswap_ip_table_listed",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_listed_cases,
};

kunit_test_suite(ip_table_listed_suite);
