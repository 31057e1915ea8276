// SPDX-License-Identifier: GPL-2.0
/* Flash map: order, holes, chunks being discarded, a random walk, a closed map. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/pure/flash_map.c"

#define CHUNK	NSWAP_FLASH_CHUNK
#define NR	(4 * CHUNK)

static struct nswap_flash_map *new_map(struct kunit *test)
{
	struct nswap_flash_map *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_ASSERT_EQ(test, nswap_flash_map_init(m, NR + 3), 0);
	KUNIT_EXPECT_EQ(test, m->nr, NR);
	return m;
}

static void take_all(struct kunit *test, struct nswap_flash_map *m)
{
	u32 first, n, total = 0;

	while ((n = nswap_flash_map_take(m, 32, &first)))
		total += n;
	KUNIT_EXPECT_EQ(test, total, NR);
	KUNIT_EXPECT_EQ(test, m->used, NR);
}

static void put_range(struct nswap_flash_map *m, u32 first, u32 nr)
{
	while (nr--)
		nswap_flash_map_put(m, first++);
}

static void in_order(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 first, next = 0, n;

	while (next < NR) {
		n = nswap_flash_map_take(m, 24, &first);
		KUNIT_ASSERT_GT(test, n, 0);
		KUNIT_ASSERT_EQ(test, first, next);
		next += n;
		/* a run ends at the end of a chunk */
		KUNIT_EXPECT_TRUE(test, n == 24 || !(next % CHUNK));
	}
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 1, &first), 0);
	nswap_flash_map_exit(m);
}

static void empty_chunks_before_holes(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 first;

	take_all(test, m);
	put_range(m, 10, 5);
	put_range(m, 2 * CHUNK, CHUNK);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 32, &first), 32);
	KUNIT_EXPECT_EQ(test, first, 2 * CHUNK);
	while (m->used < NR - 5)
		nswap_flash_map_take(m, 32, &first);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 32, &first), 5);
	KUNIT_EXPECT_EQ(test, first, 10);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 32, &first), 0);
	nswap_flash_map_exit(m);
}

static void around_and_around(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 first, i, n, last = NR - 1;

	/* one page at a time, freed at once: every slot is used in turn */
	for (i = 0; i < 3 * NR; i++) {
		n = nswap_flash_map_take(m, 1, &first);
		KUNIT_ASSERT_EQ(test, n, 1);
		KUNIT_ASSERT_EQ(test, first, (last + 1) % NR);
		last = first;
		nswap_flash_map_put(m, first);
	}
	nswap_flash_map_exit(m);
}

static void discards(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 chunk, first, n, total = 0;

	KUNIT_EXPECT_FALSE(test, nswap_flash_map_trim(m, &chunk));
	take_all(test, m);
	put_range(m, CHUNK, CHUNK - 1);
	KUNIT_EXPECT_FALSE(test, nswap_flash_map_trim(m, &chunk));
	KUNIT_EXPECT_TRUE(test, nswap_flash_map_put(m, 2 * CHUNK - 1));
	KUNIT_EXPECT_TRUE(test, nswap_flash_map_trim(m, &chunk));
	KUNIT_EXPECT_EQ(test, chunk, 1);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 32, &first), 0);
	KUNIT_EXPECT_FALSE(test, nswap_flash_map_trim(m, &chunk));
	nswap_flash_map_trimmed(m, 1);
	while ((n = nswap_flash_map_take(m, 32, &first)))
		total += n;
	KUNIT_EXPECT_EQ(test, total, CHUNK);
	nswap_flash_map_exit(m);
}

static void open_chunk_is_not_discarded(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 chunk, first, n;

	n = nswap_flash_map_take(m, 8, &first);
	put_range(m, first, n);
	KUNIT_EXPECT_FALSE(test, nswap_flash_map_trim(m, &chunk));
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 1, &first), 1);
	KUNIT_EXPECT_EQ(test, first, 8);
	nswap_flash_map_exit(m);
}

/* compare with the simplest possible map */
static void random_walk(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u8 *taken = kunit_kzalloc(test, NR, GFP_KERNEL);
	u32 i, n, first, chunk, used = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, taken);
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 200000; i++) {
		u32 r = prandom_u32_state(&rnd);

		if (r % 64 == 0 && nswap_flash_map_trim(m, &chunk)) {
			n = nswap_flash_map_take(m, 32, &first);
			KUNIT_ASSERT_TRUE(test, !n || first / CHUNK != chunk);
			put_range(m, first, n);
			nswap_flash_map_trimmed(m, chunk);
		} else if (r % 33 == 0) {
			n = nswap_flash_map_take(m, r % 32 + 1, &first);
			KUNIT_ASSERT_TRUE(test, n || used == NR);
			for (used += n; n--; first++) {
				KUNIT_ASSERT_EQ(test, taken[first], 0);
				taken[first] = 1;
			}
		} else if (taken[r % NR]) {
			taken[r % NR] = 0;
			nswap_flash_map_put(m, r % NR);
			used--;
		}
		KUNIT_ASSERT_EQ(test, m->used, used);
	}
	nswap_flash_map_exit(m);
}

/* closed: nothing is allocated, the used count only falls; opened, it works again */
static void closed(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 first;

	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 32, &first), 32);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_close(m, true), 32);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 1, &first), 0);
	put_range(m, 0, 32);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_close(m, true), 0);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_take(m, 1, &first), 0);
	KUNIT_EXPECT_EQ(test, nswap_flash_map_close(m, false), 0);
	take_all(test, m);
	nswap_flash_map_exit(m);
}

/* each dropped copy is counted, those of a closed map once it is opened */
static void given_up(struct kunit *test)
{
	struct nswap_flash_map *m = new_map(test);
	u32 before = m->given_up;

	nswap_flash_map_give_up(m);
	KUNIT_EXPECT_EQ(test, m->given_up, before + 1);
	nswap_flash_map_close(m, true);
	nswap_flash_map_close(m, true);
	nswap_flash_map_give_up(m);
	KUNIT_EXPECT_EQ(test, m->given_up, before + 1);
	nswap_flash_map_close(m, false);
	KUNIT_EXPECT_EQ(test, m->given_up, before + 2);
	nswap_flash_map_close(m, false);
	KUNIT_EXPECT_EQ(test, m->given_up, before + 2);
	nswap_flash_map_exit(m);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(empty_chunks_before_holes),
	KUNIT_CASE(around_and_around),
	KUNIT_CASE(discards),
	KUNIT_CASE(open_chunk_is_not_discarded),
	KUNIT_CASE(random_walk),
	KUNIT_CASE(closed),
	KUNIT_CASE(given_up),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_flash_map",
	.test_cases = cases,
};

kunit_test_suite(suite);
