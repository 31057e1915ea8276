// SPDX-License-Identifier: GPL-2.0
/*
 * Wire protocol, announcements: what is put is what is got, and nothing else is taken.
 * Their unit is in wire_kunit.c.
 */
#include <kunit/test.h>
#include <linux/socket.h>

#include "../../nswap/pure/wire.h"

static const struct nswap_announcement announcements[] = {
	{ .id = 1, .epoch = 1, .addr = { AF_INET, 9611, 0, { 10, 0, 0, 1 } } },
	{ .id = U64_MAX, .epoch = U64_MAX,
	  .addr = { AF_INET6, 65535, 0, { 0xfe, 0x80, [15] = 0xff } },
	  .lent = U64_MAX, .free = U64_MAX - 1, .used = U64_MAX - 2 },
	{ .id = 0x0102030405060708, .epoch = 9,
	  .addr = { AF_INET, 1, 0, { 192, 168, 255, 254 } },
	  .lent = 4096, .free = 1000, .used = 3096, .leaving = true },
	{ .id = 2, .epoch = 3, .addr = { AF_INET, 9, 0, { 1, 2, 3, 4 } },
	  .answer = true },
	{ .id = 2, .epoch = 3, .addr = { AF_INET, 9, 0, { 1, 2, 3, 4 } },
	  .leaving = true, .answer = true },
	{ .id = 2, .epoch = 3, .addr = { AF_INET, 9, 0, { 1, 2, 3, 4 } },
	  .lent = 9, .shrinking = true },
};

static void announce_round_trip(struct kunit *test)
{
	struct nswap_wire_announce w;
	struct nswap_announcement b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(announcements); i++) {
		const struct nswap_announcement *a = &announcements[i];

		memset(&w, 0xff, sizeof(w));
		memset(&b, 0xff, sizeof(b));
		nswap_wire_put_announce(&w, a);
		KUNIT_ASSERT_EQ(test, nswap_wire_get_announce(&w, sizeof(w),
							      &b), 0);
		KUNIT_EXPECT_EQ(test, b.id, a->id);
		KUNIT_EXPECT_EQ(test, b.epoch, a->epoch);
		KUNIT_EXPECT_EQ(test, memcmp(&b.addr, &a->addr,
					     sizeof(b.addr)), 0);
		KUNIT_EXPECT_EQ(test, b.lent, a->lent);
		KUNIT_EXPECT_EQ(test, b.free, a->free);
		KUNIT_EXPECT_EQ(test, b.used, a->used);
		KUNIT_EXPECT_EQ(test, b.leaving, a->leaving);
		KUNIT_EXPECT_EQ(test, b.answer, a->answer);
		KUNIT_EXPECT_EQ(test, b.shrinking, a->shrinking);
	}
}

/* a scope id is local to one machine and is not sent */
static void scope_stays_here(struct kunit *test)
{
	struct nswap_announcement a = announcements[1], b;
	struct nswap_wire_announce w;

	a.addr.scope = 5;
	nswap_wire_put_announce(&w, &a);
	KUNIT_ASSERT_EQ(test, nswap_wire_get_announce(&w, sizeof(w), &b), 0);
	KUNIT_EXPECT_EQ(test, b.addr.scope, 0u);
}

static void announce_wrong_length(struct kunit *test)
{
	struct nswap_wire_announce w;
	struct nswap_announcement b;
	size_t len;

	nswap_wire_put_announce(&w, &announcements[0]);
	for (len = 0; len < 2 * sizeof(w); len++)
		if (len != sizeof(w))
			KUNIT_EXPECT_EQ(test,
					nswap_wire_get_announce(&w, len, &b),
					-EPROTO);
}

static void announce_wrong_fields(struct kunit *test)
{
	struct nswap_wire_announce good, w;
	struct nswap_announcement b;

#define REJECTED(change, error) do {					\
	w = good;							\
	change;								\
	KUNIT_EXPECT_EQ(test, nswap_wire_get_announce(&w, sizeof(w), &b), \
			error);						\
} while (0)

	nswap_wire_put_announce(&good, &announcements[0]);
	REJECTED(w.id = 0, -EPROTO);
	REJECTED(w.epoch = 0, -EPROTO);
	REJECTED(w.port = 0, -EPROTO);
	REJECTED(w.family = 0, -EPROTO);
	REJECTED(w.family = cpu_to_le16(3), -EPROTO);
	REJECTED(w.family = cpu_to_le16(AF_INET << 8), -EPROTO);
	REJECTED(w.reserved = cpu_to_le32(1), -EPROTO);
	REJECTED(w.hdr.magic = 0, -EPROTO);
	REJECTED(w.hdr.version = 1, -EPROTONOSUPPORT);
	REJECTED(w.hdr.version = 3, -EPROTONOSUPPORT);
	REJECTED(w.hdr.flags = cpu_to_le16(NSWAP_F_LAST), -EPROTO);
	REJECTED(w.hdr.bytes = cpu_to_le32(65), -EPROTO);
	REJECTED(nswap_wire_init(&w.hdr, NSWAP_PING, 0, 0), -EPROTO);
#undef REJECTED
}

static struct kunit_case wire_announce_cases[] = {
	KUNIT_CASE(announce_round_trip),
	KUNIT_CASE(scope_stays_here),
	KUNIT_CASE(announce_wrong_length),
	KUNIT_CASE(announce_wrong_fields),
	{}
};

static struct kunit_suite wire_announce_suite = {
	.name = "nswap_wire_announce",
	.test_cases = wire_announce_cases,
};

kunit_test_suite(wire_announce_suite);
