// SPDX-License-Identifier: GPL-2.0
/*
 * Side tables of a device: layout and size of the entries.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../../nswap/pure/side_table.c"

#define SLOTS	1000u

static int make_tables(struct kunit *test)
{
	struct nswap_side_tables *ts = kunit_kzalloc(test, sizeof(*ts),
						     GFP_KERNEL);

	if (!ts)
		return -ENOMEM;
	nswap_side_init(ts, SLOTS);
	test->priv = ts;
	return 0;
}

static void drop_tables(struct kunit *test)
{
	if (test->priv)
		nswap_side_exit(test->priv);
}

struct size {
	const char *desc;
	u64 slots;
	unsigned int bits;
	u64 bytes;
};

static const struct size sizes[] = {
	{ "a bit, one slot", 1, 1, 8 },
	{ "a bit, a word", 64, 1, 8 },
	{ "a bit, a word and one", 65, 1, 16 },
	{ "a bit, 1 GiB", 262144, 1, 32768 },
	{ "a byte", 1000, 8, 1000 },
	{ "tag and nonce, 1 GiB", 262144, 192, 6291456 },
	{ "a byte, 1 TiB", 1ull << 28, 8, 1ull << 28 },
};

static void size_desc(const struct size *s, char *desc)
{
	strscpy(desc, s->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(size, sizes, size_desc);

static void memory(struct kunit *test)
{
	const struct size *s = test->param_value;

	KUNIT_EXPECT_EQ(test, side_size(s->slots, s->bits), s->bytes);
}

static void none(struct kunit *test)
{
	struct nswap_side_tables zeros = {}, *ts = test->priv;

	KUNIT_EXPECT_EQ(test, ts->nr, 0u);
	KUNIT_EXPECT_EQ(test, ts->slots, (u64)SLOTS);
	nswap_side_exit(&zeros);
}

/* initially zero, and entries do not overlap */
static void entries(struct kunit *test)
{
	struct nswap_side_tables *ts = test->priv;
	struct nswap_side_table *tag, *byte;
	u64 slot, i;

	byte = nswap_side_add(ts, "byte", 8);
	tag = nswap_side_add(ts, "tag", 24 * 8);
	KUNIT_ASSERT_NOT_NULL(test, byte);
	KUNIT_ASSERT_NOT_NULL(test, tag);
	KUNIT_EXPECT_EQ(test, ts->nr, 2u);
	KUNIT_EXPECT_STREQ(test, ts->table[1].name, "tag");
	KUNIT_EXPECT_EQ(test, nswap_side_bytes(ts, 0), (u64)SLOTS);
	KUNIT_EXPECT_EQ(test, nswap_side_bytes(ts, 1), (u64)24 * SLOTS);
	KUNIT_EXPECT_NULL(test, memchr_inv(byte->at, 0, SLOTS));
	KUNIT_EXPECT_NULL(test, memchr_inv(tag->at, 0, 24 * SLOTS));
	for (slot = 0; slot < SLOTS; slot++) {
		*(u8 *)nswap_side_entry(byte, slot) = slot;
		memset(nswap_side_entry(tag, slot), slot + 1, 24);
	}
	for (slot = 0; slot < SLOTS; slot++) {
		u8 *at = nswap_side_entry(tag, slot);

		KUNIT_EXPECT_EQ(test, *(u8 *)nswap_side_entry(byte, slot),
				(u8)slot);
		for (i = 0; i < 24; i++)
			KUNIT_ASSERT_EQ(test, at[i], (u8)(slot + 1));
	}
	KUNIT_EXPECT_PTR_EQ(test, nswap_side_entry(tag, SLOTS - 1),
			    tag->at + 24 * (SLOTS - 1));
}

static void bits(struct kunit *test)
{
	struct nswap_side_tables *ts = test->priv;
	struct nswap_side_table *t = nswap_side_add(ts, "bits", 1);
	unsigned long *map;

	KUNIT_ASSERT_NOT_NULL(test, t);
	map = nswap_side_bitmap(t);
	KUNIT_EXPECT_EQ(test, find_first_bit(map, SLOTS), (unsigned long)SLOTS);
	set_bit(SLOTS - 1, map);
	KUNIT_EXPECT_EQ(test, find_first_bit(map, SLOTS), SLOTS - 1ul);
	KUNIT_EXPECT_EQ(test, nswap_side_bytes(ts, 0), 128ull);
}

/* tables keep their addresses while more are added, and all are freed */
static void as_many_as_there_may_be(struct kunit *test)
{
	struct nswap_side_table *t[NSWAP_SIDE_TABLES];
	struct nswap_side_tables *ts = test->priv;
	unsigned int i;
	void *first;

	t[0] = nswap_side_add(ts, "first", 8);
	KUNIT_ASSERT_NOT_NULL(test, t[0]);
	first = t[0]->at;
	for (i = 1; i < NSWAP_SIDE_TABLES; i++) {
		t[i] = nswap_side_add(ts, "another", 8 * i);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
		KUNIT_EXPECT_EQ(test, nswap_side_bytes(ts, i), (u64)i * SLOTS);
	}
	KUNIT_EXPECT_PTR_EQ(test, t[0]->at, first);
	nswap_side_exit(ts);
	KUNIT_EXPECT_EQ(test, ts->nr, 0u);
}

static struct kunit_case side_table_cases[] = {
	KUNIT_CASE_PARAM(memory, size_gen_params),
	KUNIT_CASE(none),
	KUNIT_CASE(entries),
	KUNIT_CASE(bits),
	KUNIT_CASE(as_many_as_there_may_be),
	{}
};

static struct kunit_suite side_table_suite = {
	.name = "nswap_side_table",
	.init = make_tables,
	.exit = drop_tables,
	.test_cases = side_table_cases,
};

kunit_test_suite(side_table_suite);
