// SPDX-License-Identifier: GPL-2.0
/*
 * IPTable: life of an entry, ageing, a full table, and a random walk that
 * checks the invariants at the head of the unit after every step.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/pure/ip_table.c"

/* the state of an entry, by the rules at the head of the unit */
enum stand { UNUSED, LISTED, KNOWN, LEAVING, GONE, FOREIGN };

static u8 stands_for(const struct nswap_ipt_entry *e)
{
	if (!nswap_ipt_used(e))
		return UNUSED;
	if (e->gone)
		return GONE;
	if (nswap_ipt_foreign(e))
		return FOREIGN;
	if (!nswap_ipt_alive(e))
		return LISTED;
	return nswap_ipt_stays(e) ? KNOWN : LEAVING;
}

static struct nswap_addr addr(u16 n)
{
	return (struct nswap_addr){
		.family = AF_INET,
		.port = NSWAP_PORT,
		.ip = { 10, 0, n >> 8, n },
	};
}

static u64 id(u16 n)
{
	struct nswap_addr a = addr(n);

	return nswap_addr_id(&a, 0);
}

static struct nswap_announcement from(u16 n, u64 epoch)
{
	return (struct nswap_announcement){
		.id = id(n),
		.epoch = epoch,
		.addr = addr(n),
		.lent = 1000,
		.free = 600,
		.used = 400,
	};
}

static struct nswap_ipt_heard hear(struct nswap_ipt *t, u16 n, u64 epoch,
				   u64 now)
{
	struct nswap_announcement a = from(n, epoch);

	return nswap_ipt_hear(t, &a, now);
}

/* a connection to the address of an entry leads to node @id */
static struct nswap_ipt_heard greeted(struct nswap_ipt *t, u16 index, u64 id,
				      u64 epoch, u64 now)
{
	struct nswap_addr at = {};

	if (index && index <= t->top)
		at = t->entry[index].addr;
	return nswap_ipt_greeted(t, index, &at, id, epoch, now);
}

static struct nswap_ipt_heard hear_leaving(struct nswap_ipt *t, u16 n,
					   u64 epoch, u64 now)
{
	struct nswap_announcement a = from(n, epoch);

	a.leaving = true;
	return nswap_ipt_hear(t, &a, now);
}

static bool speaks(struct nswap_ipt *t, u16 n, u8 version, u64 now,
		   u64 silent_ms)
{
	struct nswap_addr a = addr(n);

	return nswap_ipt_speaks(t, &a, version, now, silent_ms);
}

static u16 list(struct nswap_ipt *t, u16 n)
{
	struct nswap_addr a = addr(n);

	return nswap_ipt_list(t, &a);
}

static void expect(struct kunit *test, struct nswap_ipt_heard h,
		   enum nswap_ipt_news news, u16 index, u16 was)
{
	KUNIT_EXPECT_EQ(test, h.news, news);
	KUNIT_EXPECT_EQ(test, h.index, index);
	KUNIT_EXPECT_EQ(test, h.was, was);
}

static void expect_entry(struct kunit *test, const struct nswap_ipt *t,
			 u16 index, u8 state, u16 n, u64 epoch)
{
	const struct nswap_ipt_entry *e = &t->entry[index];
	struct nswap_addr a = addr(n);

	KUNIT_EXPECT_EQ(test, stands_for(e), state);
	KUNIT_EXPECT_EQ(test, e->epoch, epoch);
	KUNIT_EXPECT_EQ(test, e->id, epoch ? id(n) : 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&e->addr, &a));
}

static int make_table(struct kunit *test)
{
	struct nswap_ipt *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t || nswap_ipt_init(t))
		return -ENOMEM;
	test->priv = t;
	return 0;
}

static void drop_table(struct kunit *test)
{
	if (test->priv)
		nswap_ipt_exit(test->priv);
}

static void starts_empty(struct kunit *test)
{
	struct nswap_ipt *t = test->priv, none = {};

	KUNIT_EXPECT_EQ(test, t->top, 0u);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, id(1)), 0);
	nswap_ipt_exit(&none);
}

