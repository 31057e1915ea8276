// SPDX-License-Identifier: GPL-2.0
/*
 * Wire protocol: legal messages are accepted, all others refused.
 *
 * The table of legal messages is written down here a second time, by hand: a
 * slip in the unit's own table shows as a difference.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../nswap/pure/wire.c"
#include "wire_kunit.h"

#define STORE_EACH	(4096 + 4)
#define RUN		24
#define MOVE_EACH	(16 + 4096)

/**
 * struct legal - a message that must be accepted
 * @desc: name of the type, and which of its forms
 * @type: enum nswap_wire_type
 * @nr: slots or runs
 * @bytes: payload
 * @flags: NSWAP_F_*
 */
struct legal {
	const char *desc;
	u8 type;
	u32 nr;
	u32 bytes;
	u16 flags;
};

static const struct legal legals[] = {
	{ "greet", NSWAP_GREET, 0, 120 },
	{ "hello", NSWAP_HELLO, 0, 144 },
	{ "hello-ack", NSWAP_HELLO_ACK, 0, 104 },
	{ "store, one page", NSWAP_STORE, 1, STORE_EACH },
	{ "store, most", NSWAP_STORE, 32, 32 * STORE_EACH },
	{ "store, timed", NSWAP_STORE, 1, STORE_EACH, NSWAP_F_TIMED },
	{ "store, reserved", NSWAP_STORE, 1, STORE_EACH, NSWAP_F_RESERVED },
	{ "store-ack, one", NSWAP_STORE_ACK, 1, 8 },
	{ "store-ack, most", NSWAP_STORE_ACK, 32, 256 },
	{ "load, one", NSWAP_LOAD, 1, 4 },
	{ "load, most", NSWAP_LOAD, 32, 128 },
	{ "load, timed", NSWAP_LOAD, 1, 4, NSWAP_F_TIMED },
	{ "load, short", NSWAP_LOAD, 32, 128, NSWAP_F_SHORT },
	{ "load-reply, not held", NSWAP_LOAD_REPLY, 1, 4 },
	{ "load-reply, one page", NSWAP_LOAD_REPLY, 1, 4 + 4096 },
	{ "load-reply, some held", NSWAP_LOAD_REPLY, 32, 128 + 5 * 4096 },
	{ "load-reply, most", NSWAP_LOAD_REPLY, 32, 128 + 32 * 4096 },
	{ "free, one", NSWAP_FREE, 1, RUN },
	{ "free, most", NSWAP_FREE, 128, 128 * RUN },
	{ "free, not recorded", NSWAP_FREE, 1, RUN, NSWAP_F_NO_RECORD },
	{ "free-ack", NSWAP_FREE_ACK, 0, 0 },
	{ "free-device", NSWAP_FREE_DEVICE, 0, 0 },
	{ "hold-ask", NSWAP_HOLD_ASK, 0, 0 },
	{ "hold-list, none", NSWAP_HOLD_LIST, 0, 0, NSWAP_F_LAST },
	{ "hold-list, most", NSWAP_HOLD_LIST, 128, 128 * RUN },
	{ "grant-ask", NSWAP_GRANT_ASK, 1, 0 },
	{ "grant-ask, most", NSWAP_GRANT_ASK, U32_MAX, 0 },
	{ "grant", NSWAP_GRANT, 0, 0 },
	{ "grant with a share", NSWAP_GRANT, 1228, 0, NSWAP_F_SHARE },
	{ "grant with a share of nothing", NSWAP_GRANT, 0, 0, NSWAP_F_SHARE },
	{ "grant-return", NSWAP_GRANT_RETURN, 1, 0 },
	{ "ping", NSWAP_PING, 0, 0 },
	{ "pong", NSWAP_PONG, 0, 0 },
	{ "pong with a share", NSWAP_PONG, U32_MAX, 0, NSWAP_F_SHARE },
	{ "move, one page", NSWAP_MOVE, 1, 16 + MOVE_EACH },
	{ "move, most", NSWAP_MOVE, 32, 16 + 32 * MOVE_EACH },
	{ "move-ack, most", NSWAP_MOVE_ACK, 32, 256 },
	{ "moved, one", NSWAP_MOVED, 1, 32 },
	{ "moved, most", NSWAP_MOVED, 32, 16 + 32 * 16 },
	{ "moved-ack, one", NSWAP_MOVED_ACK, 1, 8 },
	{ "claim, most", NSWAP_CLAIM, 32, 512 },
	{ "claim-ack, one", NSWAP_CLAIM_ACK, 1, 8 },
	{ "return, one page", NSWAP_RETURN, 1, 16 + MOVE_EACH },
	{ "return, most", NSWAP_RETURN, 32, 16 + 32 * MOVE_EACH },
	{ "return-ack, one", NSWAP_RETURN_ACK, 1, 8 },
	{ "return-ack, most", NSWAP_RETURN_ACK, 32, 256 },
	{ "announce", NSWAP_ANNOUNCE, 0, 64 },
	{ "announce, leaving", NSWAP_ANNOUNCE, 0, 64, NSWAP_F_LEAVING },
	{ "announce, shrinking", NSWAP_ANNOUNCE, 0, 64, NSWAP_F_SHRINKING },
	{ "announce, all flags", NSWAP_ANNOUNCE, 0, 64,
	  NSWAP_F_LEAVING | NSWAP_F_ANSWER | NSWAP_F_SHRINKING },
	{ "attach, no reserve", NSWAP_ATTACH, 0, 0, NSWAP_F_DROPPABLE },
	{ "attach, most", NSWAP_ATTACH, U32_MAX, 0, NSWAP_F_CRITICAL },
	{ "attached", NSWAP_ATTACHED, 0, 0 },
	{ "attached, most", NSWAP_ATTACHED, U32_MAX, 0 },
	{ "dropped, one", NSWAP_DROPPED, 1, 32 },
	{ "dropped, most", NSWAP_DROPPED, 32, 16 + 32 * 16 },
	{ "dropped-ack, one", NSWAP_DROPPED_ACK, 1, 8 },
	{ "dropped-ack, most", NSWAP_DROPPED_ACK, 32, 256 },
	{ "stat", NSWAP_STAT, 0, 0 },
	{ "stat-reply, one", NSWAP_STAT_REPLY, 1, 24 },
	{ "stat-reply, most", NSWAP_STAT_REPLY, 32, 16 + 32 * 8 },
};

