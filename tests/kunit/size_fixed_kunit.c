// SPDX-License-Identifier: GPL-2.0
/* Size, fixed: what the user lends, and the common contract. */
#include "size_kunit.h"

#include "../../policy/size_fixed.c"

static const struct size_row rows[] = {
	{ "as lent", SIZE_VIEW(90000, 60000), 60000 },
	{ "lent more", SIZE_VIEW(90000, 100), 60000 },
	{ "lent less", SIZE_VIEW(90000, 60000, .most = 5), 5 },
	{ "no memory left", SIZE_VIEW(0, 60000, .shrinker_calls = 9), 60000 },
	{ "nothing lent", SIZE_VIEW(90000, 0, .most = 0, .least = 7), 0 },
};

KUNIT_ARRAY_PARAM(row, rows, size_row_desc);

static void decision(struct kunit *test)
{
	size_check_row(test, &nswap_size_fixed_ops);
}

static void contract(struct kunit *test)
{
	size_check_contract(test, &nswap_size_fixed_ops);
}

static struct kunit_case size_fixed_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite size_fixed_suite = {
	.name = "nswap_size_fixed",
	.test_cases = size_fixed_cases,
};

kunit_test_suite(size_fixed_suite);
