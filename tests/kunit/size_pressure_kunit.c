// SPDX-License-Identifier: GPL-2.0
/* Size, pressure: each sign, growth without one, the common contract. */
#include "size_kunit.h"

#include "../../policy/size_pressure.c"

static const struct size_row rows[] = {
	{ "no sign: grows", SIZE_VIEW(90000, 20000), 22000 },
	{ "no sign, nothing lent yet", SIZE_VIEW(90000, 0), 2000 },
	{ "reclaim asked", SIZE_VIEW(90000, 20000, .shrinker_calls = 1), 15000 },
	{ "programs wait", SIZE_VIEW(90000, 20000, .psi = 500), 15000 },
	{ "programs wait a little", SIZE_VIEW(90000, 20000, .psi = 499), 22000 },
	{ "swaps", SIZE_VIEW(90000, 20000, .swap_outs = 13), 15000 },
	{ "swaps a page or two", SIZE_VIEW(90000, 20000, .swap_outs = 12), 22000 },
	{ "refaults", SIZE_VIEW(90000, 20000, .refaults = 500), 15000 },
	{ "refaults now and then", SIZE_VIEW(90000, 20000, .refaults = 9), 22000 },
	{ "as many in a tenth of the time",
	  SIZE_VIEW(90000, 20000, .refaults = 9, .elapsed_ms = 100), 15000 },
	{ "all at once", SIZE_VIEW(90000, 20000, .psi = 9000, .swap_outs = 9999,
				   .refaults = 9999, .shrinker_calls = 9), 15000 },
	{ "a sign with nothing lent", SIZE_VIEW(90000, 0, .psi = 9000), 0 },
	{ "the last pages go as well", SIZE_VIEW(90000, 4, .psi = 9000), 3 },
	{ "and the very last", SIZE_VIEW(90000, 1, .psi = 9000), 0 },
	{ "down to the least",
	  SIZE_VIEW(90000, 500, .psi = 9000, .least = 400), 400 },
	{ "what is not there is not lent",
	  SIZE_VIEW(8000, 20000, .allocated = 5000), 8000 },
	{ "a 20th stays", SIZE_VIEW(4000, 20000), 0 },
	{ "headroom does not matter",
	  SIZE_VIEW(90000, 20000, .headroom_pct = 100), 22000 },
};

KUNIT_ARRAY_PARAM(row, rows, size_row_desc);

static void decision(struct kunit *test)
{
	size_check_row(test, &nswap_size_pressure_ops);
}

static void contract(struct kunit *test)
{
	size_check_contract(test, &nswap_size_pressure_ops);
}

static struct kunit_case size_pressure_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite size_pressure_suite = {
	.name = "nswap_size_pressure",
	.test_cases = size_pressure_cases,
};

kunit_test_suite(size_pressure_suite);
