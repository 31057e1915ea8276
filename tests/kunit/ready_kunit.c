// SPDX-License-Identifier: GPL-2.0
/*
 * Stores of an owner and what is counted of them, at once or later: after any of them the
 * counts say what there is, and what the owner was promised is set aside for it.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "ready_names.h"

#include "../../nswap/server/attached.c"
#include "../../nswap/server/cache.c"
#include "../../nswap/server/cache_count.c"
#include "../../nswap/server/held.c"

#define PAGES	600u	/* of the cache */
#define SLOTS	300u
#define OPS	30000u
#define DEVICES	2u
#define CONNS	2u

static unsigned int locked;	/* how often a store had to count */

void nswap_cache_fill_kick(struct nswap_cache *c)
{
}

void nswap_cache_free(struct list_head *entries)
{
}

bool nswap_cache_referred(const struct nswap_entry *e)
{
	return false;
}

bool nswap_cache_sent(struct nswap_cache *c, struct nswap_entry *e)
{
	return false;
}

struct nswap_entry *nswap_pack_drop(struct nswap_cache *c, struct nswap_entry *e)
{
	return e;
}

u64 nswap_pack_leave(struct nswap_owner *o)
{
	return 0;
}

/* nothing is given back to the system here, and nothing had from it */
bool nswap_cache_holding(const struct nswap_cache *c)
{
	return false;
}

bool nswap_cache_lacks(const struct nswap_cache *c)
{
	return false;
}

void nswap_cache_revoke(struct nswap_cache *c, u64 n)
{
}

bool nswap_cache_trim(struct nswap_cache *c, struct list_head *out)
{
	return false;
}

u64 nswap_cache_above(const struct nswap_cache *c)
{
	u64 used = c->allocated - c->set_aside;

	locked++;
	return used > c->target ? min(c->ram, used - c->target) : 0;
}

u64 nswap_cache_room(const struct nswap_cache *c)
{
	u64 kept = c->granted + c->reserved;

	return c->set_aside > kept ? c->set_aside - kept : 0;
}

bool nswap_cache_shrinks(const struct nswap_cache *c)
{
	return c->allocated > c->target;
}

u64 nswap_answers_free(struct nswap_srv_conn *conn)
{
	return 0;
}

/**
 * struct store - a STORE under way on one of the owner's connections
 * @conn: the connection
 * @instance: device, from 0
 * @slot: first slot
 * @nr: pages, 0: none is under way
 * @taken: what was taken for them
 */
struct store {
	struct nswap_srv_conn conn;
	u32 instance;
	u32 slot;
	u32 nr;
	struct list_head taken;
};

/**
 * struct ready_test - a cache, one owner, and what that knows
 * @node: node
 * @c: its cache
 * @o: the owner
 * @a: its devices
 * @store: its connections
 * @e: entries
 * @gen: of each slot of each device, 0: freed
 * @next: the next generation
 * @grants: pages that the owner may store
 * @rand: state
 */
struct ready_test {
	struct nswap_node node;
	struct nswap_cache c;
	struct nswap_owner o;
	struct nswap_attached a[DEVICES];
	struct store store[CONNS];
	struct nswap_entry e[PAGES];
	u32 gen[DEVICES][SLOTS];
	u32 next;
	u32 grants;
	struct rnd_state rand;
};

static int ready_init(struct kunit *test)
{
	struct ready_test *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct page *page = virt_to_page(r);
	unsigned int i;

	if (!r)
		return -ENOMEM;
	r->node.stats = alloc_percpu(struct nswap_stats);
	if (!r->node.stats)
		return -ENOMEM;
	test->priv = r;
	r->node.knobs.owner_max_pct = 100;
	r->c.node = &r->node;
	spin_lock_init(&r->c.lock);
	INIT_LIST_HEAD(&r->c.pool);
	INIT_LIST_HEAD(&r->c.owners);
	r->c.target = r->c.lent = r->c.allocated = r->c.set_aside = PAGES;
	r->c.weights = r->o.weight = 1;
	for (i = 0; i < PAGES; i++) {
		r->e[i].page = page;
		list_add(&r->e[i].link, &r->c.pool);
	}
	spin_lock_init(&r->o.lock);
	r->o.tree = RB_ROOT;
	for (i = 0; i < NSWAP_DEV_CLASSES; i++)
		INIT_LIST_HEAD(&r->o.lru[i]);
	INIT_LIST_HEAD(&r->o.packs);
	INIT_LIST_HEAD(&r->o.attached);
	INIT_LIST_HEAD(&r->o.ready.list);
	for (i = 0; i < DEVICES; i++) {
		r->a[i].instance = 1 + i;
		list_add(&r->a[i].link, &r->o.attached);
	}
	for (i = 0; i < CONNS; i++) {
		r->store[i].conn.owner = &r->o;
		INIT_LIST_HEAD(&r->store[i].taken);
	}
	r->next = 1;
	prandom_seed_state(&r->rand, 7);
	return 0;
}

