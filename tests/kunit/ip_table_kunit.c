// SPDX-License-Identifier: GPL-2.0
/*
 * IPTable: life of an entry, ageing, a full table, and a random walk that
 * checks the invariants at the head of the unit after every step.
 */
#include <linux/prandom.h>

#include "../../nswap/pure/ip_table.c"
#include "ip_table_kunit.h"

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

struct age {
	const char *desc;
	u8 stand;
	u64 heard;
	u64 now;
	bool fresh;
};

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
		bool nameless = stands_for(e) == LISTED || stands_for(e) == FOREIGN ||
				(e->gone && e->listed && !e->id);

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
			if (nameless && !e->gone && stands_for(o) == LISTED &&
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

static struct kunit_case ip_table_cases[] = {
	KUNIT_CASE(starts_empty),
	KUNIT_CASE(new_peers),
	KUNIT_CASE(same_again),
	KUNIT_CASE(free_is_bounded),
	KUNIT_CASE(rebooted),
	KUNIT_CASE(late_announcement),
	KUNIT_CASE(greeting_overrules),
	KUNIT_CASE(moves),
	KUNIT_CASE(forgotten),
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
	KUNIT_CASE(shrinking_and_refused),
	{}
};

static struct kunit_suite ip_table_suite = {
	.name = "nswap_ip_table",
	.init = make_table,
	.exit = drop_table,
	.test_cases = ip_table_cases,
};

kunit_test_suite(ip_table_suite);
