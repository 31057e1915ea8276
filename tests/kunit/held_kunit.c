// SPDX-License-Identifier: GPL-2.0
/* Pages held, and those moved here that their owner has not claimed. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>

#include "../../nswap/server/held.c"
#include "../../nswap/server/pending.c"

#define PENDING		1024u	/* as many as there may be, cache.c */
#define MOVER		0x1111ull
#define OTHER		0x2222ull
#define HELD		16384u
#define RUNS		16

/* what the cache and the owner would do, counted */
static struct {
	unsigned int put;	/* entries whose last reference is gone */
	s64 held;
	s64 ram;
	u64 since;		/* ns: when the owner's lock was taken, at the latest */
	u64 least_ns;		/* that a chunk took */
	u64 all_ns;
	u32 chunks;
	s64 most_dropped;	/* under one lock */
} had;

void nswap_cache_put(struct nswap_cache *c, struct nswap_entry *e)
{
	had.put += refcount_dec_and_test(&e->ref);
	had.since = ktime_get_ns();
}

void nswap_cache_put_all(struct nswap_cache *c, struct nswap_entry **entry, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (entry[i])
			nswap_cache_put(c, entry[i]);
}

/* called at the end of each chunk, the owner's lock still held */
void nswap_cache_count(struct nswap_cache *c, struct nswap_owner *o, u32 instance, s64 held,
		       s64 ram)
{
	u64 took = ktime_get_ns() - had.since;

	had.held += held;
	had.ram += ram;
	had.most_dropped = max(had.most_dropped, -held);
	if (!had.chunks++ || took < had.least_ns)
		had.least_ns = took;
	had.all_ns += took;
	had.since = ktime_get_ns();
}

struct nswap_attached *nswap_attached_find(const struct nswap_owner *o, u32 instance)
{
	return NULL;
}

u8 nswap_attached_class(const struct nswap_owner *o, u32 instance)
{
	return 0;
}

void nswap_owner_forget_if_idle(struct nswap_cache *c, struct nswap_owner *o)
{
}

/* of these nothing is tested here */
bool nswap_cache_take(struct nswap_cache *c, struct nswap_owner *o, u32 n,
		      struct list_head *taken)
{
	return false;
}

bool nswap_cache_take_reserved(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			       u64 left, struct list_head *taken)
{
	return false;
}

u32 nswap_cache_grant(struct nswap_cache *c, struct nswap_owner *o, u32 used, u32 wanted)
{
	return 0;
}

void nswap_cache_stored(struct nswap_cache *c, struct nswap_owner *o, bool fenced,
			struct nswap_cache_stored *so)
{
}

u64 nswap_answers_free(struct nswap_srv_conn *conn)
{
	return 0;
}

void nswap_cache_take_back(struct nswap_cache *c, struct nswap_owner *o, u32 n,
			   struct list_head *surplus)
{
}

void nswap_cache_free(struct list_head *entries)
{
}

/**
 * struct held_test - an owner, one connection of its, and entries
 * @o: the owner
 * @conn: the connection
 * @e: entries
 * @c: the cache, which nothing looks into
 */
struct held_test {
	struct nswap_owner o;
	struct nswap_srv_conn conn;
	struct nswap_entry *e;
	struct nswap_cache c;
};

static int held_init(struct kunit *test)
{
	struct held_test *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	unsigned int i;

	if (!h)
		return -ENOMEM;
	h->e = vzalloc(array_size(HELD, sizeof(*h->e)));
	if (!h->e)
		return -ENOMEM;
	for (i = 0; i < HELD; i++)
		INIT_LIST_HEAD(&h->e[i].link);
	spin_lock_init(&h->o.lock);
	for (i = 0; i < NSWAP_DEV_CLASSES; i++)
		INIT_LIST_HEAD(&h->o.lru[i]);
	INIT_LIST_HEAD(&h->o.pending);
	INIT_LIST_HEAD(&h->c.owners);
	mutex_init(&h->c.hello);
	h->o.epoch = 5;
	h->o.session = 1;
	h->conn.owner = &h->o;
	h->conn.epoch = 5;
	h->conn.session = 1;
	memset(&had, 0, sizeof(had));
	test->priv = h;
	return 0;
}

static void held_exit(struct kunit *test)
{
	struct held_test *h = test->priv;

	if (h)
		vfree(h->e);
}

static u16 moved_by(struct held_test *h, u64 mover, struct nswap_entry *e, u64 slot, u32 gen)
{
	e->instance = 1 + slot % 3;
	e->slot = slot;
	e->gen = gen;
	return nswap_pending_add(&h->c, &h->o, h->o.epoch, mover, e);
}

static u16 move_here(struct held_test *h, struct nswap_entry *e, u64 slot, u32 gen)
{
	return moved_by(h, MOVER, e, slot, gen);
}

