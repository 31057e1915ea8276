/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of all placement policies: table-driven views, and the
 * contract that holds for any of them. Example for a new policy: place_rr_kunit.c.
 */
#ifndef NSWAP_PLACE_KUNIT_H
#define NSWAP_PLACE_KUNIT_H

#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../policy/policy.h"

#define PLACE_ROW_PEERS	5

/**
 * struct place_row - one decision
 * @desc: what it shows
 * @peer: candidates, up to the first without an index
 * @last: index chosen last time
 * @pages: pages to place, 1 if 0
 * @random: random number of this decision
 * @want: index of the right choice, 0 for none
 */
struct place_row {
	const char *desc;
	struct nswap_place_peer peer[PLACE_ROW_PEERS];
	u16 last;
	unsigned int pages;
	u32 random;
	u16 want;
};

/*
 * a usable candidate, one not eligible, one without grants, one resting, one
 * shrinking, one that does not answer
 */
#define GOOD(i, f) \
	{ .index = i, .eligible = true, .grants = 64, .free = f, .lent = 1000 }
#define OUT(i, f) \
	{ .index = i, .eligible = false, .grants = 64, .free = f, .lent = 1000 }
#define DRY(i, f) \
	{ .index = i, .eligible = true, .grants = 0, .free = f, .lent = 1000 }
#define REST(i, f) \
	{ .index = i, .eligible = true, .resting = true, .grants = 64, \
	  .free = f, .lent = 1000 }

#define SHRINK(i, f) \
	{ .index = i, .eligible = true, .shrinking = true, .grants = 64, \
	  .free = f, .lent = 1000 }

#define WAIT(i, f) \
	{ .index = i, .eligible = true, .busy = true, .grants = 64, \
	  .free = f, .lent = 1000 }

static inline void place_row_desc(const struct place_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

/* index of the peer chosen, 0 for none */
static inline u16 place_pick(struct kunit *test,
			     const struct nswap_place_ops *ops,
			     const struct nswap_place_view *view,
			     unsigned int pages)
{
	int at = ops->pick(view, pages);

	if (at == -1)
		return 0;
	KUNIT_ASSERT_GE(test, at, 0);
	KUNIT_ASSERT_LT(test, at, (int)view->nr);
	return view->peer[at].index;
}

static inline void place_check_row(struct kunit *test,
				   const struct nswap_place_ops *ops)
{
	const struct place_row *r = test->param_value;
	struct nswap_place_view view = {
		.peer = r->peer, .last = r->last, .random = r->random,
	};

	while (view.nr < PLACE_ROW_PEERS && r->peer[view.nr].index)
		view.nr++;
	KUNIT_EXPECT_EQ(test, place_pick(test, ops, &view, r->pages ?: 1),
			r->want);
}

/* is a peer with older copies of a page as good as the one that was picked? */
static inline bool place_as_good(const struct nswap_place_ops *ops,
				 struct nswap_place_peer old,
				 struct nswap_place_peer picked)
{
	return !ops->as_good || ops->as_good(&old, &picked, 1);
}

/*
 * Any view: a usable candidate is chosen, and none only if none is usable; each is as
 * good as itself.
 */
static inline void place_check_contract(struct kunit *test,
					const struct nswap_place_ops *ops)
{
	struct nswap_place_peer peer[16];
	struct nswap_place_view view = { .peer = peer };
	struct rnd_state rnd;
	unsigned int i, round;

	prandom_seed_state(&rnd, 2);
	for (round = 0; round < 20000; round++) {
		unsigned int index = 0, usable = 0, pages;
		int at;

		view.nr = prandom_u32_state(&rnd) % (ARRAY_SIZE(peer) + 1);
		for (i = 0; i < view.nr; i++) {
			index += 1 + prandom_u32_state(&rnd) % 60;
			peer[i] = (struct nswap_place_peer){
				.index = index,
				.eligible = prandom_u32_state(&rnd) % 3,
				.resting = prandom_u32_state(&rnd) % 4 == 0,
				.shrinking = prandom_u32_state(&rnd) % 4 == 0,
				.busy = prandom_u32_state(&rnd) % 4 == 0,
				.grants = prandom_u32_state(&rnd) % 3,
				.free = prandom_u32_state(&rnd) % 4,
				.lent = 4,
				.inflight = prandom_u32_state(&rnd) % 33,
				.store_ns = prandom_u32_state(&rnd) % 4 *
					    (1ull << prandom_u32_state(&rnd) %
						     64),
			};
			usable += nswap_place_usable(&peer[i]);
		}
		view.last = prandom_u32_state(&rnd) % (NSWAP_MAX_PEERS + 1);
		view.random = prandom_u32_state(&rnd);
		pages = 1 + prandom_u32_state(&rnd) % NSWAP_REQ_SLOTS;
		at = ops->pick(&view, pages);
		if (!usable) {
			KUNIT_ASSERT_EQ(test, at, -1);
			continue;
		}
		KUNIT_ASSERT_GE(test, at, 0);
		KUNIT_ASSERT_LT(test, at, (int)view.nr);
		KUNIT_ASSERT_TRUE(test, nswap_place_usable(&peer[at]));
		KUNIT_ASSERT_TRUE(test, place_as_good(ops, peer[at], peer[at]));
	}
}

#endif