static void legal_desc(const struct legal *l, char *desc)
{
	strscpy(desc, l->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(legal, legals, legal_desc);

static struct nswap_wire_hdr make(const struct legal *l)
{
	struct nswap_wire_hdr h;

	nswap_wire_init(&h, l->type, l->nr, l->bytes);
	h.flags = cpu_to_le16(l->flags);
	return h;
}

/* the header's layout is the one drawn in docs/protocol.md */
static void layout(struct kunit *test)
{
	static const u8 want[72] = {
		'N', 'S', 'W', 'P', 2, NSWAP_LOAD, 0, 0,
		8, 0, 0, 0, 2, 0, 0, 0,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
		0xef, 0xcd, 0xab, 0, 0, 0, 0, 0,
		7, 0, 0, 0, 9, 0, 0, 0,
		3, 0, 0x00, 0x10, 0, 0, 0, 0,
		0x5, 0x4, 0x3, 0x2, 0x1, 0, 0, 0,
	};
	struct nswap_wire_hdr h;

	memset(&h, 0xff, sizeof(h));
	nswap_wire_init(&h, NSWAP_LOAD, 2, 8);
	h.id = cpu_to_le64(0x1122334455667788ull);
	h.slot = cpu_to_le64(0xabcdef);
	h.instance = cpu_to_le32(7);
	h.grants = cpu_to_le32(9);
	h.status = cpu_to_le16(NSWAP_ST_NOT_HELD);
	h.free = cpu_to_le64(0x0102030405);
	KUNIT_EXPECT_EQ(test, memcmp(&h, want, sizeof(h)), 0);
}

static void sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_hdr), 72ul);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_greet), 120ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_greet, keys), 24ul);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_hello), 144ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_hello, features), 32ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_hello, class), 40ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_hello, keys), 48ul);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_welcome), 104ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_welcome, keys), 8ul);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_result), 8ul);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_run), (size_t)RUN);
	KUNIT_EXPECT_EQ(test, sizeof(struct nswap_wire_announce), 136ul);
	KUNIT_EXPECT_EQ(test, offsetof(struct nswap_wire_announce, ip), 96ul);
}