static void new_peers(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 1, 0);
	expect(test, hear(t, 2, 22, 200), NSWAP_IPT_NEW, 2, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	expect_entry(test, t, 2, KNOWN, 2, 22);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 1000ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].used, 400ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 100ull);
	KUNIT_EXPECT_FALSE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, t->top, 2u);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, id(2)), 2);
}

static void same_again(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_announcement a = from(1, 11);

	hear(t, 1, 11, 100);
	a.lent = 50;
	a.free = 20;
	a.used = 30;
	expect(test, nswap_ipt_hear(t, &a, 1100), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 50ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 20ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].used, 30ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 1100ull);
	KUNIT_EXPECT_EQ(test, t->top, 1u);
}

/* no peer has more free than it lends, whatever it announces */
static void free_is_bounded(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_announcement a = from(1, 11);

	a.free = U64_MAX;
	nswap_ipt_hear(t, &a, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 1000ull);
}

static void rebooted(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	hear(t, 2, 22, 100);
	expect(test, hear(t, 1, 12, 200), NSWAP_IPT_REBOOTED, 3, 1);
	expect_entry(test, t, 1, GONE, 1, 11);
	expect_entry(test, t, 2, KNOWN, 2, 22);
	expect_entry(test, t, 3, KNOWN, 1, 12);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, id(1)), 3);
	expect(test, hear(t, 1, 12, 300), NSWAP_IPT_SAME, 3, 0);
}

/* a late datagram of the old epoch */
static void late_announcement(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	hear(t, 1, 12, 200);
	expect(test, hear(t, 1, 11, 300), NSWAP_IPT_SAME, 2, 0);
	expect_entry(test, t, 1, GONE, 1, 11);
	expect_entry(test, t, 2, KNOWN, 1, 12);
	KUNIT_EXPECT_EQ(test, t->entry[2].heard_ms, 200ull);
	expect(test, hear_leaving(t, 1, 11, 300), NSWAP_IPT_SAME, 2, 0);
	expect_entry(test, t, 2, KNOWN, 1, 12);
}

/* a greeting arrives on a live connection, so it is current */
static void greeting_overrules(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	hear(t, 1, 12, 200);
	expect(test, greeted(t, 2, id(1), 11, 300),
	       NSWAP_IPT_REBOOTED, 3, 2);
	expect_entry(test, t, 1, GONE, 1, 11);
	expect_entry(test, t, 2, GONE, 1, 12);
	expect_entry(test, t, 3, KNOWN, 1, 11);
	expect(test, hear(t, 1, 11, 400), NSWAP_IPT_SAME, 3, 0);
}

static void listed_once(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	KUNIT_EXPECT_EQ(test, list(t, 2), 2);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	expect_entry(test, t, 1, LISTED, 1, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, 0), 0);
}

static void listed_is_adopted_by_announcement(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 1);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
	KUNIT_EXPECT_EQ(test, t->top, 1u);
}

static void listed_is_adopted_by_greeting(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 1);
	expect(test, greeted(t, 1, id(1), 11, 100),
	       NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 0ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 100ull);
	expect(test, hear(t, 1, 11, 200), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
}

/* listed after it was heard, and still listed after its reboot */
static void listed_survives_reboot(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	expect(test, hear(t, 1, 12, 200), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_EQ(test, list(t, 1), 2);
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	expect_entry(test, t, 2, KNOWN, 1, 12);
}

/* a host that is listed by another of its addresses than the one it announces */
static void listed_by_another_address(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	list(t, 9);
	expect(test, hear(t, 1, 11, 100), NSWAP_IPT_NEW, 2, 0);
	expect(test, greeted(t, 1, id(1), 11, 200),
	       NSWAP_IPT_SAME, 2, 0);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)LISTED);
	KUNIT_EXPECT_EQ(test, t->entry[2].heard_ms, 200ull);
}

/* an announcement changes no address: the listed one is known to work */
static void listed_address_stays(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	greeted(t, 1, id(1), 11, 100);
	expect(test, hear(t, 1, 11, 200), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[1].addr, &nine));
}

