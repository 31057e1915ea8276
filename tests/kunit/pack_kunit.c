// SPDX-License-Identifier: GPL-2.0
/*
 * Packing: what is put into a shared page is there until it is dropped, what is counted is
 * what is taken, and every page comes back.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

/* held_kunit.c has its own */
#define nswap_attached_find	pack_kunit_attached
#include "../../nswap/server/pack.c"

#define SLOTS	400

/* what the rest of the server has */
static struct {
	struct nswap_entry *held[SLOTS];
	u16 len[SLOTS];
	u8 seed[SLOTS];
	s64 ram;		/* of the cache, */
	s64 owned;		/* of its owner, */
	s64 attached;		/* of the device that is attached */
	struct nswap_attached device;
	unsigned int pages;	/* that were made and are not back */
} had;

void nswap_cache_shared(struct nswap_cache *c, struct nswap_owner *o,
			struct nswap_attached *a, s64 ram)
{
	had.ram += ram;
	had.owned += o ? ram : 0;
	had.attached += a ? ram : 0;
}

struct nswap_attached *nswap_attached_find(const struct nswap_owner *o, u32 instance)
{
	return had.device.instance == instance ? &had.device : NULL;
}

/**
 * struct bench - a cache with one owner
 * @c: the cache
 * @o: the owner
 * @node: the cache's
 */
struct bench {
	struct nswap_cache c;
	struct nswap_owner o;
	struct nswap_node node;
};

static struct bench *bench_make(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	memset(&had, 0, sizeof(had));
	b->node.stats = alloc_percpu(struct nswap_stats);
	KUNIT_ASSERT_NOT_NULL(test, b->node.stats);
	b->c.node = &b->node;
	spin_lock_init(&b->c.lock);
	spin_lock_init(&b->o.lock);
	INIT_LIST_HEAD(&b->o.packs);
	INIT_LIST_HEAD(&b->o.lru[0]);
	return b;
}

static struct nswap_entry *page_make(struct kunit *test, u64 slot, u32 instance, u32 len,
				     u8 seed)
{
	struct nswap_entry *e = kzalloc_obj(*e, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->page);
	memset(page_address(e->page), 0xa5, PAGE_SIZE);
	memset(page_address(e->page), seed, len);
	e->slot = slot;
	e->instance = instance;
	e->gen = 7;
	e->len = len;
	e->clear = true;
	had.pages++;
	return e;
}

static void page_back(struct nswap_entry *e)
{
	__free_page(e->page);
	kfree(e);
	had.pages--;
}

static void pages_back(struct list_head *unused)
{
	struct nswap_entry *e, *next;

	list_for_each_entry_safe(e, next, unused, link)
		page_back(e);
	INIT_LIST_HEAD(unused);
}

static bool page_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct nswap_entry, rb)->slot <
	       rb_entry(b, struct nswap_entry, rb)->slot;
}

/* a page comes and is held at a slot that holds none */
static void store(struct kunit *test, struct bench *b, u64 slot, u32 instance, u32 len)
{
	u8 seed = 1 + (slot * 7 + len) % 255;
	struct nswap_entry *e = page_make(test, slot, instance, len, seed);
	LIST_HEAD(unused);

	e = nswap_pack(&b->c, &b->o, e, &unused);
	had.held[slot] = e;
	refcount_set(&e->ref, 1);
	rb_add(&e->rb, &b->o.tree, page_less);
	list_add_tail(&e->link, &b->o.lru[0]);
	had.len[slot] = len;
	had.seed[slot] = seed;
	pages_back(&unused);
}