static void ready_exit(struct kunit *test)
{
	struct ready_test *r = test->priv;

	if (r)
		free_percpu(r->node.stats);
}

static u32 draw(struct ready_test *r, u32 most)
{
	return prandom_u32_state(&r->rand) % most;
}

/* pages are taken, as by serve_pages.c: of a reserve, if there is one, or promised ones */
static void begin(struct kunit *test, struct ready_test *r, struct store *s, bool rewrite)
{
	u32 nr = draw(r, 8) ? 1 : 1 + draw(r, 32);
	bool reserved;

	s->instance = draw(r, DEVICES);
	s->slot = draw(r, rewrite ? 40 : SLOTS - nr);
	reserved = r->a[s->instance].reserve && draw(r, 2);
	if (reserved) {
		if (nswap_held_take_reserved(&r->c, &s->conn, 1 + s->instance, s->slot, nr,
					     &s->taken))
			s->nr = nr;
	} else if (r->grants >= nr) {
		r->grants -= nr;
		KUNIT_ASSERT_TRUE(test, nswap_held_take(&r->c, &s->conn, nr, &s->taken));
		s->nr = nr;
	}
}

/* they are here: new ones, ones that replace others, or older ones */
static void end(struct ready_test *r, struct store *s)
{
	struct nswap_entry *e, *next, *entry[NSWAP_REQ_SLOTS];
	struct nswap_cache_stored so = { .taken = s->nr };
	u16 status[NSWAP_REQ_SLOTS];
	bool old = !draw(r, 20);
	u32 i = 0;

	list_for_each_entry_safe(e, next, &s->taken, link) {
		u32 *gen = &r->gen[s->instance][s->slot + i];

		list_del_init(&e->link);
		e->instance = 1 + s->instance;
		e->slot = s->slot + i;
		e->gen = old ? 1 : ++r->next;
		e->len = PAGE_SIZE;
		if (!old || !*gen)
			*gen = e->gen;
		entry[i++] = e;
	}
	so.used = nswap_held_insert(&r->c, &s->conn, entry, s->nr, status);
	nswap_held_stored(&r->c, &s->conn, &so);
	r->grants += so.grants;
	s->nr = 0;
}

/* a STORE of which nothing else happens meanwhile */
static void do_store(struct kunit *test, struct ready_test *r, bool rewrite)
{
	begin(test, r, &r->store[0], rewrite);
	if (r->store[0].nr)
		end(r, &r->store[0]);
}

/* another reserve of a device, often none */
static void do_reserve(struct ready_test *r, u32 wanted)
{
	spin_lock(&r->o.lock);
	nswap_cache_reserve(&r->c, &r->o, &r->a[draw(r, DEVICES)], wanted);
	spin_unlock(&r->o.lock);
}

static void do_free(struct ready_test *r)
{
	u32 instance = draw(r, DEVICES), slot = draw(r, SLOTS), n = 1 + draw(r, 60), i;
	struct nswap_wire_run run = {
		.instance = cpu_to_le32(1 + instance), .gen = cpu_to_le32(r->next),
		.slot = cpu_to_le64(slot), .count = cpu_to_le32(n),
	};

	nswap_held_drop(&r->c, &r->store[0].conn, &run, U64_MAX);
	for (i = slot; i < min(slot + n, SLOTS); i++)
		r->gen[instance][i] = 0;
}

static u64 on_list(const struct list_head *list)
{
	const struct list_head *at;
	u64 n = 0;

	list_for_each(at, list)
		n++;
	return n;
}

/* the counts of devices say what there is of each, and what reserves lack */
static void devices_right(struct kunit *test, struct ready_test *r)
{
	const struct nswap_ready *ready = &r->o.ready;
	u64 held[DEVICES + 1] = {}, lacking = 0;
	const struct nswap_entry *e;
	u32 i, reserves = 0;

	list_for_each_entry(e, &r->o.lru[0], link)
		held[e->instance]++;
	if (ready->fresh)
		held[ready->instance] -= ready->fresh;
	for (i = 0; i < DEVICES; i++) {
		const struct nswap_attached *a = &r->a[i];

		KUNIT_ASSERT_EQ(test, a->held, held[a->instance]);
		KUNIT_ASSERT_EQ(test, a->ram, a->held);
		lacking += a->reserve > a->ram ? a->reserve - a->ram : 0;
		reserves += !!a->reserve;
	}
	KUNIT_ASSERT_EQ(test, r->o.reserves, reserves);
	KUNIT_ASSERT_EQ(test, r->o.reserved, lacking);
	KUNIT_ASSERT_EQ(test, r->c.reserved, lacking);
	if (reserves)
		KUNIT_ASSERT_EQ(test, ready->nr + ready->fresh, 0u);
}

