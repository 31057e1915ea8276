// SPDX-License-Identifier: GPL-2.0
/* Owners whose lease ends, and one that comes back just then. */
#include <kunit/test.h>

/* other tests of nswap_kunit.ko have the real ones, or replace them */
#define nswap_attach_sweep		owner_kunit_attach_sweep
#define nswap_cache_forget		owner_kunit_cache_forget
#define nswap_cache_put			owner_kunit_cache_put
#define nswap_cache_ungrant		owner_kunit_cache_ungrant
#define nswap_owner_forget_if_idle	owner_kunit_forget_if_idle
#define nswap_owner_leave		owner_kunit_leave
#define nswap_pack_leave		owner_kunit_pack_leave

#include "../../nswap/server/owner.c"

#define LEASE_S	5
#define PAGES	8	/* of an owner */
#define OWNERS	4

/**
 * struct owner_test - a cache, its owners and their pages
 * @c: the cache
 * @node: the cache's
 * @conn: of the owner that comes back while pages are freed; NULL: of none
 * @e: pages
 * @nr: of these, pages that were used
 * @freed: pages that were freed
 * @waits: of these, those during which a HELLO would wait
 */
struct owner_test {
	struct nswap_cache c;
	struct nswap_node node;
	struct nswap_srv_conn *conn;
	struct nswap_entry e[OWNERS * PAGES];
	unsigned int nr;
	unsigned int freed;
	unsigned int waits;
};

/* a page is held for an owner */
static void owner_holds(struct owner_test *r, struct nswap_owner *o)
{
	struct rb_node **at = &o->tree.rb_node, *parent = NULL;
	struct nswap_entry *e = &r->e[r->nr++];

	while (*at) {
		parent = *at;
		at = &parent->rb_right;
	}
	rb_link_node(&e->rb, parent, at);
	rb_insert_color(&e->rb, &o->tree);
	list_add_tail(&e->link, &o->lru[0]);
	o->held++;
}

/* the owner says HELLO on @r->conn, and stores a page */
static void owner_returns(struct owner_test *r)
{
	const struct nswap_wire_hello h = {
		.id = cpu_to_le64(1), .epoch = cpu_to_le64(7), .session = cpu_to_le64(2),
		.class = NSWAP_CLASS_CONTROL,
	};

	if (nswap_owner_hello(&r->c, r->conn, &h) == NSWAP_ST_OK)
		owner_holds(r, r->conn->owner);
}

void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e)
{
	struct owner_test *r = container_of(c, struct owner_test, c);

	r->freed++;
	if (!mutex_trylock(&c->hello)) {
		r->waits++;
		return;
	}
	mutex_unlock(&c->hello);
	if (r->conn && !r->conn->owner)
		owner_returns(r);
}

void nswap_cache_forget(struct nswap_cache *c, struct nswap_owner *o)
{
	o->held = 0;
	o->reserves = 0;
}

void nswap_cache_ungrant(struct nswap_cache *c, struct nswap_owner *o)
{
}

u64 nswap_pack_leave(struct nswap_owner *o)
{
	return 0;
}

void nswap_attached_free(struct list_head *attached)
{
}

void nswap_attach_sweep(struct nswap_cache *c)
{
}

u32 nswap_weights_of(const struct nswap_cache *c, u64 id)
{
	return 1;
}

static int owner_init(struct kunit *test)
{
	struct owner_test *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	r->node.stats = alloc_percpu(struct nswap_stats);
	if (!r->node.stats)
		return -ENOMEM;
	r->node.knobs.lease_s = LEASE_S;
	r->c.node = &r->node;
	mutex_init(&r->c.hello);
	spin_lock_init(&r->c.lock);
	INIT_LIST_HEAD(&r->c.owners);
	test->priv = r;
	return 0;
}

