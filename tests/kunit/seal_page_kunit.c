// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing of a page: with either of two keys, each opens its own pages alone.
 */
#include <kunit/test.h>

#include "../../nswap/keys/seal_page.c"

/**
 * struct sealed - a page under two keys
 * @cipher: the keys
 * @name: where the page belongs
 * @page: the page
 * @text: what it has when it is open
 */
struct sealed {
	struct nswap_cipher cipher[NSWAP_SEAL_KEYS];
	struct nswap_seal_name name;
	struct page *page;
	u8 text[PAGE_SIZE];
};

static int make_sealed(struct kunit *test)
{
	struct sealed *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	test->priv = s;
	s->page = alloc_page(GFP_KERNEL);
	s->name.slot = cpu_to_le64(7);
	get_random_bytes(s->text, sizeof(s->text));
	if (!s->page || nswap_cipher_init(&s->cipher[0]) || nswap_cipher_init(&s->cipher[1]))
		return -ENOMEM;
	return 0;
}

static void free_sealed(struct kunit *test)
{
	struct sealed *s = test->priv;

	if (!s)
		return;
	nswap_cipher_exit(&s->cipher[0]);
	nswap_cipher_exit(&s->cipher[1]);
	if (s->page)
		__free_page(s->page);
}

/* the page, sealed with a key and this count of its */
static struct nswap_seal seal_with(struct kunit *test, u64 key, u64 count)
{
	struct sealed *s = test->priv;
	struct nswap_seal seal = { .nonce = key << NSWAP_SEAL_KEY_BIT | count };

	memcpy_to_page(s->page, 0, s->text, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, nswap_seal_key(&seal), key);
	KUNIT_EXPECT_TRUE(test, nswap_seal_page(&s->cipher[key], s->page, &s->name, &seal));
	return seal;
}

static bool page_is(struct sealed *s)
{
	void *at = kmap_local_page(s->page);
	bool same = !memcmp(at, s->text, PAGE_SIZE);

	kunmap_local(at);
	return same;
}

static void own_key(struct kunit *test)
{
	struct sealed *s = test->priv;
	unsigned int key;

	for (key = 0; key < NSWAP_SEAL_KEYS; key++) {
		struct nswap_seal seal = seal_with(test, key, 1);

		KUNIT_EXPECT_FALSE(test, page_is(s));
		KUNIT_EXPECT_TRUE(test, nswap_open_page(&s->cipher[nswap_seal_key(&seal)],
							s->page, &s->name, &seal));
		KUNIT_EXPECT_TRUE(test, page_is(s));
	}
}

static void other_key(struct kunit *test)
{
	struct sealed *s = test->priv;
	unsigned int key;

	for (key = 0; key < NSWAP_SEAL_KEYS; key++) {
		struct nswap_seal seal = seal_with(test, key, 1);

		KUNIT_EXPECT_FALSE(test, nswap_open_page(&s->cipher[!key], s->page, &s->name,
							 &seal));
	}
}

/* the id is a part of the nonce: with another one the page does not open, under no key */
static void other_id(struct kunit *test)
{
	struct sealed *s = test->priv;
	unsigned int key, with;

	for (key = 0; key < NSWAP_SEAL_KEYS; key++) {
		for (with = 0; with < NSWAP_SEAL_KEYS; with++) {
			struct nswap_seal seal = seal_with(test, key, 9);

			seal.nonce ^= 1ull << NSWAP_SEAL_KEY_BIT;
			KUNIT_EXPECT_FALSE(test, nswap_open_page(&s->cipher[with], s->page,
								 &s->name, &seal));
		}
	}
}

static void other_slot(struct kunit *test)
{
	struct sealed *s = test->priv;
	struct nswap_seal seal = seal_with(test, 1, 1);

	s->name.slot = cpu_to_le64(8);
	KUNIT_EXPECT_FALSE(test, nswap_open_page(&s->cipher[1], s->page, &s->name, &seal));
}

/* what is kept of a key when it is wiped */
static void wiped(struct kunit *test)
{
	struct sealed *s = test->priv;

	nswap_cipher_exit(&s->cipher[0]);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&s->cipher[0], 0, sizeof(s->cipher[0])));
}

static struct kunit_case seal_page_cases[] = {
	KUNIT_CASE(own_key),
	KUNIT_CASE(other_key),
	KUNIT_CASE(other_id),
	KUNIT_CASE(other_slot),
	KUNIT_CASE(wiped),
	{ }
};

static struct kunit_suite seal_page_suite = {
	.name = "nswap_seal_page",
	.init = make_sealed,
	.exit = free_sealed,
	.test_cases = seal_page_cases,
};

kunit_test_suite(seal_page_suite);
