// SPDX-License-Identifier: GPL-2.0
/* Shadow slot map: which chunks of slots are in use. */
#include <kunit/test.h>
#include <linux/kthread.h>

#include "pure/slot_map.h"

#define CHUNKS		4u
#define SLOTS		(CHUNKS * NSWAP_SLOT_CHUNK - 100)	/* the last one is short */
#define CLAIMS		200000

static const struct nswap_slot writing = { .state = NSWAP_SLOT_WRITING, .gen = 1 };

static int chunks_init(struct kunit *test)
{
	struct nswap_slot_map *map = kunit_kzalloc(test, sizeof(*map), GFP_KERNEL);

	test->priv = map;
	return map ? nswap_slot_map_init(map, SLOTS) : -ENOMEM;
}

static void chunks_exit(struct kunit *test)
{
	if (test->priv)
		nswap_slot_map_exit(test->priv);
}

static void change(struct kunit *test, u64 slot, struct nswap_slot to)
{
	struct nswap_slot_map *map = test->priv;

	KUNIT_ASSERT_TRUE(test, nswap_slot_move(map, slot, nswap_slot_read(map, slot), &to));
}

/* how many slots a walk from @first meets; fails if one of them is out of order */
static u64 met(struct kunit *test, u64 first)
{
	struct nswap_slot_map *map = test->priv;
	u64 slot, n = 0, last = first;

	nswap_for_each_slot(map, slot, first) {
		KUNIT_EXPECT_TRUE(test, n ? slot > last : slot >= first);
		last = slot;
		n++;
	}
	return n;
}

static void none_at_first(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;

	KUNIT_EXPECT_EQ(test, nswap_slot_map_next(map, 0), (u64)SLOTS);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_turn(map, NSWAP_SLOT_CHUNK - 1), 1ull);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_in_use(map), 0ull);
	KUNIT_EXPECT_EQ(test, met(test, 0), 0ull);
}

/* a walk meets the chunks in use, whole, and no other */
static void walk(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;

	change(test, NSWAP_SLOT_CHUNK + 7, writing);
	change(test, SLOTS - 1, writing);
	KUNIT_EXPECT_EQ(test, met(test, 0), 2ull * NSWAP_SLOT_CHUNK - 100);
	KUNIT_EXPECT_EQ(test, met(test, NSWAP_SLOT_CHUNK + 8), 2ull * NSWAP_SLOT_CHUNK - 108);
	KUNIT_EXPECT_EQ(test, met(test, SLOTS), 0ull);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_in_use(map), 2ull * NSWAP_SLOT_CHUNK);
	change(test, 3, writing);
	change(test, 2 * NSWAP_SLOT_CHUNK, writing);
	KUNIT_EXPECT_EQ(test, met(test, 0), (u64)SLOTS);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_in_use(map), (u64)SLOTS);
}

/* round and round, never slot 0 */
static void turn(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;

	change(test, 5, writing);
	change(test, SLOTS - 1, writing);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_turn(map, 0), 1ull);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_turn(map, NSWAP_SLOT_CHUNK - 1),
			3ull * NSWAP_SLOT_CHUNK);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_turn(map, SLOTS - 1), 1ull);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_turn(map, SLOTS + 40), 1ull);
}

static void tidy(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;
	const struct nswap_slot empty = { .gen = 1 };

	KUNIT_EXPECT_FALSE(test, nswap_slot_map_tidy(map, 0));
	change(test, 5, writing);
	change(test, 6, writing);
	change(test, SLOTS - 1, writing);
	change(test, 5, empty);
	KUNIT_EXPECT_FALSE(test, nswap_slot_map_tidy(map, 5));
	change(test, 6, empty);
	change(test, SLOTS - 1, empty);
	KUNIT_EXPECT_EQ(test, met(test, 0), 2ull * NSWAP_SLOT_CHUNK - 100);
	KUNIT_EXPECT_TRUE(test, nswap_slot_map_tidy(map, 5));
	KUNIT_EXPECT_FALSE(test, nswap_slot_map_tidy(map, 5));
	KUNIT_EXPECT_EQ(test, met(test, 0), (u64)NSWAP_SLOT_CHUNK - 100);
	KUNIT_EXPECT_TRUE(test, nswap_slot_map_tidy(map, SLOTS - 2));
	KUNIT_EXPECT_EQ(test, nswap_slot_map_in_use(map), 0ull);
	/* what was there is not forgotten */
	KUNIT_EXPECT_EQ(test, nswap_slot_unpack(nswap_slot_read(map, 5)).gen, 1u);
}

/* one step of the race of tidying and claiming: the claim comes after the look at the slot */
static void claimed_while_tidied(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;

	change(test, 5, writing);
	change(test, 5, (struct nswap_slot){ });
	atomic_set(&map->chunk[0], NSWAP_CHUNK_TIDIED);
	change(test, 6, writing);
	KUNIT_EXPECT_EQ(test, atomic_read(&map->chunk[0]), (int)NSWAP_CHUNK_USED);
	KUNIT_EXPECT_EQ(test, nswap_slot_map_in_use(map), (u64)NSWAP_SLOT_CHUNK);
}

static int tidies(void *map)
{
	while (!kthread_should_stop()) {
		nswap_slot_map_tidy(map, 0);
		cond_resched();
	}
	return 0;
}

/* a claimed slot's chunk is in use, even while another task tidies it */
static void tidied_meanwhile(struct kunit *test)
{
	struct nswap_slot_map *map = test->priv;
	struct task_struct *task = kthread_run(tidies, map, "nswap-tidies");
	unsigned long until = jiffies + 10 * HZ;
	unsigned int i, unused = 0, tidied = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < CLAIMS || (!tidied && time_before(jiffies, until)); i++) {
		tidied += !atomic_read(&map->chunk[0]);
		change(test, i % 2, writing);
		unused += nswap_slot_map_next(map, 0);
		change(test, i % 2, (struct nswap_slot){ });
		cond_resched();
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, unused, 0u);
	KUNIT_EXPECT_GT(test, tidied, 0u);
	KUNIT_EXPECT_EQ(test, atomic64_read(&map->nr_used),
			(s64)!!atomic_read(&map->chunk[0]));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(none_at_first),
	KUNIT_CASE(walk),
	KUNIT_CASE(turn),
	KUNIT_CASE(tidy),
	KUNIT_CASE(claimed_while_tidied),
	KUNIT_CASE(tidied_meanwhile),
	{}
};

static struct kunit_suite slot_chunks_suite = {
	.name = "nswap_slot_chunks",
	.init = chunks_init,
	.exit = chunks_exit,
	.test_cases = cases,
};

kunit_test_suite(slot_chunks_suite);
