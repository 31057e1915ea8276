// SPDX-License-Identifier: GPL-2.0
/* The tables of policies: what is accepted, found and listed. */
#include <kunit/test.h>

#include "../../policy/policy.c"

static int nobody(const struct nswap_place_view *view, unsigned int pages)
{
	return -1;
}

struct table {
	const char *desc;
	struct nswap_place_ops ops;
	bool good;
};

static const struct table tables[] = {
	{ "complete", { "mine", "help", nobody }, true },
	{ "longest name", { "nineteen-letters-ok", "help", nobody }, true },
	{ "no name", { NULL, "help", nobody }, false },
	{ "empty name", { "", "help", nobody }, false },
	{ "name too long", { "twenty-letters-is-it", "help", nobody }, false },
	{ "no help", { "mine", NULL, nobody }, false },
	{ "no pick", { "mine", "help", NULL }, false },
};

static void table_desc(const struct table *t, char *desc)
{
	strscpy(desc, t->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(table, tables, table_desc);

static void validated(struct kunit *test)
{
	const struct table *t = test->param_value;
	const struct nswap_place_ops *good = &nswap_place_rr_ops;
	const struct nswap_place_ops *table[] = { good, &t->ops };

	KUNIT_EXPECT_EQ(test, place_validate(table, 2), t->good ? 0 : -EINVAL);
}

static void table_as_a_whole(struct kunit *test)
{
	const struct nswap_place_ops *twice[] = {
		&nswap_place_rr_ops, &nswap_place_rr_ops,
	};
	const struct nswap_place_ops *hole[] = { &nswap_place_rr_ops, NULL };

	KUNIT_EXPECT_EQ(test, place_validate(twice, 1), 0);
	KUNIT_EXPECT_EQ(test, place_validate(twice, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, place_validate(hole, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, place_validate(twice, 0), -EINVAL);
}

static void ours_are_valid(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_policy_validate(), 0);
}

static void found_by_name(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_find("most-free"),
			    &nswap_place_most_free_ops);
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_find("round-robin"),
			    &nswap_place_rr_ops);
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_find("two-choices"),
			    &nswap_place_two_choices_ops);
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_find("latency"),
			    &nswap_place_latency_ops);
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_find("burst"),
			    &nswap_place_burst_ops);
	KUNIT_EXPECT_NULL(test, nswap_place_find("round"));
	KUNIT_EXPECT_NULL(test, nswap_place_find(""));
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_default(),
			    &nswap_place_most_free_ops);
}

static void listed(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_nth(0), nswap_place_default());
	KUNIT_EXPECT_PTR_EQ(test, nswap_place_nth(1), &nswap_place_rr_ops);
	KUNIT_EXPECT_NULL(test, nswap_place_nth(ARRAY_SIZE(place_policies)));
	KUNIT_EXPECT_NULL(test, nswap_place_nth(UINT_MAX));
}

static u64 nothing(const struct nswap_size_view *view)
{
	return 0;
}

struct size_table {
	const char *desc;
	struct nswap_size_ops ops;
	bool good;
};

static const struct size_table size_tables[] = {
	{ "complete", { "mine", "help", true, nothing }, true },
	{ "longest name", { "nineteen-letters-ok", "help", true, nothing }, true },
	{ "no name", { NULL, "help", true, nothing }, false },
	{ "empty name", { "", "help", true, nothing }, false },
	{ "name too long", { "twenty-letters-is-it", "help", true, nothing }, false },
	{ "no help", { "mine", NULL, true, nothing }, false },
	{ "no lend", { "mine", "help", true, NULL }, false },
	{ "a name twice", { "fixed", "help", true, nothing }, false },
};

static void size_table_desc(const struct size_table *t, char *desc)
{
	strscpy(desc, t->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(size_table, size_tables, size_table_desc);

static void size_validated(struct kunit *test)
{
	const struct size_table *t = test->param_value;
	const struct nswap_size_ops *table[] = { &nswap_size_fixed_ops, &t->ops };

	KUNIT_EXPECT_EQ(test, size_validate(table, 2), t->good ? 0 : -EINVAL);
	KUNIT_EXPECT_EQ(test, size_validate(table, 0), -EINVAL);
	table[1] = NULL;
	KUNIT_EXPECT_EQ(test, size_validate(table, 2), -EINVAL);
}

static void size_found_and_listed(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, nswap_size_find("watermark"),
			    &nswap_size_watermark_ops);
	KUNIT_EXPECT_NULL(test, nswap_size_find("water"));
	KUNIT_EXPECT_PTR_EQ(test, nswap_size_default(), &nswap_size_fixed_ops);
	KUNIT_EXPECT_PTR_EQ(test, nswap_size_nth(0), &nswap_size_fixed_ops);
	KUNIT_EXPECT_NULL(test, nswap_size_nth(ARRAY_SIZE(size_policies)));
}

static void read_found_and_listed(struct kunit *test)
{
	const struct nswap_read_ops *twice[] = {
		&nswap_read_fastest_ops, &nswap_read_fastest_ops,
	};

	KUNIT_EXPECT_EQ(test, read_validate(twice, 1), 0);
	KUNIT_EXPECT_EQ(test, read_validate(twice, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_validate(twice, 0), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, nswap_read_find("least-loaded"),
			    &nswap_read_least_ops);
	KUNIT_EXPECT_NULL(test, nswap_read_find("least"));
	KUNIT_EXPECT_PTR_EQ(test, nswap_read_default(),
			    &nswap_read_prefetched_ops);
	KUNIT_EXPECT_NULL(test, nswap_read_nth(ARRAY_SIZE(read_policies)));
}

/* what a user is told who asks for a policy that is not there */
static void named_in_one_line(struct kunit *test)
{
	char buf[NSWAP_POLICY_LIST], small[8];

	KUNIT_EXPECT_STREQ(test, nswap_size_names(&nswap_size_watermark_ops,
						  buf, sizeof(buf)),
			   "fixed [watermark] pressure");
	KUNIT_EXPECT_STREQ(test, nswap_place_names(&nswap_place_most_free_ops,
						   buf, sizeof(buf)),
			   "[most-free] round-robin two-choices latency burst");
	KUNIT_EXPECT_STREQ(test, nswap_read_names(&nswap_read_prefetched_ops,
						  buf, sizeof(buf)),
			   "[prefetched-first] fastest least-loaded soonest");
	KUNIT_EXPECT_STREQ(test, nswap_size_names(NULL, small, sizeof(small)),
			   "fixed w");
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE_PARAM(validated, table_gen_params),
	KUNIT_CASE(table_as_a_whole),
	KUNIT_CASE(ours_are_valid),
	KUNIT_CASE(found_by_name),
	KUNIT_CASE(listed),
	KUNIT_CASE_PARAM(size_validated, size_table_gen_params),
	KUNIT_CASE(size_found_and_listed),
	KUNIT_CASE(read_found_and_listed),
	KUNIT_CASE(named_in_one_line),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "nswap_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
