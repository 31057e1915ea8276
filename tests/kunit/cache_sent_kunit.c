// SPDX-License-Identifier: GPL-2.0
/*
 * Entries whose pages sockets still refer to: they are set aside when that has ended, and
 * not before.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../../nswap/server/cache_sent.c"

/* that of cache.c: what is set aside */
void nswap_cache_give(struct nswap_cache *c, struct list_head *unused)
{
	list_splice_tail_init(unused, &c->pool);
}

void nswap_cache_sent_back(struct nswap_cache *c, struct list_head *unused, u64 n)
{
	c->nr_sent -= n;
	nswap_cache_give(c, unused);
}

static struct nswap_cache *sent_cache(struct kunit *test)
{
	struct nswap_cache *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->node = kunit_kzalloc(test, sizeof(*c->node), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->node);
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->pool);
	INIT_LIST_HEAD(&c->sent);
	INIT_DELAYED_WORK(&c->sent_look, nswap_cache_sent_work);
	KUNIT_ASSERT_EQ(test, nswap_workqueues_init(), 0);
	return c;
}

static struct nswap_entry *sent_entry(struct kunit *test)
{
	struct nswap_entry *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	INIT_LIST_HEAD(&e->link);
	e->clear = true;
	e->page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->page);
	return e;
}

static void waits_for_the_socket(struct kunit *test)
{
	struct nswap_cache *c = sent_cache(test);
	struct nswap_entry *first = sent_entry(test), *second = sent_entry(test);

	KUNIT_EXPECT_FALSE(test, nswap_cache_sent(c, first));
	get_page(first->page);
	get_page(second->page);
	KUNIT_EXPECT_TRUE(test, nswap_cache_sent(c, first));
	KUNIT_EXPECT_TRUE(test, nswap_cache_sent(c, second));
	put_page(second->page);
	msleep(500);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&c->pool));
	KUNIT_EXPECT_PTR_EQ(test, second,
			    list_first_entry(&c->pool, struct nswap_entry, link));
	KUNIT_EXPECT_TRUE(test, first->clear);
	put_page(first->page);
	msleep(500);
	KUNIT_EXPECT_TRUE(test, list_empty(&c->sent));
	nswap_cache_sent_stop(c);
	nswap_workqueues_exit();
	__free_page(first->page);
	__free_page(second->page);
}

/* one that is never given up does not keep the cache from ending, and is not cleared */
static void ends_without_the_socket(struct kunit *test)
{
	struct nswap_cache *c = sent_cache(test);
	struct nswap_entry *e = sent_entry(test);

	get_page(e->page);
	KUNIT_EXPECT_TRUE(test, nswap_cache_sent(c, e));
	nswap_cache_sent_stop(c);
	KUNIT_EXPECT_TRUE(test, list_empty(&c->sent));
	KUNIT_EXPECT_TRUE(test, list_is_singular(&c->pool));
	KUNIT_EXPECT_FALSE(test, e->clear);
	nswap_workqueues_exit();
	put_page(e->page);
	__free_page(e->page);
}

/* only what is to go back to the system is waited for when memory runs out */
static void what_comes_back(struct kunit *test)
{
	struct nswap_cache *c = sent_cache(test);
	struct nswap_entry *e = sent_entry(test);

	get_page(e->page);
	KUNIT_EXPECT_TRUE(test, nswap_cache_sent(c, e));
	c->allocated = 10;
	c->target = 10;
	KUNIT_EXPECT_EQ(test, nswap_cache_sent_now(c), 0ull);
	c->target = 9;
	KUNIT_EXPECT_EQ(test, nswap_cache_sent_now(c), 1ull);
	c->target = 2;
	KUNIT_EXPECT_EQ(test, nswap_cache_sent_now(c), 1ull);
	nswap_cache_sent_stop(c);
	nswap_workqueues_exit();
	put_page(e->page);
	__free_page(e->page);
}

/* answers are copied to owners with a reserve, and while much is being sent */
static void when_to_refer(struct kunit *test)
{
	struct nswap_cache *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct nswap_owner *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, c && o);
	c->target = 16 * SENT_PART;
	KUNIT_EXPECT_TRUE(test, nswap_cache_may_refer(c, o));
	c->nr_sent = 16;
	KUNIT_EXPECT_TRUE(test, nswap_cache_may_refer(c, o));
	c->nr_sent = 17;
	KUNIT_EXPECT_FALSE(test, nswap_cache_may_refer(c, o));
	c->nr_sent = 0;
	o->reserves = 1;
	KUNIT_EXPECT_FALSE(test, nswap_cache_may_refer(c, o));
}

static struct kunit_case cache_sent_cases[] = {
	KUNIT_CASE(waits_for_the_socket),
	KUNIT_CASE(ends_without_the_socket),
	KUNIT_CASE(what_comes_back),
	KUNIT_CASE(when_to_refer),
	{}
};

static struct kunit_suite cache_sent_suite = {
	.name = "nswap_cache_sent",
	.test_cases = cache_sent_cases,
};

kunit_test_suite(cache_sent_suite);