static u16 claim_of(struct held_test *h, u64 mover, u64 slot, u32 gen)
{
	struct nswap_wire_page p = {
		.slot = cpu_to_le64(slot), .instance = cpu_to_le32(1 + slot % 3),
		.gen = cpu_to_le32(gen),
	};

	return nswap_pending_claim(&h->c, &h->conn, mover, &p);
}

static u16 claim(struct held_test *h, u64 slot, u32 gen)
{
	return claim_of(h, MOVER, slot, gen);
}

/* the list and the tree have the same, the tree in order */
static void same_in_both(struct kunit *test, struct held_test *h, u32 nr)
{
	const struct nswap_entry *e, *before = NULL;
	struct rb_node *n;
	u32 in_tree = 0;

	for (n = rb_first(&h->o.pending_tree); n; n = rb_next(n), in_tree++) {
		e = rb_entry(n, struct nswap_entry, rb);
		if (before)
			KUNIT_ASSERT_GT(test, nswap_held_compare(e->instance, e->slot, before), 0);
		KUNIT_ASSERT_FALSE(test, list_empty(&e->link));
		before = e;
	}
	KUNIT_EXPECT_EQ(test, in_tree, nr);
	KUNIT_EXPECT_EQ(test, h->o.nr_pending, nr);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&h->o.pending), (size_t)nr);
}

/* in any order: each is found, and held once it is claimed */
static void claimed(struct kunit *test)
{
	struct held_test *h = test->priv;
	u32 i;

	for (i = 0; i < PENDING; i++)
		KUNIT_ASSERT_EQ(test, move_here(h, &h->e[i], i * 389 % PENDING, 7), NSWAP_ST_OK);
	same_in_both(test, h, PENDING);
	KUNIT_EXPECT_EQ(test, claim(h, PENDING, 7), NSWAP_ST_NOT_HELD);
	KUNIT_EXPECT_EQ(test, claim(h, 3, 6), NSWAP_ST_NOT_HELD);
	for (i = 0; i < PENDING; i += 2)
		KUNIT_ASSERT_EQ(test, claim(h, i * 101 % PENDING, 7), NSWAP_ST_OK);
	same_in_both(test, h, PENDING / 2);
	for (i = 0; i < PENDING; i++) {
		bool held = nswap_held_lookup(&h->o, 1 + i % 3, i);

		KUNIT_ASSERT_EQ(test, held, !(i % 2));
	}
	/* claimed already, when the answer was lost */
	KUNIT_EXPECT_EQ(test, claim(h, 0, 7), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, had.held, (s64)PENDING);
	KUNIT_EXPECT_EQ(test, had.ram, (s64)PENDING);
	KUNIT_EXPECT_EQ(test, had.put, 0u);
}

/* of one slot there is one, the newest */
static void one_of_a_slot(struct kunit *test)
{
	struct held_test *h = test->priv;

	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[0], 8, 5), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[1], 8, 5), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[2], 8, 4), NSWAP_ST_OLDER);
	KUNIT_EXPECT_EQ(test, had.put, 2u);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[3], 8, 6), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, had.put, 3u);
	same_in_both(test, h, 1);
	KUNIT_EXPECT_EQ(test, claim(h, 8, 5), NSWAP_ST_NOT_HELD);
	KUNIT_EXPECT_EQ(test, claim(h, 8, 6), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, had.held, 1);
	KUNIT_EXPECT_EQ(test, had.ram, 1);
	/* not beside a newer one that is held, nor in another epoch */
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[4], 8, 5), NSWAP_ST_OLDER);
	h->e[5].instance = 1;
	KUNIT_EXPECT_EQ(test, nswap_pending_add(&h->c, &h->o, h->o.epoch + 1, MOVER,
						&h->e[5]),
			NSWAP_ST_STALE);
	KUNIT_EXPECT_EQ(test, had.put, 5u);
	same_in_both(test, h, 0);
}

/* what one mover has brought is neither replaced nor claimed as what another one has */
static void one_of_a_mover(struct kunit *test)
{
	struct held_test *h = test->priv;

	KUNIT_EXPECT_EQ(test, moved_by(h, OTHER, &h->e[0], 8, 5), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[1], 8, 5), NSWAP_ST_OLDER);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[2], 8, 4), NSWAP_ST_OLDER);
	KUNIT_EXPECT_EQ(test, had.put, 2u);
	KUNIT_EXPECT_EQ(test, claim(h, 8, 5), NSWAP_ST_NOT_HELD);
	same_in_both(test, h, 1);
	KUNIT_EXPECT_EQ(test, claim_of(h, OTHER, 8, 5), NSWAP_ST_OK);
	/* held now, from any mover */
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[3], 8, 5), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, claim(h, 8, 5), NSWAP_ST_OK);
	/* a newer one, when what the other has brought is obsolete */
	KUNIT_EXPECT_EQ(test, moved_by(h, OTHER, &h->e[5], 10, 5), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, move_here(h, &h->e[6], 10, 6), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, claim(h, 10, 6), NSWAP_ST_OK);
	/* an owner that does not name it */
	KUNIT_EXPECT_EQ(test, moved_by(h, OTHER, &h->e[4], 9, 1), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, claim_of(h, 0, 9, 1), NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, had.held, 3);
	same_in_both(test, h, 0);
}