/* the counts say what there is */
static void right(struct kunit *test, struct ready_test *r)
{
	struct nswap_ready *ready = &r->o.ready;
	u64 held = on_list(&r->o.lru[0]), pool = on_list(&r->c.pool), taken = 0;
	u32 i;

	for (i = 0; i < CONNS; i++)
		taken += r->store[i].nr;
	KUNIT_ASSERT_EQ(test, r->o.granted + ready->promised, r->grants);
	KUNIT_ASSERT_EQ(test, r->c.granted, (u64)r->o.granted);
	KUNIT_ASSERT_LE(test, r->c.granted, r->c.set_aside);
	KUNIT_ASSERT_EQ(test, r->c.set_aside, pool);
	KUNIT_ASSERT_EQ(test, on_list(&ready->list), (u64)ready->nr);
	KUNIT_ASSERT_LE(test, ready->promised, ready->nr);
	KUNIT_ASSERT_LE(test, ready->nr, 2 * NSWAP_READY);
	KUNIT_ASSERT_LE(test, ready->fresh, NSWAP_READY + CONNS * NSWAP_REQ_SLOTS);
	KUNIT_ASSERT_EQ(test, r->o.held + ready->fresh, held);
	/* never fewer than none either */
	KUNIT_ASSERT_LE(test, r->o.held, (u64)PAGES);
	KUNIT_ASSERT_EQ(test, r->o.ram, r->o.held);
	KUNIT_ASSERT_EQ(test, r->c.held, r->o.held);
	KUNIT_ASSERT_EQ(test, (s64)r->o.filling, (s64)(ready->nr + taken) + ready->over);
	KUNIT_ASSERT_EQ(test, pool + ready->nr + held + taken, (u64)PAGES);
	devices_right(test, r);
}

/* the pages that are held are those that the owner stored last */
static void holds(struct kunit *test, struct ready_test *r)
{
	u32 i, k;

	for (i = 0; i < DEVICES; i++)
		for (k = 0; k < SLOTS; k++) {
			struct nswap_entry *e = nswap_held_lookup(&r->o, 1 + i, k);

			KUNIT_ASSERT_EQ(test, e ? e->gen : 0, r->gen[i][k]);
		}
}

/* one of all that an owner does, or what it may store changes */
static void step(struct kunit *test, struct ready_test *r)
{
	struct store *s = &r->store[draw(r, CONNS)];
	u32 n;

	switch (draw(r, 32)) {
	case 0:
		do_free(r);
		break;
	case 1:
		r->grants += nswap_held_grant(&r->c, &s->conn, 0, 1 + draw(r, 200));
		break;
	case 2:
		n = min(r->grants, draw(r, 50));
		nswap_held_ungrant(&r->c, &s->conn, n);
		r->grants -= n;
		break;
	case 3:
		r->c.target = draw(r, 3) ? PAGES : PAGES / 2;
		break;
	case 4:
		do_reserve(r, draw(r, 4) ? 0 : draw(r, 80));
		break;
	default:
		if (s->nr)
			end(r, s);
		else
			begin(test, r, s, draw(r, 2));
	}
}

/* all of it in any order, stores on two connections, with more and with fewer pages lent */
static void any_order(struct kunit *test)
{
	struct ready_test *r = test->priv;
	u32 i, reserved = 0, ready = 0;

	r->grants = nswap_held_grant(&r->c, &r->store[0].conn, 0, 256);
	for (i = 0; i < OPS; i++) {
		step(test, r);
		right(test, r);
		reserved += !!r->o.reserves;
		ready += !!r->o.ready.nr;
	}
	KUNIT_EXPECT_GE(test, reserved, OPS / 10);
	KUNIT_EXPECT_GE(test, ready, OPS / 10);
	for (i = 0; i < CONNS; i++)
		if (r->store[i].nr)
			end(r, &r->store[i]);
	holds(test, r);
	nswap_cache_ungrant(&r->c, &r->o);
	r->grants = 0;
	right(test, r);
	KUNIT_EXPECT_EQ(test, r->o.filling, 0u);
	KUNIT_EXPECT_EQ(test, r->o.ready.nr + r->o.ready.fresh, 0u);
}

/* of the stores of one page after the other few take the cache's lock: new ones, and others */
static void seldom_locked(struct kunit *test)
{
	struct ready_test *r = test->priv;
	unsigned int i;

	r->grants = nswap_held_grant(&r->c, &r->store[0].conn, 0, 256);
	locked = 0;
	for (i = 0; i < 1024; i++) {
		do_store(test, r, i % 2);
		right(test, r);
	}
	/* not fewer than one in so many either: the owner would run out of promises */
	KUNIT_EXPECT_GE(test, locked, 1024 / NSWAP_READY);
	KUNIT_EXPECT_LE(test, locked, 1024 / 4);
}

static struct kunit_case ready_cases[] = {
	KUNIT_CASE(any_order),
	KUNIT_CASE(seldom_locked),
	{}
};

static struct kunit_suite ready_suite = {
	.name = "nswap_ready",
	.init = ready_init,
	.exit = ready_exit,
	.test_cases = ready_cases,
};

kunit_test_suite(ready_suite);
