// SPDX-License-Identifier: GPL-2.0
/* IPTable: how long a peer was not heard of, if that is unusual. */
#include "ip_table_kunit.h"

/* when something was announced, and what is said of the time before; 0 ends it */
struct announced {
	u64 at, after;
};

/* every second; a cut; another one soon after it */
static const struct announced cuts[] = {
	{ 1100, 0 }, { 2100, 0 }, { 5600, 3500 }, { 6600, 0 }, { 10200, 3600 }, { 11200, 0 }, {},
};

/* rarely, as by a node that does not list this one: it is usual at the second time */
static const struct announced rare[] = {
	{ 1100, 0 }, { 2100, 0 }, { 5600, 3500 }, { 9100, 0 }, { 12600, 0 }, { 24600, 12000 }, {},
};

/* the same, each twice */
static const struct announced twice[] = {
	{ 101, 0 }, { 1100, 0 }, { 1101, 0 }, { 2100, 0 }, { 2101, 0 }, { 5600, 3499 },
	{ 5601, 0 }, { 9100, 0 }, { 9101, 0 }, { 12600, 0 }, { 12601, 0 }, {},
};

/* every five seconds, the first time twice, then with a round more, and some at once */
static const struct announced more[] = {
	{ 150, 0 }, { 5100, 0 }, { 10100, 0 }, { 11500, 0 }, { 16500, 0 }, { 18500, 0 },
	{ 23500, 0 }, { 23600, 0 }, { 23700, 0 }, { 23800, 0 }, { 28800, 0 }, { 28801, 0 },
	{ 33800, 0 }, { 54800, 21000 }, { 59800, 0 }, {},
};

/* every five seconds, then every second: that is the habit soon */
static const struct announced sooner[] = {
	{ 5100, 0 }, { 10100, 0 }, { 11100, 0 }, { 12100, 0 }, { 13100, 0 }, { 14100, 0 },
	{ 15100, 0 }, { 16100, 0 }, { 17100, 0 }, { 18100, 0 }, { 22100, 4000 }, {},
};

/* for the second time after an hour: three minutes are unusual nevertheless */
static const struct announced late[] = {
	{ 3600100, 0 }, { 3661000, 0 }, { 3662000, 0 }, { 3842100, 180100 }, { 3843100, 0 }, {},
};

static void said(struct kunit *test, const struct announced *row)
{
	struct nswap_ipt *t = test->priv;
	u64 epoch = 1 + (t->top ? t->entry[t->top].epoch : 0);

	/* another epoch each time: of that there is no habit */
	hear(t, 1, epoch, 100);
	for (; row->at; row++)
		KUNIT_EXPECT_EQ_MSG(test, hear(t, 1, epoch, row->at).after_ms, row->after,
				    "at %llu", row->at);
}

static void unusual(struct kunit *test)
{
	said(test, cuts);
	said(test, rare);
	said(test, twice);
	said(test, more);
	said(test, sooner);
	said(test, late);
}

/* a node that is new, or in another epoch, was not heard of before, and has no habit */
static void none_before(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_EQ(test, hear(t, 1, 11, 100).after_ms, 0ull);
	KUNIT_EXPECT_EQ(test, hear(t, 1, 11, 9100).after_ms, 0ull);
	KUNIT_EXPECT_EQ(test, hear(t, 1, 12, 99100).after_ms, 0ull);
}

/* of what this node did not look for nothing is said: of all peers, and only of that time */
static void not_looked(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	u64 now;
	u16 n;

	for (now = 100; now < 5000; now += 1000) {
		nswap_ipt_looks(t, now);
		for (n = 1; n < 4; n++)
			hear(t, n, 11, now);
	}
	/* held up for four seconds, the second time while it looks */
	for (now = 8100; now < 13000; now += 4000)
		for (n = 1; n < 4; n++) {
			nswap_ipt_looks(t, now + n);
			KUNIT_EXPECT_EQ(test, hear(t, n, 11, now + n).after_ms, 0ull);
		}
	for (now = 13100; now < 20100; now += 1000)
		nswap_ipt_looks(t, now);
	KUNIT_EXPECT_EQ(test, hear(t, 1, 11, 20100).after_ms, 7999ull);
}

static struct kunit_case ip_table_gap_cases[] = {
	KUNIT_CASE(unusual),
	KUNIT_CASE(none_before),
	KUNIT_CASE(not_looked),
	{}
};

static struct kunit_suite ip_table_gap_suite = {
	.name = "nswap_ip_table_gap",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_gap_cases,
};

kunit_test_suite(ip_table_gap_suite);