static void accepted(struct kunit *test)
{
	struct nswap_wire_hdr h = make(test->param_value);

	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), 0);
}

/* may the answer say how long the request took? */
static bool is_timed(u8 type)
{
	return type == NSWAP_STORE_ACK || type == NSWAP_LOAD_REPLY;
}

/* fields that the check leaves to the receiver may hold anything */
static void other_fields_are_free(struct kunit *test)
{
	struct nswap_wire_hdr h = make(test->param_value);

	h.id = cpu_to_le64(U64_MAX);
	h.slot = cpu_to_le64(U64_MAX);
	h.instance = cpu_to_le32(U32_MAX);
	h.grants = cpu_to_le32(U32_MAX);
	h.free = cpu_to_le64(U64_MAX);
	h.took = is_timed(h.type) ? cpu_to_le32(U32_MAX) : 0;
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), 0);
}

static void wrong_fixed_fields(struct kunit *test)
{
	const struct nswap_wire_hdr good = make(test->param_value);
	struct nswap_wire_hdr h = good;
	unsigned int i;

	h.magic ^= cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	for (i = 0; i < 256; i++) {
		h = good;
		h.version = i;
		if (i != NSWAP_WIRE_VERSION)
			KUNIT_EXPECT_EQ(test, nswap_wire_check(&h),
					-EPROTONOSUPPORT);
	}
	h = good;
	h.took = cpu_to_le32(0x80000000);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h),
			is_timed(h.type) ? 0 : -EPROTO);
	for (i = 0; i < sizeof(h.auth); i++) {
		h = good;
		h.auth[i] = 1;
		KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	}
	h = good;
	h.page_bytes = 0;
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h.page_bytes = cpu_to_le16(4096 + 16);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
}

static u16 flags_of(u8 type)
{
	switch (type) {
	case NSWAP_STORE:
		return NSWAP_F_TIMED | NSWAP_F_RESERVED | NSWAP_F_SHORT;
	case NSWAP_LOAD:
		return NSWAP_F_TIMED | NSWAP_F_SHORT;
	case NSWAP_LOAD_REPLY:
	case NSWAP_MOVE:
	case NSWAP_RETURN:
		return NSWAP_F_SHORT;
	case NSWAP_ATTACH:
		return NSWAP_F_CRITICAL | NSWAP_F_DROPPABLE;
	case NSWAP_FREE:
		return NSWAP_F_NO_RECORD;
	case NSWAP_HOLD_LIST:
		return NSWAP_F_LAST;
	case NSWAP_GRANT:
	case NSWAP_PONG:
		return NSWAP_F_SHARE;
	case NSWAP_ANNOUNCE:
		return NSWAP_F_LEAVING | NSWAP_F_ANSWER | NSWAP_F_SHRINKING;
	default:
		return 0;
	}
}

static void wrong_flags(struct kunit *test)
{
	const struct legal *l = test->param_value;
	struct nswap_wire_hdr h = make(l);
	unsigned int bit;

	for (bit = 0; bit < 16; bit++) {
		bool own = flags_of(l->type) & BIT(bit);

		/* of another size with it: wire_short_kunit.c */
		if (own && short_before(l->type, l->nr, BIT(bit)))
			continue;
		h.flags = cpu_to_le16(BIT(bit));
		KUNIT_EXPECT_EQ(test, nswap_wire_check(&h),
				own ? 0 : -EPROTO);
	}
}

