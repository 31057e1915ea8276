// SPDX-License-Identifier: GPL-2.0
/*
 * Tally of a peer: no grant is spent twice or lost, whatever its fields come to; between
 * sessions nothing has an effect; two processors at once lose none.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/sched.h>

#include "../../nswap/pure/tally.h"

#define TALLY_ROUNDS	20000
#define TALLY_TASKS	3
#define TALLY_GRANTED	64u

static void tally_is(struct kunit *test, const atomic64_t *word, u32 grants, u32 pages,
		     u32 messages)
{
	struct nswap_tally t = nswap_tally_look(word);

	KUNIT_EXPECT_EQ(test, t.grants, grants);
	KUNIT_EXPECT_EQ(test, t.pages, pages);
	KUNIT_EXPECT_EQ(test, t.messages, messages);
}

static void tally_spends_and_ends(struct kunit *test)
{
	atomic64_t word = ATOMIC64_INIT(0);

	nswap_tally_open(&word, 10);
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 8), 8u);
	tally_is(test, &word, 2, 8, 1);
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 3, 3), 0u);
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 3), 2u);
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 1), 0u);
	tally_is(test, &word, 0, 10, 2);
	KUNIT_EXPECT_TRUE(test, nswap_tally_begin(&word, 5));
	tally_is(test, &word, 0, 15, 3);
	nswap_tally_end(&word, 8, 4);
	tally_is(test, &word, 4, 7, 2);
	nswap_tally_end(&word, 0, 6);
	tally_is(test, &word, 10, 7, 2);
	nswap_tally_end(&word, 2, 0);
	nswap_tally_end(&word, 5, 0);
	tally_is(test, &word, 10, 0, 0);
}

static void tally_takes_back_when_idle(struct kunit *test)
{
	atomic64_t word = ATOMIC64_INIT(0);

	nswap_tally_open(&word, 10);
	KUNIT_EXPECT_EQ(test, nswap_tally_take_back(&word, 10), 0u);
	KUNIT_EXPECT_EQ(test, nswap_tally_take_back(&word, 4), 6u);
	nswap_tally_spend(&word, 1, 1);
	KUNIT_EXPECT_EQ(test, nswap_tally_take_back(&word, 0), 0u);
	nswap_tally_end(&word, 1, 0);
	KUNIT_EXPECT_EQ(test, nswap_tally_take_back(&word, 0), 3u);
	tally_is(test, &word, 0, 0, 0);
}

static void tally_shut_has_nothing(struct kunit *test)
{
	atomic64_t word = ATOMIC64_INIT(0);

	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 1), 0u);
	KUNIT_EXPECT_FALSE(test, nswap_tally_begin(&word, 1));
	nswap_tally_open(&word, 9);
	nswap_tally_spend(&word, 1, 4);
	nswap_tally_shut(&word);
	nswap_tally_end(&word, 4, 7);
	KUNIT_EXPECT_EQ(test, nswap_tally_take_back(&word, 0), 0u);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&word), 0ull);
	nswap_tally_open(&word, 3);
	tally_is(test, &word, 3, 0, 0);
}

/* one field at its limit leaves the others as they are */
static void tally_keeps_within_fields(struct kunit *test)
{
	struct nswap_tally full = {
		.grants = NSWAP_TALLY_GRANTS_MAX, .pages = NSWAP_TALLY_PAGES_MAX,
		.messages = NSWAP_TALLY_MESSAGES_MAX, .open = true,
	}, t;
	atomic64_t word = ATOMIC64_INIT(0);

	nswap_tally_open(&word, U32_MAX);
	tally_is(test, &word, NSWAP_TALLY_GRANTS_MAX, 0, 0);
	nswap_tally_end(&word, 0, U32_MAX);
	tally_is(test, &word, NSWAP_TALLY_GRANTS_MAX, 0, 0);
	/* more than there are: an older session's */
	nswap_tally_end(&word, 7, 0);
	tally_is(test, &word, NSWAP_TALLY_GRANTS_MAX, 0, 0);

	atomic64_set(&word, nswap_tally_pack(&full));
	t = nswap_tally_look(&word);
	KUNIT_EXPECT_MEMEQ(test, &t, &full, sizeof(t));
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 1), 0u);
	KUNIT_EXPECT_FALSE(test, nswap_tally_begin(&word, 1));
	full.pages -= 3;
	full.messages--;
	atomic64_set(&word, nswap_tally_pack(&full));
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 4), 0u);
	KUNIT_EXPECT_EQ(test, nswap_tally_spend(&word, 1, 3), 3u);
	tally_is(test, &word, NSWAP_TALLY_GRANTS_MAX - 3, NSWAP_TALLY_PAGES_MAX,
		 NSWAP_TALLY_MESSAGES_MAX);
}

