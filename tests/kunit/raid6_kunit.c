// SPDX-License-Identifier: GPL-2.0
/*
 * Two checks over a group: any two of its pages, or one and the first check, come back.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/base/raid6.c"

struct group {
	struct nswap_raid6 r;
	struct page *page[NSWAP_RAID6_PAGES];
	struct page *lost[2];
};

static struct page *raid6_page(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

static void group_free(struct group *g)
{
	unsigned int i;

	for (i = 0; i < NSWAP_RAID6_PAGES; i++)
		__free_page(g->page[i]);
	__free_page(g->lost[0]);
	__free_page(g->lost[1]);
	nswap_raid6_put(&g->r);
}

/* a group of @nr pages of noise, in an order that is not theirs */
static void group_make(struct kunit *test, struct group *g, unsigned int nr)
{
	struct rnd_state rnd;
	unsigned int i;

	*g = (struct group){ };
	KUNIT_ASSERT_TRUE(test, nswap_raid6_get(&g->r));
	prandom_seed_state(&rnd, nr);
	for (i = 0; i < NSWAP_RAID6_PAGES; i++)
		g->page[i] = raid6_page(test);
	g->lost[0] = raid6_page(test);
	g->lost[1] = raid6_page(test);
	for (i = nr; i--; ) {
		prandom_bytes_state(&rnd, page_address(g->page[i]), PAGE_SIZE);
		nswap_raid6_add(&g->r, i, g->page[i], g->page[NSWAP_RAID6_P],
				g->page[NSWAP_RAID6_Q]);
	}
}

/* @a and @b of a group of @nr are lost: they come back, all of the page */
static void group_lose(struct kunit *test, struct group *g, unsigned int nr,
		       unsigned int a, unsigned int b)
{
	struct page *page[NSWAP_RAID6_PAGES] = { };
	unsigned int i;

	for (i = 0; i < NSWAP_RAID6_PAGES; i++)
		if (i < nr || i >= NSWAP_RAID6_P)
			page[i] = g->page[i];
	page[a] = g->lost[0];
	page[b] = g->lost[1];
	memset(page_address(g->lost[0]), 0xa5, PAGE_SIZE);
	memset(page_address(g->lost[1]), 0x5a, PAGE_SIZE);
	nswap_raid6_solve(&g->r, page, a, b);
	KUNIT_EXPECT_MEMEQ(test, page_address(g->lost[0]), page_address(g->page[a]),
			   PAGE_SIZE);
	if (b != NSWAP_RAID6_P)
		KUNIT_EXPECT_MEMEQ(test, page_address(g->lost[1]),
				   page_address(g->page[b]), PAGE_SIZE);
}

static void each_pair(struct kunit *test)
{
	unsigned int nr, a, b;
	struct group g;

	for (nr = 2; nr <= NSWAP_RAID6_DATA; nr++) {
		group_make(test, &g, nr);
		for (a = 0; a < nr; a++)
			for (b = 0; b < nr; b++)
				if (a != b)
					group_lose(test, &g, nr, a, b);
		group_free(&g);
	}
}

static void page_and_check(struct kunit *test)
{
	unsigned int nr, a;
	struct group g;

	for (nr = 1; nr <= NSWAP_RAID6_DATA; nr++) {
		group_make(test, &g, nr);
		for (a = 0; a < nr; a++)
			group_lose(test, &g, nr, a, NSWAP_RAID6_P);
		group_free(&g);
	}
}

/* what was not held is put without harm, and it can be held again */
static void held_and_put(struct kunit *test)
{
	struct nswap_raid6 r = { };

	nswap_raid6_put(&r);
	KUNIT_ASSERT_TRUE(test, nswap_raid6_there());
	KUNIT_ASSERT_TRUE(test, nswap_raid6_get(&r));
	nswap_raid6_put(&r);
	KUNIT_EXPECT_NULL(test, r.add);
	KUNIT_EXPECT_NULL(test, r.two);
	KUNIT_EXPECT_NULL(test, r.one);
}

static struct kunit_case raid6_cases[] = {
	KUNIT_CASE(each_pair),
	KUNIT_CASE(page_and_check),
	KUNIT_CASE(held_and_put),
	{ }
};

static struct kunit_suite raid6_suite = {
	.name = "nswap_raid6",
	.test_cases = raid6_cases,
};

kunit_test_suite(raid6_suite);
