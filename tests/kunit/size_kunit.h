/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of all size policies: table-driven views of a machine
 * of 100 000 pages, and the contract that holds for any of them.
 */
#ifndef NSWAP_SIZE_KUNIT_H
#define NSWAP_SIZE_KUNIT_H

#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../policy/policy.h"

#define SIZE_TOTAL	100000ull

/**
 * struct size_row - one decision
 * @desc: what it shows
 * @view: snapshot
 * @want: pages to lend
 */
struct size_row {
	const char *desc;
	struct nswap_size_view view;
	u64 want;
};

/* one second later on a machine with @a pages available, of which @t are lent */
#define SIZE_VIEW(a, t, ...) \
	{ .total = SIZE_TOTAL, .available = a, .target = t, .most = 60000, \
	  .headroom_pct = 15, .grow_pct = 2, .elapsed_ms = 1000, ##__VA_ARGS__ }

static inline void size_row_desc(const struct size_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

static inline void size_check_row(struct kunit *test,
				  const struct nswap_size_ops *ops)
{
	const struct size_row *r = test->param_value;

	KUNIT_EXPECT_EQ(test, ops->lend(&r->view), r->want);
}

/* any view: never above what the user lends, never below the minimum */
static inline void size_check_contract(struct kunit *test,
				       const struct nswap_size_ops *ops)
{
	struct nswap_size_view v;
	struct rnd_state rnd;
	unsigned int round;

	prandom_seed_state(&rnd, 4);
	for (round = 0; round < 20000; round++) {
		u64 pages;

		prandom_bytes_state(&rnd, &v, sizeof(v));
		v.total >>= 24;
		v.available >>= 24 + round % 8;
		v.allocated >>= 24 + round % 16;
		v.target >>= 24 + round % 32;
		v.most >>= 24;
		v.least >>= 24 + round % 8;
		v.swap_outs >>= 32 + round % 32;
		v.refaults >>= 32 + round % 32;
		v.shrinker_calls = round % 3 == 0;
		v.headroom_pct %= 101;
		v.grow_pct = 1 + v.grow_pct % 100;
		v.elapsed_ms = 1 + v.elapsed_ms % 120000;
		pages = ops->lend(&v);
		KUNIT_ASSERT_LE(test, pages, v.most);
		KUNIT_ASSERT_GE(test, pages, min(v.least, v.most));
	}
}

#endif