/* the payload's size follows from type and nr: one byte off is wrong */
static void wrong_bytes(struct kunit *test)
{
	const struct legal *l = test->param_value;
	struct nswap_wire_hdr h = make(l);

	h.bytes = cpu_to_le32(l->bytes + 1);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h.bytes = cpu_to_le32(l->bytes - 1);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h.bytes = cpu_to_le32(U32_MAX);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
}

static void unknown_types(struct kunit *test)
{
	struct nswap_wire_hdr h;
	unsigned int type;

	for (type = 0; type < 256; type++) {
		if (type >= NSWAP_GREET && type <= NSWAP_STAT_REPLY)
			continue;
		nswap_wire_init(&h, type, 0, 0);
		KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	}
}

struct outside {
	const char *desc;
	u8 type;
	u32 nr;
	u32 bytes;
};

/* counts out of bounds, with the payload that would belong to them */
static const struct outside outsides[] = {
	{ "greet with slots", NSWAP_GREET, 1, 120 },
	{ "greet of version 1", NSWAP_GREET, 0, 24 },
	{ "hello with slots", NSWAP_HELLO, 1, 144 },
	{ "hello of version 1", NSWAP_HELLO, 0, 40 },
	{ "hello-ack with slots", NSWAP_HELLO_ACK, 1, 104 },
	{ "hello-ack of version 1", NSWAP_HELLO_ACK, 0, 0 },
	{ "store of nothing", NSWAP_STORE, 0, 0 },
	{ "store of too much", NSWAP_STORE, 33, 33 * STORE_EACH },
	{ "store-ack of nothing", NSWAP_STORE_ACK, 0, 0 },
	{ "store-ack of too much", NSWAP_STORE_ACK, 33, 33 * 8 },
	{ "load of nothing", NSWAP_LOAD, 0, 0 },
	{ "load of too much", NSWAP_LOAD, 33, 33 * 4 },
	{ "load, product wraps", NSWAP_LOAD, 1u << 30, 0 },
	{ "load-reply of nothing", NSWAP_LOAD_REPLY, 0, 0 },
	{ "load-reply of too much", NSWAP_LOAD_REPLY, 33, 33 * 4 },
	{ "load-reply, too many pages", NSWAP_LOAD_REPLY, 2, 8 + 3 * 4096 },
	{ "load-reply, part of a page", NSWAP_LOAD_REPLY, 2, 8 + 4095 },
	{ "load-reply without results", NSWAP_LOAD_REPLY, 2, 4096 },
	{ "load-reply, product wraps", NSWAP_LOAD_REPLY, 1u << 30, 0 },
	{ "free of nothing", NSWAP_FREE, 0, 0 },
	{ "free of too much", NSWAP_FREE, 129, 129 * RUN },
	{ "free, product wraps", NSWAP_FREE, 1u << 29, 0 },
	{ "free-ack with slots", NSWAP_FREE_ACK, 1, 0 },
	{ "free-device with slots", NSWAP_FREE_DEVICE, 1, 0 },
	{ "hold-ask with slots", NSWAP_HOLD_ASK, 1, 0 },
	{ "hold-list of too much", NSWAP_HOLD_LIST, 129, 129 * RUN },
	{ "grant with slots", NSWAP_GRANT, 1, 0 },
	{ "grant-return of nothing", NSWAP_GRANT_RETURN, 0, 0 },
	{ "ping with slots", NSWAP_PING, 1, 0 },
	{ "pong with slots", NSWAP_PONG, 1, 0 },
	{ "announce with slots", NSWAP_ANNOUNCE, 1, 64 },
};