/* heard from elsewhere: the same entry, whose address changes when it is told to */
static void moves(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_announcement a = from(1, 11);
	struct nswap_addr two = addr(2);
	struct nswap_ipt_heard h;

	KUNIT_EXPECT_FALSE(test, hear(t, 1, 11, 100).elsewhere);
	a.addr = two;
	a.lent = 50;
	a.leaving = true;
	h = nswap_ipt_hear(t, &a, 200);
	expect(test, h, NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_TRUE(test, h.elsewhere);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 50ull);
	nswap_ipt_moved(t, 1, &two);
	h = nswap_ipt_hear(t, &a, 300);
	KUNIT_EXPECT_FALSE(test, h.elsewhere);
	KUNIT_EXPECT_TRUE(test, t->entry[1].leaving);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[1].addr, &two));
	/* another node where it was is another entry */
	expect(test, greeted(t, 1, id(3), 33, 400), NSWAP_IPT_NEW, 2, 0);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)LEAVING);
}

/* a listed node that has moved is listed where the user said, and is so again */
static void listed_node_moves(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr one = addr(1), two = addr(2);

	list(t, 1);
	hear(t, 1, 11, 100);
	nswap_ipt_moved(t, 1, &two);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[1].listed_at, &one));
	expect(test, hear(t, 1, 12, 200), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &one));
	nswap_ipt_release(t, 1);
	nswap_ipt_moved(t, 2, &two);
	nswap_ipt_forget(t, 2);
	nswap_ipt_release(t, 2);
	expect_entry(test, t, 2, LISTED, 1, 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &one));
}

/* what is forgotten is not named any more, and may be heard again */
static void forgotten(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	nswap_ipt_forget(t, 7);
	nswap_ipt_forget(t, 1);
	expect_entry(test, t, 1, GONE, 1, 11);
	nswap_ipt_release(t, 1);
	expect(test, hear(t, 1, 11, 200), NSWAP_IPT_NEW, 1, 0);
}

static void leaving(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	expect(test, hear_leaving(t, 1, 11, 200), NSWAP_IPT_SAME, 1, 0);
	expect_entry(test, t, 1, LEAVING, 1, 11);
	expect(test, hear_leaving(t, 1, 11, 300), NSWAP_IPT_SAME, 1, 0);
	expect(test, greeted(t, 1, id(1), 11, 400),
	       NSWAP_IPT_SAME, 1, 0);
	expect_entry(test, t, 1, LEAVING, 1, 11);
	KUNIT_EXPECT_EQ(test, nswap_ipt_find(t, id(1)), 1);
	expect(test, hear(t, 1, 11, 500), NSWAP_IPT_SAME, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
}

static void leaving_then_back(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	hear_leaving(t, 1, 11, 200);
	expect(test, hear(t, 1, 12, 300), NSWAP_IPT_REBOOTED, 2, 1);
	expect_entry(test, t, 1, GONE, 1, 11);
	expect(test, hear_leaving(t, 1, 13, 400), NSWAP_IPT_REBOOTED, 3, 2);
	expect_entry(test, t, 3, LEAVING, 1, 13);
}

static void stranger_leaves(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	expect(test, hear_leaving(t, 1, 11, 100), NSWAP_IPT_SAME, 0, 0);
	KUNIT_EXPECT_EQ(test, t->top, 0u);
	list(t, 2);
	expect(test, hear_leaving(t, 2, 22, 100), NSWAP_IPT_SAME, 0, 0);
	expect_entry(test, t, 1, LISTED, 2, 0);
}

/* another node answers at the address of a known peer */
static void greeted_by_another(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	expect(test, greeted(t, 1, id(2), 22, 200),
	       NSWAP_IPT_NEW, 2, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 100ull);
	KUNIT_EXPECT_EQ(test, t->entry[2].id, id(2));
}

static void greeted_nowhere(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	expect(test, greeted(t, 0, id(1), 11, 1),
	       NSWAP_IPT_FULL, 0, 0);
	expect(test, greeted(t, 1, id(1), 11, 1),
	       NSWAP_IPT_FULL, 0, 0);
	expect(test, greeted(t, U16_MAX, id(1), 11, 1),
	       NSWAP_IPT_FULL, 0, 0);
	KUNIT_EXPECT_EQ(test, t->top, 0u);
}

static void full(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	u16 n;

	hear(t, 1, 11, 1);
	hear(t, 1, 12, 1);
	for (n = 3; n <= NSWAP_MAX_PEERS; n++)
		expect(test, hear(t, n, 1, 1), NSWAP_IPT_NEW, n, 0);
	KUNIT_EXPECT_EQ(test, t->top, (unsigned int)NSWAP_MAX_PEERS);

	expect(test, hear(t, 2000, 1, 2), NSWAP_IPT_FULL, 0, 0);
	expect(test, greeted(t, 2, id(2000), 1, 2),
	       NSWAP_IPT_FULL, 0, 0);
	KUNIT_EXPECT_EQ(test, list(t, 2000), 0);
	KUNIT_EXPECT_EQ(test, list(t, 5), 5);
	expect(test, hear(t, 5, 1, 2), NSWAP_IPT_SAME, 5, 0);
	expect(test, hear(t, 5, 2, 3), NSWAP_IPT_FULL, 0, 0);
	expect_entry(test, t, 5, KNOWN, 5, 1);

	nswap_ipt_release(t, 1);
	expect(test, hear(t, 5, 2, 4), NSWAP_IPT_REBOOTED, 1, 5);
}

static void released(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 1);
	hear(t, 2, 22, 1);
	nswap_ipt_release(t, 1);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	hear(t, 1, 12, 2);
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	KUNIT_EXPECT_EQ(test, t->top, 3u);
	expect(test, hear(t, 4, 44, 3), NSWAP_IPT_NEW, 1, 0);
	expect(test, hear(t, 1, 13, 3), NSWAP_IPT_REBOOTED, 4, 3);
	nswap_ipt_release(t, 3);
	KUNIT_EXPECT_EQ(test, t->top, 4u);
}

