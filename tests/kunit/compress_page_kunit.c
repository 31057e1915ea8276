// SPDX-License-Identifier: GPL-2.0
/*
 * Compression of a page: what is expanded is what was there, and what was changed, cut or
 * mixed up is refused, with each algorithm that this kernel has.
 */
#include <kunit/test.h>
#include <linux/random.h>

#include "../../nswap/pure/compress_page.c"

/**
 * struct short_pages - one page and what becomes of it
 * @c: how
 * @text: what is in it
 * @from: the page
 * @to: compressed
 */
struct short_pages {
	struct nswap_compressor c;
	u8 text[PAGE_SIZE];
	struct page *from;
	struct page *to;
};

static int make_pages(struct kunit *test)
{
	struct short_pages *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	test->priv = s;
	s->from = alloc_page(GFP_KERNEL);
	s->to = alloc_page(GFP_KERNEL);
	return s->from && s->to ? 0 : -ENOMEM;
}

static void free_pages_of(struct kunit *test)
{
	struct short_pages *s = test->priv;

	if (!s)
		return;
	nswap_compressor_exit(&s->c);
	if (s->from)
		__free_page(s->from);
	if (s->to)
		__free_page(s->to);
}

static void kind_name(const enum nswap_compress *kind, char *name)
{
	strscpy(name, *kind == NSWAP_COMPRESS_LZ4 ? "lz4" : "zstd", KUNIT_PARAM_DESC_SIZE);
}

static const enum nswap_compress kinds[] = { NSWAP_COMPRESS_LZ4, NSWAP_COMPRESS_ZSTD };

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* begin with the test's algorithm */
static struct short_pages *begin(struct kunit *test)
{
	const enum nswap_compress *kind = test->param_value;
	struct short_pages *s = test->priv;

	if (!nswap_compress_has(*kind))
		kunit_skip(test, "this kernel was built without it");
	KUNIT_ASSERT_EQ(test, nswap_compressor_init(&s->c, *kind), 0);
	return s;
}

static struct nswap_short shorten(struct short_pages *s)
{
	memcpy_to_page(s->from, 0, s->text, PAGE_SIZE);
	return nswap_compress_page(&s->c, s->to, s->from);
}

static bool page_is(struct page *page, const u8 *text)
{
	void *at = kmap_local_page(page);
	bool same = !memcmp(at, text, PAGE_SIZE);

	kunmap_local(at);
	return same;
}

/* its end is zeros, it is what it was when it is expanded, and the page itself is as it was */
static void there_and_back(struct kunit *test, struct short_pages *s)
{
	struct nswap_short kept = shorten(s);
	u8 *at;

	KUNIT_EXPECT_TRUE(test, page_is(s->from, s->text));
	if (!kept.len) {
		KUNIT_EXPECT_EQ(test, kept.sum, 0);
		return;
	}
	KUNIT_EXPECT_LE(test, kept.len, NSWAP_SHORT_MOST);
	at = kmap_local_page(s->to);
	KUNIT_EXPECT_NULL(test, memchr_inv(at + kept.len, 0, PAGE_SIZE - kept.len));
	kunmap_local(at);
	KUNIT_EXPECT_TRUE(test, nswap_expand_page(&s->c, s->to, kept));
	KUNIT_EXPECT_TRUE(test, page_is(s->to, s->text));
}

/* so many bytes that cannot be compressed, and then so many of one value */
static void fill_text(struct short_pages *s, unsigned int noise, u8 rest)
{
	memset(s->text, rest, PAGE_SIZE);
	get_random_bytes(s->text, noise);
}

static void edges(struct kunit *test)
{
	static const u16 noise[] = { 0, 1, 2, 63, 64, 65, 1024, 2047, 2048, 2900, 3000, 3040,
				     3060, 3071, 3072, 3073, 3100, 4000, 4091, 4095, 4096 };
	struct short_pages *s = begin(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(noise); i++) {
		fill_text(s, noise[i], 0);
		there_and_back(test, s);
		fill_text(s, noise[i], 0xff);
		there_and_back(test, s);
	}
}