static void owner_exit(struct kunit *test)
{
	struct owner_test *r = test->priv;
	struct nswap_owner *o, *next;

	if (!r)
		return;
	list_for_each_entry_safe(o, next, &r->c.owners, link)
		kfree(o);
	free_percpu(r->node.stats);
}

/* an owner without a connection for @away seconds, kept by the caller */
static struct nswap_owner *owner_away(struct kunit *test, u64 id, unsigned int away,
				      unsigned int pages)
{
	struct owner_test *r = test->priv;
	struct nswap_owner *o = nswap_owner_adopt(&r->c, id, 7);

	KUNIT_ASSERT_NOT_NULL(test, o);
	o->gone = jiffies - away * HZ;
	while (pages--)
		owner_holds(r, o);
	return o;
}

/* those whose lease is over have no pages any more, and are forgotten unless they are in use */
static void leases_end(struct kunit *test)
{
	struct owner_test *r = test->priv;
	struct nswap_owner *first = owner_away(test, 1, LEASE_S + 1, PAGES);
	struct nswap_owner *later = owner_away(test, 2, 0, PAGES);
	struct nswap_owner *idle = owner_away(test, 3, LEASE_S + 1, 0);
	struct nswap_owner *used = owner_away(test, 4, LEASE_S + 1, PAGES);

	nswap_owner_leave(&r->c, first);
	nswap_owner_leave(&r->c, later);
	nswap_owner_sweep(&r->c);
	KUNIT_EXPECT_EQ(test, r->freed, 2u * PAGES);
	KUNIT_EXPECT_EQ(test, r->waits, 0u);
	KUNIT_EXPECT_NULL(test, owner_find(&r->c, 1));
	KUNIT_EXPECT_PTR_EQ(test, owner_find(&r->c, 2), later);
	KUNIT_EXPECT_EQ(test, later->held, (u64)PAGES);
	KUNIT_EXPECT_PTR_EQ(test, owner_find(&r->c, 3), idle);
	KUNIT_EXPECT_PTR_EQ(test, owner_find(&r->c, 4), used);
	KUNIT_EXPECT_EQ(test, used->users, 1u);
	KUNIT_EXPECT_EQ(test, r->c.nr_owners, 3u);
	nswap_owner_leave(&r->c, used);
	idle->users = 0;
	nswap_owner_sweep(&r->c);
	KUNIT_EXPECT_EQ(test, r->freed, 2u * PAGES);
	KUNIT_EXPECT_EQ(test, r->c.nr_owners, 1u);
}

/* one that comes back while its pages are freed keeps its session, and what it stores */
static void comes_back(struct kunit *test)
{
	struct owner_test *r = test->priv;
	struct nswap_owner *o = owner_away(test, 1, LEASE_S + 1, PAGES);
	struct nswap_srv_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, conn);
	r->conn = conn;
	nswap_owner_leave(&r->c, o);
	nswap_owner_sweep(&r->c);
	KUNIT_EXPECT_EQ(test, r->freed, (unsigned int)PAGES);
	KUNIT_EXPECT_EQ(test, r->waits, 0u);
	KUNIT_ASSERT_NOT_NULL(test, conn->owner);
	KUNIT_EXPECT_PTR_EQ(test, conn->owner, owner_find(&r->c, 1));
	KUNIT_EXPECT_EQ(test, conn->owner->session, 2ull);
	KUNIT_EXPECT_EQ(test, conn->owner->held, 1ull);
	KUNIT_EXPECT_EQ(test, conn->owner->users, 0u);
	KUNIT_EXPECT_FALSE(test, RB_EMPTY_ROOT(&conn->owner->tree));
}

static struct kunit_case owner_cases[] = {
	KUNIT_CASE(leases_end),
	KUNIT_CASE(comes_back),
	{}
};

static struct kunit_suite owner_suite = {
	.name = "nswap_owner",
	.init = owner_init,
	.exit = owner_exit,
	.test_cases = owner_cases,
};

kunit_test_suite(owner_suite);