static void top_comes_down(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 1);
	hear(t, 2, 22, 1);
	hear(t, 1, 12, 2);
	nswap_ipt_release(t, 1);
	hear(t, 1, 13, 3);
	expect_entry(test, t, 1, KNOWN, 1, 13);
	nswap_ipt_release(t, 3);
	KUNIT_EXPECT_EQ(test, t->top, 2u);
}

/* it is listed through epochs and addresses; without it all starts again from zero */
static void listed_is_listed_again(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_addr nine = addr(9);

	list(t, 9);
	greeted(t, 1, id(1), 11, 1);
	expect(test, hear(t, 1, 12, 2), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&t->entry[2].listed_at, &nine));
	nswap_ipt_release(t, 1);
	KUNIT_EXPECT_EQ(test, stands_for(&t->entry[1]), (u8)UNUSED);
	nswap_ipt_forget(t, 2);
	nswap_ipt_release(t, 2);
	expect_entry(test, t, 2, LISTED, 9, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
	KUNIT_EXPECT_EQ(test, t->entry[2].heard_ms, 0ull);
}

struct age {
	const char *desc;
	u8 stand;
	u64 heard;
	u64 now;
	bool fresh;
};

#define SILENT_MS 5000

static const struct age ages[] = {
	{ "just heard", KNOWN, 100, 100, true },
	{ "a while ago", KNOWN, 100, 5099, true },
	{ "at the limit", KNOWN, 100, 5100, true },
	{ "past the limit", KNOWN, 100, 5101, false },
	{ "long ago", KNOWN, 100, U64_MAX, false },
	{ "leaving is heard too", LEAVING, 100, 200, true },
	{ "clock a little back", KNOWN, 5100, 5000, true },
	{ "clock far back", KNOWN, 50000, 100, false },
	{ "clock far ahead", KNOWN, 100, 1ull << 40, false },
	{ "clock back to zero", KNOWN, U64_MAX, 0, false },
	{ "listed only", LISTED, 0, 0, false },
	{ "gone", GONE, 100, 100, false },
	{ "unused", UNUSED, 0, 0, false },
};