/* what is at a slot is as it came, and is dropped */
static void drop(struct kunit *test, struct bench *b, u64 slot)
{
	struct nswap_entry *e = had.held[slot];
	void *at = e->in ? (void *)(e + 1) : page_address(e->page);

	KUNIT_EXPECT_EQ(test, e->slot, slot);
	KUNIT_EXPECT_EQ(test, e->gen, 7u);
	KUNIT_EXPECT_EQ(test, (u32)e->len, (u32)had.len[slot]);
	KUNIT_EXPECT_NULL(test, memchr_inv(at, had.seed[slot], e->len));
	had.held[slot] = NULL;
	rb_erase(&e->rb, &b->o.tree);
	list_del_init(&e->link);
	if (e->in)
		e = nswap_pack_drop(&b->c, e);
	if (e)
		page_back(e);
}

static void bench_end(struct kunit *test, struct bench *b)
{
	KUNIT_EXPECT_EQ(test, had.pages, 0u);
	KUNIT_EXPECT_EQ(test, had.ram, 0);
	KUNIT_EXPECT_EQ(test, nswap_pack_leave(&b->o), 0ull);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->o.packs));
	free_percpu(b->node.stats);
}

/* three pages of a third share one; a fourth has another; the tightest room is taken */
static void shares(struct kunit *test)
{
	struct bench *b = bench_make(test);
	u32 third = 21 * 64 - sizeof(struct nswap_entry);
	unsigned int i;

	had.device.instance = 1;
	for (i = 0; i < 3; i++)
		store(test, b, i, 1, third);
	KUNIT_EXPECT_EQ(test, had.ram, 1);
	KUNIT_EXPECT_EQ(test, had.attached, 1);
	KUNIT_EXPECT_EQ(test, had.pages, 1u);
	KUNIT_EXPECT_PTR_EQ(test, had.held[0]->in, had.held[2]->in);
	store(test, b, 3, 1, third);
	KUNIT_EXPECT_EQ(test, had.ram, 2);
	drop(test, b, 1);
	store(test, b, 4, 1, third);
	KUNIT_EXPECT_PTR_EQ(test, had.held[4]->in, had.held[0]->in);
	/* another device has its own, and long pages stay alone */
	store(test, b, 5, 2, 100);
	store(test, b, 6, 1, NSWAP_PACK_MOST + 1);
	KUNIT_EXPECT_EQ(test, had.ram, 3);
	KUNIT_EXPECT_EQ(test, had.attached, 2);
	KUNIT_EXPECT_NULL(test, had.held[6]->in);
	for (i = 0; i < 7; i++)
		if (had.held[i])
			drop(test, b, i);
	bench_end(test, b);
}

/* pages that are still in use when their owner goes keep what they share */
static void owner_goes(struct kunit *test)
{
	struct bench *b = bench_make(test);

	had.device.instance = 1;
	store(test, b, 0, 1, 500);
	store(test, b, 1, 1, 500);
	store(test, b, 2, 2, 500);
	drop(test, b, 2);
	KUNIT_EXPECT_EQ(test, nswap_pack_leave(&b->o), 1ull);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->o.packs));
	/* what comes now shares with none of them */
	store(test, b, 3, 1, 500);
	KUNIT_EXPECT_PTR_NE(test, had.held[3]->in, had.held[0]->in);
	KUNIT_EXPECT_EQ(test, had.owned, 2);
	drop(test, b, 0);
	drop(test, b, 1);
	KUNIT_EXPECT_EQ(test, had.ram, 1);
	KUNIT_EXPECT_EQ(test, had.owned, 2);
	KUNIT_EXPECT_EQ(test, had.attached, 2);
	drop(test, b, 3);
	KUNIT_EXPECT_EQ(test, had.owned, 1);
	bench_end(test, b);
}

/* an owner has lists for as many devices as it may have; those of idle ones make room */
static void devices(struct kunit *test)
{
	struct bench *b = bench_make(test);
	unsigned int i;

	for (i = 0; i < NSWAP_MAX_DEVICES; i++)
		store(test, b, i, 1 + i, 100);
	store(test, b, i, 1 + i, 100);
	KUNIT_EXPECT_NULL(test, had.held[i]->in);
	drop(test, b, 5);
	store(test, b, 5, 1000, 100);
	KUNIT_EXPECT_NOT_NULL(test, had.held[5]->in);
	nswap_pack_detach(&b->c, &b->o, 7);
	for (i = 0; i <= NSWAP_MAX_DEVICES; i++)
		drop(test, b, i);
	nswap_pack_detach(&b->c, &b->o, 8);
	KUNIT_EXPECT_NULL(test, pack_find(&b->o, 8));
	bench_end(test, b);
}