/* any order of any operations: what is there is what was given less what was spent */
static void tally_adds_up(struct kunit *test)
{
	u32 grants = 20, pages = 0, sent[64], n = 0, round;
	atomic64_t word = ATOMIC64_INIT(0);
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 11);
	nswap_tally_open(&word, grants);
	for (round = 0; round < TALLY_ROUNDS; round++) {
		u32 what = prandom_u32_state(&rnd) % 4;
		u32 many = 1 + prandom_u32_state(&rnd) % 32;
		u32 got;

		if (what < 2 && n < ARRAY_SIZE(sent)) {
			got = nswap_tally_spend(&word, 1, many);
			KUNIT_ASSERT_EQ(test, got, min(many, grants));
			grants -= got;
			pages += got;
			if (got)
				sent[n++] = got;
		} else if (what == 2 && n) {
			pages -= sent[--n];
			grants += sent[n];
			nswap_tally_end(&word, sent[n], sent[n]);
		} else if (what == 3) {
			got = nswap_tally_take_back(&word, 16);
			KUNIT_ASSERT_EQ(test, got, n || grants < 16 ? 0 : grants - 16);
			grants -= got;
		}
		tally_is(test, &word, grants, pages, n);
	}
}

/**
 * struct tally_task - one of the tasks that spend and give at once
 * @word: the tally
 * @spent: grants it spent in all
 * @done: it has ended
 */
struct tally_task {
	atomic64_t *word;
	u64 spent;
	struct completion done;
};

static int tally_task(void *data)
{
	struct tally_task *t = data;
	unsigned int i;

	for (i = 0; i < TALLY_ROUNDS; i++) {
		u32 n = nswap_tally_spend(t->word, 1, 1 + i % 7);

		t->spent += n;
		if (i % 64 == 0)
			cond_resched();
		if (n)
			nswap_tally_end(t->word, n, n);
	}
	/* the module may be gone when it returns */
	kthread_complete_and_exit(&t->done, 0);
}

static void tally_by_many_tasks(struct kunit *test)
{
	struct tally_task tasks[TALLY_TASKS] = { };
	atomic64_t word = ATOMIC64_INIT(0);
	unsigned int i;

	nswap_tally_open(&word, TALLY_GRANTED);
	for (i = 0; i < TALLY_TASKS; i++) {
		tasks[i].word = &word;
		init_completion(&tasks[i].done);
		if (IS_ERR(kthread_run(tally_task, &tasks[i], "tally/%u", i)))
			complete(&tasks[i].done);
	}
	for (i = 0; i < TALLY_TASKS; i++)
		wait_for_completion(&tasks[i].done);
	tally_is(test, &word, TALLY_GRANTED, 0, 0);
	for (i = 0; i < TALLY_TASKS; i++)
		KUNIT_EXPECT_GT(test, tasks[i].spent, 0ull);
}

static struct kunit_case tally_cases[] = {
	KUNIT_CASE(tally_spends_and_ends),
	KUNIT_CASE(tally_takes_back_when_idle),
	KUNIT_CASE(tally_shut_has_nothing),
	KUNIT_CASE(tally_keeps_within_fields),
	KUNIT_CASE(tally_adds_up),
	KUNIT_CASE(tally_by_many_tasks),
	{}
};

static struct kunit_suite tally_suite = {
	.name = "nswap_tally",
	.test_cases = tally_cases,
};

kunit_test_suite(tally_suite);
