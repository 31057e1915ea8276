// SPDX-License-Identifier: GPL-2.0
/* Chunks: what is taken of a page, where, and that all of it comes back. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/pure/chunks.c"

/* one after the other, until nothing more fits; put back, it is room for one thing */
static void fills_up(struct kunit *test)
{
	struct nswap_chunks m = {};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 64u);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 20), (int)(20 * i));
	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 4u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 5), -1);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 4), 60);
	KUNIT_EXPECT_EQ(test, m.used, U64_MAX);
	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 0u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 1), -1);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 20), 20u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 20), 0u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 21), 0u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 60), 4u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 20u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 40), 20u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 44u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 0), 20u);
	KUNIT_EXPECT_EQ(test, m.used | m.first, 0ull);
}

/* the shortest run that is long enough, wherever it lies */
static void best_fit(struct kunit *test)
{
	struct nswap_chunks m = {
		.used = ~(0xffull << 4 | 0x7ull << 20 | 0xfull << 60), .first = 1,
	};

	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 8u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 3), 20);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 3), 60);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 3), 4);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 6), -1);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 5), 7);
	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 1), 63);
	KUNIT_EXPECT_EQ(test, m.used, U64_MAX);
}

/* the largest and the smallest things there are */
static void bounds(struct kunit *test)
{
	struct nswap_chunks m = {};
	int i;

	KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 64), 0);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 64), 0u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, 0), 64u);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, nswap_chunks_take(&m, 1), i);
	KUNIT_EXPECT_EQ(test, m.first, U64_MAX);
	for (i = 63; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, nswap_chunks_put(&m, i), 1u);
	KUNIT_EXPECT_EQ(test, nswap_chunks_room(&m), 64u);
}

/* at random, against what lies where unit by unit */
static void at_random(struct kunit *test)
{
	u8 of[64] = {}, longest, run, round_of;
	struct nswap_chunks m = {};
	unsigned int round, i;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 7);
	for (round = 0; round < 20000; round++) {
		u32 r = prandom_u32_state(&rnd);
		unsigned int n = 1 + (r >> 8) % 24, at = r % 64;
		int got;

		if (r >> 31) {
			n = nswap_chunks_put(&m, at);
			for (round_of = of[at], i = at; n; i++, n--) {
				KUNIT_ASSERT_EQ(test, of[i], round_of);
				of[i] = 0;
			}
		} else {
			got = nswap_chunks_take(&m, n);
			for (i = 0; got >= 0 && i < n; i++) {
				KUNIT_ASSERT_EQ(test, of[got + i], 0);
				of[got + i] = 1 + round % 255;
			}
		}
		for (longest = run = i = 0; i < 64; i++) {
			run = of[i] ? 0 : run + 1;
			longest = max(longest, run);
			KUNIT_ASSERT_EQ(test, m.used >> i & 1, (u64)!!of[i]);
		}
		KUNIT_ASSERT_EQ(test, nswap_chunks_room(&m), (unsigned int)longest);
	}
}

static struct kunit_case chunks_cases[] = {
	KUNIT_CASE(fills_up),
	KUNIT_CASE(best_fit),
	KUNIT_CASE(bounds),
	KUNIT_CASE(at_random),
	{}
};

static struct kunit_suite chunks_suite = {
	.name = "nswap_chunks",
	.test_cases = chunks_cases,
};

kunit_test_suite(chunks_suite);