static void outside_desc(const struct outside *o, char *desc)
{
	strscpy(desc, o->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(outside, outsides, outside_desc);

static void out_of_bounds(struct kunit *test)
{
	const struct outside *o = test->param_value;
	struct nswap_wire_hdr h;

	nswap_wire_init(&h, o->type, o->nr, o->bytes);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
}

/* is this one of the forms of legals[], nr and bytes in proportion? */
static bool consistent(const struct nswap_wire_hdr *h)
{
	u32 nr = le32_to_cpu(h->nr), bytes = le32_to_cpu(h->bytes);
	unsigned int i;

	if (le32_to_cpu(h->magic) != NSWAP_WIRE_MAGIC || h->version != 2 ||
	    le16_to_cpu(h->flags) & ~flags_of(h->type) ||
	    (h->took && !is_timed(h->type)) ||
	    memchr_inv(h->auth, 0, sizeof(h->auth)) ||
	    le16_to_cpu(h->page_bytes) != 4096)
		return false;
	if (short_before(h->type, nr, le16_to_cpu(h->flags)))
		return short_legal(h->type, nr, bytes);
	switch (h->type) {
	case NSWAP_STORE:
		return nr && nr <= 32 && bytes == nr * STORE_EACH;
	case NSWAP_STORE_ACK:
	case NSWAP_MOVE_ACK:
	case NSWAP_MOVED_ACK:
	case NSWAP_CLAIM_ACK:
	case NSWAP_RETURN_ACK:
	case NSWAP_DROPPED_ACK:
		return nr && nr <= 32 && bytes == nr * 8;
	case NSWAP_MOVE:
	case NSWAP_RETURN:
		return nr && nr <= 32 && bytes == 16 + nr * MOVE_EACH;
	case NSWAP_MOVED:
	case NSWAP_DROPPED:
		return nr && nr <= 32 && bytes == 16 + nr * 16;
	case NSWAP_STAT_REPLY:
		return nr && nr <= 32 && bytes == 16 + nr * 8;
	case NSWAP_CLAIM:
		return nr && nr <= 32 && bytes == nr * 16;
	case NSWAP_LOAD:
		return nr && nr <= 32 && bytes == nr * 4;
	case NSWAP_LOAD_REPLY:
		for (i = 0; i <= nr && nr <= 32; i++)
			if (nr && bytes == nr * 4 + i * 4096)
				return true;
		return false;
	case NSWAP_FREE:
		return nr && nr <= 128 && bytes == nr * RUN;
	case NSWAP_HOLD_LIST:
		return nr <= 128 && bytes == nr * RUN;
	case NSWAP_GRANT_ASK:
	case NSWAP_ATTACH:
	case NSWAP_ATTACHED:
		return !bytes;
	case NSWAP_GRANT_RETURN:
		return nr && !bytes;
	case NSWAP_GRANT:
	case NSWAP_PONG:
		return !bytes && (!nr || h->flags & cpu_to_le16(NSWAP_F_SHARE));
	}
	for (i = 0; i < ARRAY_SIZE(legals); i++)
		if (legals[i].type == h->type)
			return !nr && bytes == legals[i].bytes;
	return false;
}

/* a good header with up to three bytes changed, and pure noise now and then */
static void fuzz(struct kunit *test)
{
	struct nswap_wire_hdr h;
	unsigned int i, round, good = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 3);
	for (round = 0; round < 300000; round++) {
		u32 r = prandom_u32_state(&rnd);
		u8 *at = (u8 *)&h;
		bool ok;

		h = make(&legals[r % ARRAY_SIZE(legals)]);
		if (r >> 28 == 0)
			prandom_bytes_state(&rnd, &h, sizeof(h));
		for (i = r >> 26 & 3; i; i--)
			at[prandom_u32_state(&rnd) % sizeof(h)] =
				prandom_u32_state(&rnd);
		ok = !nswap_wire_check(&h);
		good += ok;
		if (ok != consistent(&h)) {
			KUNIT_FAIL(test, "round %u: %s, type %u nr %u bytes %u",
				   round, ok ? "accepted" : "rejected", h.type,
				   le32_to_cpu(h.nr), le32_to_cpu(h.bytes));
			return;
		}
	}
	/* both results occurred often enough for the test to mean something */
	KUNIT_EXPECT_GT(test, good, 30000u);
	KUNIT_EXPECT_LT(test, good, 270000u);
}

/* every count and size near the bounds, for every type */
static void counts_and_sizes(struct kunit *test)
{
	struct nswap_wire_hdr h;
	u32 nr, bytes;
	u8 type;

	for (type = 0; type <= NSWAP_WIRE_NR; type++) {
		for (nr = 0; nr <= 130; nr++) {
			for (bytes = 0; bytes <= 4200; bytes += 4) {
				nswap_wire_init(&h, type, nr, bytes);
				if (!nswap_wire_check(&h) == consistent(&h))
					continue;
				KUNIT_FAIL(test, "type %u nr %u bytes %u",
					   type, nr, bytes);
				return;
			}
		}
		cond_resched();
	}
}

/* messages of version 1 are told from noise by their first five bytes */
static void other_versions(struct kunit *test)
{
	static const u8 hello_1[72 + 40] = {
		'N', 'S', 'W', 'P', 1, NSWAP_HELLO, 0, 0, 40, [43] = 0x10,
		[72] = 1, [80] = 1, [88] = 1, [96] = 1,
	};
	struct nswap_wire_hdr h;
	size_t len;
	unsigned int i;

	memcpy(&h, hello_1, sizeof(h));
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTONOSUPPORT);
	for (len = 0; len <= sizeof(h); len++)
		KUNIT_EXPECT_EQ(test, nswap_wire_other_version(&h, len),
				len >= 5);
	for (i = 0; i < 256; i++) {
		h.version = i;
		KUNIT_EXPECT_EQ(test, nswap_wire_other_version(&h, sizeof(h)),
				i && i != 2);
	}
	h.version = 1;
	h.magic = 0;
	KUNIT_EXPECT_FALSE(test, nswap_wire_other_version(&h, sizeof(h)));
}

