// SPDX-License-Identifier: GPL-2.0
/* Size, owner: nothing while the owner is there, else as watermark; the common contract. */
#include "size_kunit.h"

#include "../../policy/size_owner.c"

static const struct size_row rows[] = {
	{ "there", SIZE_VIEW(90000, 20000), 0 },
	{ "there, nothing lent", SIZE_VIEW(90000, 0), 0 },
	{ "there: the least stays", SIZE_VIEW(90000, 20000, .least = 400), 400 },
	{ "away: grows", SIZE_VIEW(90000, 20000, .owner_away = true), 22000 },
	{ "away, nothing lent yet", SIZE_VIEW(90000, 0, .owner_away = true), 2000 },
	{ "away: headroom", SIZE_VIEW(15000, 20000, .owner_away = true), 0 },
	{ "away: no more than is lent",
	  SIZE_VIEW(90000, 59000, .owner_away = true, .most = 59500), 59500 },
};

KUNIT_ARRAY_PARAM(row, rows, size_row_desc);

static void decision(struct kunit *test)
{
	size_check_row(test, &nswap_size_owner_ops);
}

static void contract(struct kunit *test)
{
	size_check_contract(test, &nswap_size_owner_ops);
}

static struct kunit_case size_owner_cases[] = {
	KUNIT_CASE_PARAM(decision, row_gen_params),
	KUNIT_CASE(contract),
	{}
};

static struct kunit_suite size_owner_suite = {
	.name = "nswap_size_owner",
	.test_cases = size_owner_cases,
};

kunit_test_suite(size_owner_suite);
