/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of the IPTable: announcements, greetings, and what an entry is
 * expected to be. ip_table_kunit.c includes the unit.
 */
#ifndef NSWAP_IP_TABLE_KUNIT_H
#define NSWAP_IP_TABLE_KUNIT_H

#include <kunit/test.h>
#include <linux/socket.h>

#include "../../nswap/pure/ip_table.h"

#define SILENT_MS 5000

/* the state of an entry, by the rules at the head of the unit */
enum stand { UNUSED, LISTED, KNOWN, LEAVING, GONE, FOREIGN };

static inline u8 stands_for(const struct nswap_ipt_entry *e)
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

static inline struct nswap_addr addr(u16 n)
{
	return (struct nswap_addr){
		.family = AF_INET,
		.port = NSWAP_PORT,
		.ip = { 10, 0, n >> 8, n },
	};
}

static inline u64 id(u16 n)
{
	struct nswap_addr a = addr(n);

	return nswap_addr_id(&a, 0);
}

static inline struct nswap_announcement from(u16 n, u64 epoch)
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

static inline struct nswap_ipt_heard hear(struct nswap_ipt *t, u16 n, u64 epoch,
					  u64 now)
{
	struct nswap_announcement a = from(n, epoch);

	return nswap_ipt_hear(t, &a, now);
}

/* a connection to the address of an entry leads to node @id */
static inline struct nswap_ipt_heard greeted(struct nswap_ipt *t, u16 index, u64 id,
					     u64 epoch, u64 now)
{
	struct nswap_addr at = {};

	if (index && index <= t->top)
		at = t->entry[index].addr;
	return nswap_ipt_greeted(t, index, &at, id, epoch, now);
}

static inline struct nswap_ipt_heard hear_leaving(struct nswap_ipt *t, u16 n,
						  u64 epoch, u64 now)
{
	struct nswap_announcement a = from(n, epoch);

	a.leaving = true;
	return nswap_ipt_hear(t, &a, now);
}

static inline bool speaks(struct nswap_ipt *t, u16 n, u8 version, u64 now,
			  u64 silent_ms)
{
	struct nswap_addr a = addr(n);

	return nswap_ipt_speaks(t, &a, version, now, silent_ms);
}

static inline u16 list(struct nswap_ipt *t, u16 n)
{
	struct nswap_addr a = addr(n);

	return nswap_ipt_list(t, &a);
}

static inline void expect(struct kunit *test, struct nswap_ipt_heard h,
			  enum nswap_ipt_news news, u16 index, u16 was)
{
	KUNIT_EXPECT_EQ(test, h.news, news);
	KUNIT_EXPECT_EQ(test, h.index, index);
	KUNIT_EXPECT_EQ(test, h.was, was);
}

static inline void expect_entry(struct kunit *test, const struct nswap_ipt *t,
				u16 index, u8 state, u16 n, u64 epoch)
{
	const struct nswap_ipt_entry *e = &t->entry[index];
	struct nswap_addr a = addr(n);

	KUNIT_EXPECT_EQ(test, stands_for(e), state);
	KUNIT_EXPECT_EQ(test, e->epoch, epoch);
	KUNIT_EXPECT_EQ(test, e->id, epoch ? id(n) : 0);
	KUNIT_EXPECT_TRUE(test, nswap_addr_equal(&e->addr, &a));
}

static inline int make_table(struct kunit *test)
{
	struct nswap_ipt *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t || nswap_ipt_init(t))
		return -ENOMEM;
	test->priv = t;
	return 0;
}

static inline void drop_table(struct kunit *test)
{
	if (test->priv)
		nswap_ipt_exit(test->priv);
}

#endif