static void age_desc(const struct age *a, char *desc)
{
	strscpy(desc, a->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(age, ages, age_desc);

static void ageing(struct kunit *test)
{
	const struct age *a = test->param_value;
	struct nswap_ipt_entry e = {
		.listed = a->stand == LISTED, .gone = a->stand == GONE,
		.leaving = a->stand == LEAVING, .heard_ms = a->heard,
		.id = a->stand == UNUSED || a->stand == LISTED ? 0 : 1,
	};

	KUNIT_EXPECT_EQ(test, nswap_ipt_fresh(&e, a->now, SILENT_MS), a->fresh);
}

/* after any jump of the clock the next announcement repairs the entry */
static void jump_is_mended(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 1000000);
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1], 10, SILENT_MS));
	hear(t, 1, 11, 10);
	KUNIT_EXPECT_TRUE(test, nswap_ipt_fresh(&t->entry[1], 10, SILENT_MS));
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1], 10 + 2 * SILENT_MS,
						 SILENT_MS));
}

static void equal_addresses(struct kunit *test)
{
	struct nswap_addr a = addr(1), b = a;

	b.ip[4] = 1;
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&a, &b));
	b.ip[3]++;
	KUNIT_EXPECT_FALSE(test, nswap_addr_equal(&a, &b));
	b = a;
	b.port++;
	KUNIT_EXPECT_FALSE(test, nswap_addr_equal(&a, &b));
	b = a;
	b.scope++;
	KUNIT_EXPECT_FALSE(test, nswap_addr_equal(&a, &b));
	b = a;
	b.family = AF_INET6;
	KUNIT_EXPECT_FALSE(test, nswap_addr_equal(&a, &b));
	a = b;
	b.ip[15] = 1;
	KUNIT_EXPECT_FALSE(test, nswap_addr_equal(&a, &b));
}

/* constants from an independent SipHash: a node's id is the same after a reboot */
static void ids_are_fixed(struct kunit *test)
{
	struct nswap_addr a = addr(1);
	struct nswap_addr b = {
		AF_INET6, 9611, 0, { 0x20, 1, 0xd, 0xb8, [15] = 1 }
	};

	KUNIT_EXPECT_EQ(test, nswap_addr_id(&a, 0), 0xd14b59a0a1598cd2ull);
	KUNIT_EXPECT_EQ(test, nswap_addr_id(&b, 0), 0xe7b77f27fae0d9d0ull);
	KUNIT_EXPECT_EQ(test, nswap_addr_id(&a, 0x027700000001ull),
			0x55dd8c4933cc80d3ull);
	a.ip[15] = 1;
	a.scope = 3;
	KUNIT_EXPECT_EQ(test, nswap_addr_id(&a, 0), 0xd14b59a0a1598cd2ull);
	a.port++;
	KUNIT_EXPECT_NE(test, nswap_addr_id(&a, 0), 0xd14b59a0a1598cd2ull);
}

/* the invariants at the head of the unit; false after the first violation */
static bool sound(struct kunit *test, const struct nswap_ipt *t)
{
	unsigned int i, j;

	for (i = 1; i <= NSWAP_MAX_PEERS && i <= t->top + 2; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];
		bool nameless = stands_for(e) == LISTED || stands_for(e) == FOREIGN;

		if (i > t->top && nswap_ipt_used(e))
			goto broken;
		if (!nswap_ipt_used(e))
			continue;
		if (!e->id != nameless || !e->epoch != nameless ||
		    e->free > e->lent)
			goto broken;
		for (j = i + 1; j <= t->top; j++) {
			const struct nswap_ipt_entry *o = &t->entry[j];

			if (nswap_ipt_alive(e) && nswap_ipt_alive(o) &&
			    e->id == o->id)
				goto broken;
			if (nameless && stands_for(o) == LISTED &&
			    nswap_addr_equal(&e->addr, &o->addr))
				goto broken;
		}
	}
	if (!t->top || nswap_ipt_used(&t->entry[t->top]))
		return true;
	i = t->top;
broken:
	KUNIT_FAIL(test, "entry %u of %u is wrong", i, t->top);
	return false;
}