static void lengths(struct kunit *test)
{
	struct short_pages *s = begin(test);
	struct nswap_compressed sum;
	u16 one;

	fill_text(s, 0, 'x');
	one = shorten(s).len;
	KUNIT_EXPECT_GT(test, one, 0);
	KUNIT_EXPECT_LT(test, one, 64);
	fill_text(s, 2048, 0);
	KUNIT_EXPECT_GT(test, shorten(s).len, 2000);
	fill_text(s, PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, shorten(s).len, 0);
	sum = nswap_compress_sum(&s->c);
	KUNIT_EXPECT_EQ(test, sum.pages, 2);
	KUNIT_EXPECT_EQ(test, sum.whole, 1);
	KUNIT_EXPECT_GT(test, sum.bytes, one + 2000);
}

/* 1000 pages of words, in which noise and runs change off */
static void many(struct kunit *test)
{
	struct short_pages *s = begin(test);
	unsigned int i, at;

	for (i = 0; i < 1000; i++) {
		for (at = 0; at < PAGE_SIZE; at += 8)
			memset(s->text + at, 'a' + get_random_u32() % 16, 8);
		at = get_random_u32() % PAGE_SIZE;
		get_random_bytes(s->text + at, get_random_u32() % (PAGE_SIZE - at) / 4);
		there_and_back(test, s);
	}
}

/* expand what is in @to, but for the byte at @at: that is changed by @bits */
static bool expands_changed(struct short_pages *s, struct nswap_short kept, unsigned int at,
			    u8 bits)
{
	u8 *text = kmap_local_page(s->from);

	memcpy_from_page(text, s->to, 0, PAGE_SIZE);
	text[at] ^= bits;
	kunmap_local(text);
	return nswap_expand_page(&s->c, s->from, kept);
}

/* a byte is another one, or the length is: that is noticed, with a wrong sum as well */
static void changed(struct kunit *test)
{
	struct short_pages *s = begin(test);
	struct nswap_short kept, other;
	unsigned int i;

	fill_text(s, 700, 'y');
	kept = shorten(s);
	KUNIT_ASSERT_GT(test, kept.len, 0);
	for (i = 0; i < kept.len; i++)
		KUNIT_EXPECT_FALSE(test, expands_changed(s, kept, i, 1 << i % 8));
	/* what is behind its end does not count */
	KUNIT_EXPECT_TRUE(test, expands_changed(s, kept, kept.len, 1));
	for (i = 0; i <= 0xffff; i++) {
		other = (struct nswap_short){ .len = i, .sum = kept.sum };
		if (i != kept.len)
			KUNIT_EXPECT_FALSE(test, expands_changed(s, other, PAGE_SIZE - 1, 0));
	}
	other = (struct nswap_short){ .len = kept.len, .sum = kept.sum ^ 1 };
	KUNIT_EXPECT_FALSE(test, expands_changed(s, other, 0, 0));
	KUNIT_EXPECT_TRUE(test, expands_changed(s, kept, 0, 0));
}

/* nothing, noise, and what was cut: none is expanded, nothing is written beside the page */
static void garbage(struct kunit *test)
{
	struct short_pages *s = begin(test);
	struct nswap_short kept;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		fill_text(s, i % 2 ? PAGE_SIZE : 0, 0);
		kept.len = 1 + get_random_u32() % NSWAP_SHORT_MOST;
		kept.sum = compress_check(s->text, kept.len);
		memcpy_to_page(s->from, 0, s->text, PAGE_SIZE);
		nswap_expand_page(&s->c, s->from, kept);
		if (!(i % 2))
			kept.sum = 1;
		memcpy_to_page(s->from, 0, s->text, PAGE_SIZE);
		KUNIT_EXPECT_FALSE(test, !(i % 2) && nswap_expand_page(&s->c, s->from, kept));
	}
}

static struct kunit_case compress_page_cases[] = {
	KUNIT_CASE_PARAM(edges, kind_gen_params),
	KUNIT_CASE_PARAM(lengths, kind_gen_params),
	KUNIT_CASE_PARAM(many, kind_gen_params),
	KUNIT_CASE_PARAM(changed, kind_gen_params),
	KUNIT_CASE_PARAM(garbage, kind_gen_params),
	{ }
};

static struct kunit_suite compress_page_suite = {
	.name = "nswap_compress_page",
	.init = make_pages,
	.exit = free_pages_of,
	.test_cases = compress_page_cases,
};

kunit_test_suite(compress_page_suite);