/* each feature is one bit, and this node has all of them */
static void features(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_TIMED, 1ull);
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_CLASSES, 2ull);
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_SHARES, 4ull);
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_STAT, 8ull);
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_SHORT, 16ull);
	KUNIT_EXPECT_EQ(test, NSWAP_HAS_ALL, 31ull);
}

static void names(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(legals); i++) {
		const char *name = nswap_wire_name(legals[i].type);
		size_t len = strlen(name);

		KUNIT_EXPECT_EQ(test, strncmp(legals[i].desc, name, len), 0);
	}
	KUNIT_EXPECT_STREQ(test, nswap_wire_name(0), "unknown");
	KUNIT_EXPECT_STREQ(test, nswap_wire_name(NSWAP_WIRE_NR), "unknown");
	KUNIT_EXPECT_STREQ(test, nswap_wire_name(255), "unknown");
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(layout),
	KUNIT_CASE(sizes),
	KUNIT_CASE_PARAM(accepted, legal_gen_params),
	KUNIT_CASE_PARAM(other_fields_are_free, legal_gen_params),
	KUNIT_CASE_PARAM(wrong_fixed_fields, legal_gen_params),
	KUNIT_CASE_PARAM(wrong_flags, legal_gen_params),
	KUNIT_CASE_PARAM(wrong_bytes, legal_gen_params),
	KUNIT_CASE(unknown_types),
	KUNIT_CASE_PARAM(out_of_bounds, outside_gen_params),
	KUNIT_CASE(counts_and_sizes),
	KUNIT_CASE(fuzz),
	KUNIT_CASE(other_versions),
	KUNIT_CASE(features),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "nswap_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
