// SPDX-License-Identifier: GPL-2.0
/*
 * Wire protocol, messages whose pages are short: how long they may be, and which lengths
 * make them up. Their unit is in wire_kunit.c.
 */
#include <kunit/test.h>

#include "wire_kunit.h"

static struct nswap_wire_hdr short_make(u8 type, u32 nr, u32 bytes, u16 flags)
{
	struct nswap_wire_hdr h;

	nswap_wire_init(&h, type, nr, bytes);
	h.flags = cpu_to_le16(flags);
	return h;
}

/* each size at and around the bounds; what comes before the pages does not depend on it */
static void short_sizes(struct kunit *test)
{
	static const u8 types[] = { NSWAP_STORE, NSWAP_LOAD_REPLY, NSWAP_MOVE, NSWAP_RETURN };
	unsigned int i, nr, off;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (nr = 1; nr <= 33; nr++) {
			u32 before = short_before(types[i], nr, NSWAP_F_SHORT);

			for (off = 0; off < 80; off++) {
				u32 bytes = off < 40 ? before + off - 4 :
						       before + nr * 4096 + 44 - off;
				struct nswap_wire_hdr h = short_make(types[i], nr, bytes,
								     NSWAP_F_SHORT);
				bool legal = short_legal(types[i], nr, bytes);

				KUNIT_EXPECT_EQ(test, !nswap_wire_check(&h), legal);
				if (legal)
					KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h),
							(size_t)before);
			}
		}
	}
}

/* a size that is legal for one kind of message is not for the other, but by chance */
static void short_or_whole(struct kunit *test)
{
	struct nswap_wire_hdr h = short_make(NSWAP_STORE, 2, 2 * 4100, 0);

	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), 0);
	h = short_make(NSWAP_STORE, 2, 12 + 2 * 900, 0);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h = short_make(NSWAP_LOAD, 2, 8, NSWAP_F_SHORT | NSWAP_F_TIMED);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), 0);
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 8ul);
	h = short_make(NSWAP_LOAD, 2, 12, NSWAP_F_SHORT);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h = short_make(NSWAP_STORE_ACK, 2, 16, NSWAP_F_SHORT);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h = short_make(NSWAP_MOVED, 1, 32, NSWAP_F_SHORT);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), -EPROTO);
	h = short_make(NSWAP_STORE, 1, 6 + 5, NSWAP_F_SHORT | NSWAP_F_RESERVED | NSWAP_F_TIMED);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&h), 0);
}

/**
 * struct lens - lengths of three pages
 * @type: of the message
 * @len: they are
 * @more: bytes of the message beyond what they come to
 * @good: they are to be believed
 */
struct lens {
	u8 type;
	u16 len[3];
	int more;
	bool good;
};

/* lengths make up exactly what the header says, none is more than a page */
static void short_lens(struct kunit *test)
{
	static const struct lens cases[] = {
		{ NSWAP_STORE, { 1, 4096, 700 }, 0, true },
		{ NSWAP_STORE, { 1, 4096, 700 }, 1, false },
		{ NSWAP_STORE, { 1, 4096, 700 }, -1, false },
		{ NSWAP_STORE, { 0, 4096, 701 }, 0, false },
		{ NSWAP_STORE, { 2, 4097, 698 }, 0, false },
		{ NSWAP_STORE, { 1, 65535, 1 }, 0, false },
		{ NSWAP_MOVE, { 1, 1, 1 }, 0, true },
		{ NSWAP_RETURN, { 4096, 4096, 4032 }, 0, true },
		{ NSWAP_RETURN, { 64, 0, 64 }, 0, false },
		{ NSWAP_LOAD_REPLY, { 0, 4096, 701 }, 0, true },
		{ NSWAP_LOAD_REPLY, { 0, 0, 64 }, 64, false },
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct lens *c = &cases[i];
		u32 bytes = short_before(c->type, 3, NSWAP_F_SHORT) + c->more;
		struct nswap_wire_hdr h;
		__le16 len[3];

		for (j = 0; j < 3; j++) {
			len[j] = cpu_to_le16(c->len[j]);
			bytes += c->len[j];
		}
		h = short_make(c->type, 3, bytes, NSWAP_F_SHORT);
		KUNIT_EXPECT_EQ_MSG(test, !nswap_wire_lens(&h, len), c->good, "case %u", i);
	}
}

static void short_worth(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, nswap_wire_worth(1));
	KUNIT_EXPECT_TRUE(test, nswap_wire_worth(4096 - 64));
	KUNIT_EXPECT_FALSE(test, nswap_wire_worth(4096 - 63));
	KUNIT_EXPECT_FALSE(test, nswap_wire_worth(4096));
}

static struct kunit_case wire_short_cases[] = {
	KUNIT_CASE(short_sizes),
	KUNIT_CASE(short_or_whole),
	KUNIT_CASE(short_lens),
	KUNIT_CASE(short_worth),
	{}
};

static struct kunit_suite wire_short_suite = {
	.name = "nswap_wire_short",
	.test_cases = wire_short_cases,
};

kunit_test_suite(wire_short_suite);