static bool tidy_may(struct nswap_owner *o, struct nswap_entry *e)
{
	return refcount_read(&e->ref) == 1;
}

/* half empty pages come closer together, each page as it was and where it was in the lru */
static void tidies(struct kunit *test)
{
	struct bench *b = bench_make(test);
	struct nswap_entry *e, *shared;
	struct rb_node *n;
	unsigned int i, freed = 0;

	for (i = 0; i < 256; i++)
		store(test, b, i, 1, 8 * 64 - sizeof(*e));
	KUNIT_EXPECT_EQ(test, had.ram, 32);
	KUNIT_EXPECT_NULL(test, nswap_pack_tidy(&b->c, &b->o, tidy_may));
	for (i = 0; i < 256; i++)
		if (i % 4)
			drop(test, b, i);
	KUNIT_EXPECT_EQ(test, had.ram, 32);
	/* one that is being sent stays where it is */
	refcount_set(&had.held[128]->ref, 2);
	while ((shared = nswap_pack_tidy(&b->c, &b->o, tidy_may))) {
		KUNIT_EXPECT_EQ(test, shared->map.used | shared->map.first, 0ull);
		page_back(shared);
		freed++;
	}
	KUNIT_EXPECT_GE(test, freed, 20u);
	KUNIT_EXPECT_EQ(test, had.ram, 32 - (s64)freed);
	KUNIT_EXPECT_EQ(test, had.pages, 32 - freed);
	i = 0;
	for (n = rb_first(&b->o.tree); n; n = rb_next(n), i += 4) {
		e = rb_entry(n, struct nswap_entry, rb);
		KUNIT_EXPECT_EQ(test, e->slot, (u64)i);
		if (i == 128)
			KUNIT_EXPECT_PTR_EQ(test, e, had.held[i]);
		had.held[i] = e;
	}
	KUNIT_EXPECT_EQ(test, i, 256u);
	i = 0;
	list_for_each_entry(e, &b->o.lru[0], link) {
		KUNIT_EXPECT_PTR_EQ(test, e, had.held[i]);
		i += 4;
	}
	for (i = 0; i < 256; i += 4)
		drop(test, b, i);
	bench_end(test, b);
}

/* at random: never more pages than are held, each as it came */
static void pack_at_random(struct kunit *test)
{
	struct bench *b = bench_make(test);
	unsigned int round, i, held = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 11);
	for (round = 0; round < 20000; round++) {
		u32 r = prandom_u32_state(&rnd), len = 1 + (r >> 10) % 3500;

		i = r % SLOTS;
		if (had.held[i]) {
			drop(test, b, i);
			held--;
		} else {
			store(test, b, i, 1 + i % 3, r >> 31 ? len : 1 + len % 400);
			held++;
		}
		KUNIT_ASSERT_LE(test, had.pages, held);
		KUNIT_ASSERT_LE(test, had.ram, (s64)had.pages);
	}
	kunit_info(test, "%u pages in %u of RAM\n", held, had.pages);
	for (i = 0; i < SLOTS; i++)
		if (had.held[i])
			drop(test, b, i);
	bench_end(test, b);
}

static struct kunit_case pack_cases[] = {
	KUNIT_CASE(shares),
	KUNIT_CASE(owner_goes),
	KUNIT_CASE(devices),
	KUNIT_CASE(tidies),
	KUNIT_CASE(pack_at_random),
	{}
};

static struct kunit_suite pack_suite = {
	.name = "nswap_pack",
	.test_cases = pack_cases,
};

kunit_test_suite(pack_suite);