/* what is not claimed in time goes, the oldest first; an old connection claims nothing */
static void not_claimed(struct kunit *test)
{
	struct held_test *h = test->priv;
	u32 i;

	for (i = 0; i < PENDING; i++) {
		KUNIT_ASSERT_EQ(test, move_here(h, &h->e[i], i, 1), NSWAP_ST_OK);
		if (i < 100)
			h->e[i].since = jiffies - msecs_to_jiffies(2 * UNCLAIMED_MS);
	}
	h->conn.session = 0;
	KUNIT_EXPECT_EQ(test, claim(h, 200, 1), NSWAP_ST_STALE);
	nswap_pending_give_up(&h->c, &h->o);
	same_in_both(test, h, PENDING - 100);
	KUNIT_EXPECT_EQ(test, had.put, 100u);
	KUNIT_EXPECT_EQ(test, had.held, (s64)PENDING - 100);
	KUNIT_EXPECT_EQ(test, had.ram, (s64)PENDING - 100);
}

/* a page that has been received */
static struct nswap_entry *stored(struct held_test *h, u32 i, u64 slot, u32 gen)
{
	struct nswap_entry *e = &h->e[i];

	e->instance = 1;
	e->slot = slot;
	e->gen = gen;
	return e;
}

/* store @nr pages at once, of slots from 0 on; @first: of the entries. Returns how many are held */
static u32 store(struct held_test *h, u32 first, u32 nr, u32 gen, u16 *status)
{
	struct nswap_entry *entry[NSWAP_REQ_SLOTS];
	u32 i;

	for (i = 0; i < nr; i++)
		entry[i] = stored(h, first + i, i, gen);
	memset(&had, 0, sizeof(had));
	return nswap_held_insert(&h->c, &h->conn, entry, nr, status);
}

/* all pages of a message are counted once, whatever happens to each */
static void stored_together(struct kunit *test)
{
	struct held_test *h = test->priv;
	u16 status[NSWAP_REQ_SLOTS];

	KUNIT_EXPECT_EQ(test, store(h, 0, NSWAP_REQ_SLOTS, 5, status), (u32)NSWAP_REQ_SLOTS);
	KUNIT_EXPECT_EQ(test, had.chunks, 1u);
	KUNIT_EXPECT_EQ(test, had.held, (s64)NSWAP_REQ_SLOTS);
	KUNIT_EXPECT_EQ(test, had.ram, (s64)NSWAP_REQ_SLOTS);
	KUNIT_EXPECT_EQ(test, had.put, 0u);

	/* older ones are dropped, and nothing is counted */
	KUNIT_EXPECT_EQ(test, store(h, 32, 4, 4, status), 0u);
	KUNIT_EXPECT_EQ(test, status[0], NSWAP_ST_OLDER);
	KUNIT_EXPECT_EQ(test, had.chunks, 0u);
	KUNIT_EXPECT_EQ(test, had.put, 4u);

	/* one of a slot that has a newer page, among those that replace */
	h->e[1].gen = 7;
	KUNIT_EXPECT_EQ(test, store(h, 36, 3, 6, status), 2u);
	KUNIT_EXPECT_EQ(test, status[0], NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, status[1], NSWAP_ST_OLDER);
	KUNIT_EXPECT_EQ(test, status[2], NSWAP_ST_OK);
	KUNIT_EXPECT_EQ(test, had.put, 3u);
	KUNIT_EXPECT_EQ(test, had.held, 0);

	/* what shares a page replaces one that does not, and the other way round */
	h->e[40].in = &h->e[50];
	KUNIT_EXPECT_EQ(test, store(h, 40, 1, 8, status), 1u);
	KUNIT_EXPECT_EQ(test, had.held, 0);
	KUNIT_EXPECT_EQ(test, had.ram, -1);
	KUNIT_EXPECT_EQ(test, store(h, 41, 1, 9, status), 1u);
	KUNIT_EXPECT_EQ(test, had.ram, 1);

	/* a connection that is not the owner's any more stores nothing */
	h->conn.session = 0;
	KUNIT_EXPECT_EQ(test, store(h, 42, 8, 20, status), 0u);
	KUNIT_EXPECT_EQ(test, status[7], NSWAP_ST_STALE);
	KUNIT_EXPECT_EQ(test, had.put, 8u);
}

