// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of the mirror: layout, and when they say something.
 */
#include <kunit/test.h>

#include "../../nswap/pure/mirror_entry.h"

static void packing(struct kunit *test)
{
	static const struct nswap_mirror entries[] = {
		{ 0, 1, 0 }, { 0, 0, 1 }, { NSWAP_GEN_MASK, NSWAP_MAX_PEERS, 0 },
		{ NSWAP_GEN_MASK, NSWAP_MAX_PEERS, NSWAP_MAX_PEERS },
		{ 0x5a5a5, 0x155, 0x2aa }, { 1, 2, 3 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		struct nswap_mirror m;

		m = nswap_mirror_unpack(nswap_mirror_pack(&entries[i]));
		KUNIT_EXPECT_EQ(test, m.gen, entries[i].gen);
		KUNIT_EXPECT_EQ(test, m.held, entries[i].held);
		KUNIT_EXPECT_EQ(test, m.making, entries[i].making);
	}
}

/* without a place an entry is all zeros, so that it is found empty at a look */
static void empty(struct kunit *test)
{
	const struct nswap_mirror m = { .gen = 77 };

	KUNIT_EXPECT_EQ(test, nswap_mirror_pack(&m), 0ull);
}

static void second_place(struct kunit *test)
{
	const struct nswap_mirror m = { .gen = 5, .held = 3, .making = 4 };
	struct nswap_slot s = {
		.state = NSWAP_SLOT_REMOTE, .peer = 2, .gen = 5,
	};

	KUNIT_EXPECT_EQ(test, nswap_mirror_second(&m, &s), 3);
	s.peer = 3;
	KUNIT_EXPECT_EQ(test, nswap_mirror_second(&m, &s), 0);
	s.peer = 2;
	s.gen = 6;
	KUNIT_EXPECT_EQ(test, nswap_mirror_second(&m, &s), 0);
}

static struct kunit_case mirror_entry_cases[] = {
	KUNIT_CASE(packing),
	KUNIT_CASE(empty),
	KUNIT_CASE(second_place),
	{}
};

static struct kunit_suite mirror_entry_suite = {
	.name = "nswap_mirror_entry",
	.test_cases = mirror_entry_cases,
};

kunit_test_suite(mirror_entry_suite);
