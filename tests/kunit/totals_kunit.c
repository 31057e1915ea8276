// SPDX-License-Identifier: GPL-2.0
/* Totals of a node: encoding them, and believing those of others. */
#include <kunit/test.h>

#include "../../nswap/pure/totals.c"

static void fill(struct nswap_totals *t)
{
	u32 i;

	memset(t, 0, sizeof(*t));
	strscpy(t->software, "0.1.0", sizeof(t->software));
	t->nr = NSWAP_TOTAL_NR;
	for (i = 0; i < t->nr; i++)
		t->value[i] = 1000 + i;
}

/* the layout drawn in docs/protocol.md */
static void layout(struct kunit *test)
{
	struct nswap_wire_stat w;
	struct nswap_totals t;

	fill(&t);
	KUNIT_EXPECT_EQ(test, nswap_totals_put(&w, &t), 16 + 8 * 13);
	KUNIT_EXPECT_MEMEQ(test, &w, "0.1.0\0\0\0\0\0\0\0\0\0\0\0\xe8\x03\0\0\0\0\0\0\xe9", 25);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(w.total[12]), 1012);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(w.total[13]), 0);
}

static void back(struct kunit *test)
{
	struct nswap_totals t, got;
	struct nswap_wire_stat w;

	fill(&t);
	nswap_totals_put(&w, &t);
	KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, t.nr, &got), 0);
	KUNIT_EXPECT_MEMEQ(test, &t, &got, sizeof(t));
}

/* of another version: fewer are 0 and not told, more are not looked at */
static void other_numbers(struct kunit *test)
{
	struct nswap_totals t, got;
	struct nswap_wire_stat w;

	fill(&t);
	nswap_totals_put(&w, &t);
	KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, 2, &got), 0);
	KUNIT_EXPECT_EQ(test, got.nr, 2);
	KUNIT_EXPECT_EQ(test, got.value[1], 1001);
	KUNIT_EXPECT_EQ(test, got.value[2], 0);
	w.total[NSWAP_TOTAL_NR] = cpu_to_le64(U64_MAX);
	KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, NSWAP_WIRE_TOTALS, &got), 0);
	KUNIT_EXPECT_EQ(test, got.nr, NSWAP_TOTAL_NR);
}

static void too_large(struct kunit *test)
{
	struct nswap_totals t, got;
	struct nswap_wire_stat w;
	u32 i;

	for (i = 0; i < NSWAP_TOTAL_NR; i++) {
		fill(&t);
		t.value[i] = (1ull << 50) - 1;
		nswap_totals_put(&w, &t);
		KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, t.nr, &got), 0);
		w.total[i] = cpu_to_le64(1ull << 50);
		KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, t.nr, &got), -EPROTO);
	}
}

static void bad_software(struct kunit *test)
{
	static const char bad[][17] = {
		"", "0123456789abcdef", "0.1 0", "0.1\n", "0.1\x7f", "0.1\x80", "0.1\0x",
	};
	struct nswap_totals t, got;
	struct nswap_wire_stat w;
	u32 i;

	fill(&t);
	nswap_totals_put(&w, &t);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(w.software, bad[i], sizeof(w.software));
		KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, t.nr, &got), -EPROTO);
	}
	memcpy(w.software, "0123456789abcde", sizeof(w.software));
	KUNIT_EXPECT_EQ(test, nswap_totals_get(&w, t.nr, &got), 0);
	KUNIT_EXPECT_STREQ(test, got.software, "0123456789abcde");
}

static struct kunit_case totals_cases[] = {
	KUNIT_CASE(layout),
	KUNIT_CASE(back),
	KUNIT_CASE(other_numbers),
	KUNIT_CASE(too_large),
	KUNIT_CASE(bad_software),
	{}
};

static struct kunit_suite totals_suite = {
	.name = "nswap_totals",
	.test_cases = totals_cases,
};

kunit_test_suite(totals_suite);