static void random_walk(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	struct nswap_ipt_entry before;
	struct nswap_ipt_heard h;
	struct rnd_state rnd;
	unsigned int step;

	prandom_seed_state(&rnd, 4);
	for (step = 0; step < 50000; step++) {
		u16 n = 1 + prandom_u32_state(&rnd) % 8;
		u64 epoch = 1 + prandom_u32_state(&rnd) % 5;
		u16 at = prandom_u32_state(&rnd) % (t->top + 2);

		before = t->entry[at];
		h = (struct nswap_ipt_heard){};
		switch (prandom_u32_state(&rnd) % 8) {
		case 0:
			nswap_ipt_release(t, at);
			before.epoch = 0;
			break;
		case 1:
			list(t, n);
			break;
		case 2:
			h = greeted(t, at, id(n), epoch, step);
			break;
		case 3:
			h = hear_leaving(t, n, epoch, step);
			break;
		case 4:
			speaks(t, n, 1, step, SILENT_MS);
			break;
		default:
			h = hear(t, n, epoch, step);
		}
		if (!sound(test, t))
			return;
		/* an index means one epoch until it is released */
		if (before.epoch &&
		    (t->entry[at].id != before.id ||
		     t->entry[at].epoch != before.epoch)) {
			KUNIT_FAIL(test, "step %u: index %u changed hands",
				   step, at);
			return;
		}
		if (h.news == NSWAP_IPT_REBOOTED)
			KUNIT_EXPECT_EQ(test, stands_for(&t->entry[h.was]),
					(u8)GONE);
	}
}

/* a node of another version is forgotten, a peer and a listed address are not */
static void foreign_expires(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 100);
	list(t, 2);
	KUNIT_EXPECT_TRUE(test, speaks(t, 2, 1, 100, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 3, 1, 100, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 4, 1, 100, SILENT_MS));
	speaks(t, 3, 1, 900, SILENT_MS);
	nswap_ipt_expire(t, 1100, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 4u);
	nswap_ipt_expire(t, 1101, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 3u);
	KUNIT_EXPECT_TRUE(test, nswap_ipt_foreign(&t->entry[3]));
	nswap_ipt_expire(t, 1901, 1000);
	KUNIT_EXPECT_EQ(test, t->top, 2u);
	KUNIT_EXPECT_TRUE(test, nswap_ipt_alive(&t->entry[1]));
	KUNIT_EXPECT_TRUE(test, t->entry[2].listed);
}

/* shrinking is announced, being full shows by a refusal; an announcement clears both */
static void shrinking_and_refused(struct kunit *test)
{
	struct nswap_announcement a = from(1, 11);
	struct nswap_ipt *t = test->priv;

	a.shrinking = true;
	nswap_ipt_hear(t, &a, 100);
	KUNIT_EXPECT_TRUE(test, t->entry[1].shrinking);
	hear(t, 1, 11, 200);
	KUNIT_EXPECT_FALSE(test, t->entry[1].shrinking);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
	nswap_ipt_refused(t, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 0ull);
	KUNIT_EXPECT_EQ(test, t->entry[1].lent, 1000ull);
	nswap_ipt_refused(t, 0);
	nswap_ipt_refused(t, 2);
	hear(t, 1, 11, 300);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
	hear(t, 1, 12, 400);
	nswap_ipt_refused(t, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].free, 600ull);
}

/* an unknown node of another version has an entry, until it uses this version */
static void foreign(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 0, 90, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->top, 0u);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 100, SILENT_MS));
	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 1, 200, SILENT_MS));
	expect_entry(test, t, 1, FOREIGN, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 200ull);
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1], 200, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 3, 300, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 3);
	expect(test, hear(t, 1, 11, 400), NSWAP_IPT_NEW, 1, 0);
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_EQ(test, t->top, 1u);
}

/* a listed entry stays, and so does its version until this version is heard */
static void foreign_listed(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	speaks(t, 1, 1, 100, SILENT_MS);
	KUNIT_EXPECT_EQ(test, list(t, 1), 1);
	KUNIT_EXPECT_EQ(test, list(t, 2), 2);
	speaks(t, 2, 1, 100, 0);
	expect_entry(test, t, 1, LISTED, 1, 0);
	expect_entry(test, t, 2, LISTED, 2, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[2].version, 1);
	expect(test, greeted(t, 1, id(1), 11, 200), NSWAP_IPT_NEW, 1,
	       0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, t->entry[1].listed);
}