/* is the tree what these generations say (0: not held), in order, each page once on the lru? */
static void expect_held(struct kunit *test, const u32 *gen, u32 nr)
{
	struct held_test *h = test->priv;
	struct nswap_entry *e = nswap_held_from(&h->o, 0, 0);
	u32 slot, held = 0;

	for (slot = 0; slot < nr; slot++) {
		if (!gen[slot])
			continue;
		held++;
		KUNIT_ASSERT_NOT_NULL(test, e);
		KUNIT_ASSERT_EQ(test, e->slot, (u64)slot);
		KUNIT_ASSERT_EQ(test, e->gen, gen[slot]);
		e = nswap_held_next(e);
	}
	KUNIT_EXPECT_NULL(test, e);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&h->o.lru[0]), (size_t)held);
}

/* messages of slots in order with gaps, over ones of which some are held, some of them newer */
static void stored_in_runs(struct kunit *test)
{
	struct held_test *h = test->priv;
	u32 gen[128] = {}, round, next = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (round = 0; round < 400; round++) {
		u32 slot = prandom_u32_state(&rnd) % ARRAY_SIZE(gen), nr = 0, inserted, i;
		struct nswap_entry *entry[NSWAP_REQ_SLOTS];
		u16 status[NSWAP_REQ_SLOTS];

		while (nr < NSWAP_REQ_SLOTS && slot < ARRAY_SIZE(gen)) {
			entry[nr++] = stored(h, next++, slot,
					     100 + round / 2 + prandom_u32_state(&rnd) % 8);
			slot += 1 + !(prandom_u32_state(&rnd) % 4);
		}
		memset(&had, 0, sizeof(had));
		inserted = nswap_held_insert(&h->c, &h->conn, entry, nr, status);
		/* each took the place of another, was dropped, or is one more */
		KUNIT_ASSERT_EQ(test, (s64)had.put, nr - had.held);
		for (i = 0; i < nr; i++) {
			u32 *held = &gen[entry[i]->slot];
			bool older = *held > entry[i]->gen;

			inserted -= !older;
			KUNIT_ASSERT_EQ(test, status[i], older ? NSWAP_ST_OLDER : NSWAP_ST_OK);
			*held = max(*held, entry[i]->gen);
		}
		KUNIT_ASSERT_EQ(test, inserted, 0u);
		expect_held(test, gen, ARRAY_SIZE(gen));
	}
}

/* so many runs, each of all slots there could be; how many pages that freed */
static u64 free_all(struct kunit *test, u32 gen)
{
	struct nswap_wire_run r = {
		.instance = cpu_to_le32(1), .gen = cpu_to_le32(gen),
		.count = cpu_to_le32(U32_MAX),
	};
	struct held_test *h = test->priv;
	u64 freed = 0;
	u32 i;

	memset(&had, 0, sizeof(had));
	had.since = ktime_get_ns();
	for (i = 0; i < RUNS; i++)
		freed += nswap_held_drop(&h->c, &h->conn, &r, U64_MAX);
	kunit_info(test, "%u runs over %u pages: %llu freed, %u times under the lock, %llu ns each, %llu ns at least",
		   RUNS, HELD, freed, had.chunks, div_u64(had.all_ns, had.chunks), had.least_ns);
	KUNIT_EXPECT_EQ(test, had.put, (u32)freed);
	return freed;
}

/* a FREE of all slots, over and over: only so many pages are looked at under one lock */
static void free_everything(struct kunit *test)
{
	struct held_test *h = test->priv;
	struct nswap_entry *e;
	u16 status;
	u32 i;

	for (i = 0; i < HELD; i++) {
		e = stored(h, i, i * 40503ull % HELD, 9);
		KUNIT_ASSERT_EQ(test, nswap_held_insert(&h->c, &h->conn, &e, 1, &status), 1u);
	}
	KUNIT_EXPECT_EQ(test, free_all(test, 8), 0ull);
	KUNIT_EXPECT_GE(test, had.chunks, RUNS * HELD / DROP_CHUNK);
	KUNIT_EXPECT_EQ(test, free_all(test, 9), (u64)HELD);
	KUNIT_EXPECT_EQ(test, had.most_dropped, (s64)DROP_CHUNK);
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_ROOT(&h->o.tree));
}

static struct kunit_case held_cases[] = {
	KUNIT_CASE(claimed),
	KUNIT_CASE(one_of_a_slot),
	KUNIT_CASE(one_of_a_mover),
	KUNIT_CASE(not_claimed),
	KUNIT_CASE(stored_together),
	KUNIT_CASE(stored_in_runs),
	KUNIT_CASE(free_everything),
	{}
};

static struct kunit_suite held_suite = {
	.name = "nswap_held",
	.init = held_init,
	.exit = held_exit,
	.test_cases = held_cases,
};

kunit_test_suite(held_suite);
