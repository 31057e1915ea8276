// SPDX-License-Identifier: GPL-2.0
/* IPTable: nodes that speak another version of the protocol. */
#include "ip_table_kunit.h"

/* a node of another version is forgotten, a peer and a listed address are not */
static void foreign_expires(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	list(t, 2);
	KUNIT_EXPECT_TRUE(test, speaks(t, 2, 1, 100, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 3, 1, 100, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 4, 1, 100, SILENT_MS));
	speaks(t, 3, 1, 900, SILENT_MS);
	nswap_ipt_expire(t, 1100, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 4u);
	nswap_ipt_expire(t, 1101, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 3u);
	KUNIT_EXPECT_TRUE(test, nswap_ipt_foreign(&t->entry[3]));
	nswap_ipt_expire(t, 1901, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 2u);
	KUNIT_EXPECT_TRUE(test, nswap_ipt_alive(&t->entry[1]));
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
}

/* an unknown node of another version has an entry, until it uses this version */
static void foreign(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 0, 90, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->top, 0u);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 100, SILENT_MS));
	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 1, 200, SILENT_MS));
	expect_entry(test, t, 1, FOREIGN, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 200ull);
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1], 200, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 3, 300, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 3);
	expect(test, hear(t, 1, 11, 400), NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_EQ(test, t->top, 1u);
}

/* a listed entry stays, and so does its version until this version is heard */
static void foreign_listed(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	speaks(t, 1, 1, 100, SILENT_MS);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	KUNIT_EXPECT_EQ(test, list(t, 2), 2);
	speaks(t, 2, 1, 100, 0);
	expect_entry(test, t, 1, LISTED, 1, 0);
	expect_entry(test, t, 2, LISTED, 2, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[2].version, 1);
	expect(test, greeted(t, 1, id(1), 11, 200), NSWAP_IPT_NEW, 1,
	       0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
}

/* of a fresh peer a greeting is believed, a datagram is not; both expire */
static void foreign_doubted(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 1000);
	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 1, 1000 + SILENT_MS, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 1000 + SILENT_MS, 0));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 1000ull);
	expect(test, hear(t, 1, 11, 1000 + SILENT_MS), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 1001 + 2 * SILENT_MS,
				       SILENT_MS));
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1],
						 1001 + 2 * SILENT_MS,
						 SILENT_MS));
	/* an upgrade is another epoch: the version of the old entry does not count */
	expect(test, hear(t, 1, 12, 9000), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_EQ(test, t->entry[2].version, 0);
}

/* they displace no other entry, and are replaced when an entry is needed */
static void foreign_gives_way(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	unsigned int n;

	for (n = 1; n <= NSWAP_MAX_PEERS - 2; n++)
		hear(t, n, n, 100);
	KUNIT_EXPECT_TRUE(test, speaks(t, 5001, 1, 200, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 5002, 1, 300, SILENT_MS));
	KUNIT_EXPECT_FALSE(test, speaks(t, 5003, 1, 400, SILENT_MS));
	expect(test, hear(t, 6001, 1, 500), NSWAP_IPT_NEW, NSWAP_MAX_PEERS - 1,
	       0);
	KUNIT_EXPECT_EQ(test, list(t, 6002), NSWAP_MAX_PEERS);
	expect(test, hear(t, 6003, 1, 500), NSWAP_IPT_FULL, 0, 0);
	KUNIT_EXPECT_EQ(test, t->entry[NSWAP_MAX_PEERS].version, 0);
}

static struct kunit_case ip_table_foreign_cases[] = {
	KUNIT_CASE(foreign_expires),
	KUNIT_CASE(foreign),
	KUNIT_CASE(foreign_listed),
	KUNIT_CASE(foreign_doubted),
	KUNIT_CASE(foreign_gives_way),
	{}
};

static struct kunit_suite ip_table_foreign_suite = {
	.name = "nswap_ip_table_foreign",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_foreign_cases,
};

kunit_test_suite(ip_table_foreign_suite);