/* of a fresh peer a greeting is believed, a datagram is not; both expire */
static void foreign_doubted(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;

	hear(t, 1, 11, 1000);
	KUNIT_EXPECT_FALSE(test, speaks(t, 1, 1, 1000 + SILENT_MS, SILENT_MS));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 1000 + SILENT_MS, 0));
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].heard_ms, 1000ull);
	expect(test, hear(t, 1, 11, 1000 + SILENT_MS), NSWAP_IPT_SAME, 1, 0);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_TRUE(test, speaks(t, 1, 1, 1001 + 2 * SILENT_MS,
				       SILENT_MS));
	expect_entry(test, t, 1, KNOWN, 1, 11);
	KUNIT_EXPECT_FALSE(test, nswap_ipt_fresh(&t->entry[1],
						 1001 + 2 * SILENT_MS,
						 SILENT_MS));
	/* an upgrade is another epoch: the version of the old entry does not count */
	expect(test, hear(t, 1, 12, 9000), NSWAP_IPT_REBOOTED, 2, 1);
	KUNIT_EXPECT_EQ(test, t->entry[1].version, 0);
	KUNIT_EXPECT_EQ(test, t->entry[2].version, 0);
}

/* they displace no other entry, and are replaced when an entry is needed */
static void foreign_gives_way(struct kunit *test)
{
	struct nswap_ipt *t = test->priv;
	unsigned int n;

	for (n = 1; n <= NSWAP_MAX_PEERS - 2; n++)
		hear(t, n, n, 100);
	KUNIT_EXPECT_TRUE(test, speaks(t, 5001, 1, 200, SILENT_MS));
	KUNIT_EXPECT_TRUE(test, speaks(t, 5002, 1, 300, SILENT_MS));
	KUNIT_EXPECT_FALSE(test, speaks(t, 5003, 1, 400, SILENT_MS));
	expect(test, hear(t, 6001, 1, 500), NSWAP_IPT_NEW, NSWAP_MAX_PEERS - 1,
	       0);
	KUNIT_EXPECT_EQ(test, list(t, 6002), NSWAP_MAX_PEERS);
	expect(test, hear(t, 6003, 1, 500), NSWAP_IPT_FULL, 0, 0);
	KUNIT_EXPECT_EQ(test, t->entry[NSWAP_MAX_PEERS].version, 0);
}

static struct kunit_case ip_table_cases[] = {
	KUNIT_CASE(starts_empty),
	KUNIT_CASE(new_peers),
	KUNIT_CASE(same_again),
	KUNIT_CASE(free_is_bounded),
	KUNIT_CASE(rebooted),
	KUNIT_CASE(late_announcement),
	KUNIT_CASE(greeting_overrules),
	KUNIT_CASE(listed_once),
	KUNIT_CASE(listed_is_adopted_by_announcement),
	KUNIT_CASE(listed_is_adopted_by_greeting),
	KUNIT_CASE(listed_survives_reboot),
	KUNIT_CASE(listed_by_another_address),
	KUNIT_CASE(listed_address_stays),
	KUNIT_CASE(moves),
	KUNIT_CASE(listed_node_moves),
	KUNIT_CASE(forgotten),
	KUNIT_CASE(listed_is_listed_again),
	KUNIT_CASE(leaving),
	KUNIT_CASE(leaving_then_back),
	KUNIT_CASE(stranger_leaves),
	KUNIT_CASE(greeted_by_another),
	KUNIT_CASE(greeted_nowhere),
	KUNIT_CASE(full),
	KUNIT_CASE(released),
	KUNIT_CASE(top_comes_down),
	KUNIT_CASE_PARAM(ageing, age_gen_params),
	KUNIT_CASE(jump_is_mended),
	KUNIT_CASE(equal_addresses),
	KUNIT_CASE(ids_are_fixed),
	KUNIT_CASE(random_walk),
	KUNIT_CASE(foreign_expires),
	KUNIT_CASE(shrinking_and_refused),
	KUNIT_CASE(foreign),
	KUNIT_CASE(foreign_listed),
	KUNIT_CASE(foreign_doubted),
	KUNIT_CASE(foreign_gives_way),
	{}
};

static struct kunit_suite ip_table_suite = {
	.name = "nswap_ip_table",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_cases,
};

kunit_test_suite(ip_table_suite);
