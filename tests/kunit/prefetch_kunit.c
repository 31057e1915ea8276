// SPDX-License-Identifier: GPL-2.0
/* Prefetch: the paths of pages, and the statistics learned. */
#include <kunit/test.h>

#include "../../prefetch/prefetch.c"
#include "../../prefetch/learned.c"

/* the defaults are a path; each source starts one, each destination ends one */
static void ways_found(struct kunit *test)
{
	static const struct nswap_policy *const from[] = {
		&nswap_prefetch_ram, &nswap_prefetch_disk,
	};
	static const struct nswap_policy *const to[] = {
		&nswap_prefetch_flash, &nswap_prefetch_to_ram,
	};
	char buf[NSWAP_PREFETCH_WAYS];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(ways), ARRAY_SIZE(from));
	for (i = 0; i < ARRAY_SIZE(from); i++) {
		KUNIT_EXPECT_PTR_EQ(test, nswap_prefetch_to_of(from[i]), to[i]);
		KUNIT_EXPECT_STRNEQ(test, from[i]->name, to[i]->name);
	}
	KUNIT_EXPECT_STREQ(test, nswap_prefetch_ways(buf, sizeof(buf)),
			   "ram to flash or disk to ram");
}

static void noted(struct kunit *test)
{
	struct nswap_prefetch_learned l = {};
	const u64 hits[NSWAP_PREFETCH_ARMS] = { [1] = 3, [4] = 5 };
	u64 put, hit;

	nswap_prefetch_note(&l, 1, 10, 7, hits);
	nswap_prefetch_note(&l, 4, 20, 8, hits);
	KUNIT_EXPECT_EQ(test, l.put[1], 10ull);
	KUNIT_EXPECT_EQ(test, l.put[4], 20ull);
	KUNIT_EXPECT_EQ(test, l.hits[1], 6ull);
	KUNIT_EXPECT_EQ(test, l.hits[4], 10ull);
	KUNIT_EXPECT_EQ(test, l.ins, 15ull);
	KUNIT_EXPECT_EQ(test, l.wakeups, 2u);
	learned_total(&l, &put, &hit);
	KUNIT_EXPECT_EQ(test, put, 30ull);
	KUNIT_EXPECT_EQ(test, hit, 16ull);
}

/* over any time figures stay bounded and old samples decay */
static void forgotten(struct kunit *test)
{
	struct nswap_prefetch_learned l = {};
	u64 hits[NSWAP_PREFETCH_ARMS] = { [1] = 1000000 }, put, hit;
	unsigned int i;

	for (i = 0; i < 100; i++)
		nswap_prefetch_note(&l, 1, 2048, 4096, hits);
	learned_total(&l, &put, &hit);
	KUNIT_EXPECT_LE(test, put, (u64)MOST);
	KUNIT_EXPECT_LE(test, hit, (u64)MOST * 64);
	KUNIT_EXPECT_LE(test, l.ins, (u64)MOST * 4);
	hits[1] = 0;
	for (i = 0; i < 200; i++)
		nswap_prefetch_note(&l, 2, 2048, 4096, hits);
	KUNIT_EXPECT_EQ(test, l.put[1], 0ull);
	KUNIT_EXPECT_LT(test, l.hits[1], 100ull);
}

struct pays_row {
	const char *desc;
	u32 ram_us;
	u32 flash_us;
	u64 put;
	u64 hits;
	u64 ins;
	bool want;
};

static const struct pays_row pays_rows[] = {
	{ "nothing known", 0, 0, 0, 0, 0, true },
	{ "flash quicker, nothing read yet", 100, 80, 63, 0, 500, true },
	{ "flash quicker, hardly ever read", 100, 80, 160, 9, 500, false },
	{ "flash quicker, turns to come", 100, 80, 160, 0, 499, true },
	{ "flash quicker, read once in 16", 100, 80, 160, 10, 500, true },
	{ "flash slower, always read", 100, 150, 1000, 9000, 0, false },
	{ "slower by a quarter", 100, 125, 1000, 9000, 9000, true },
	{ "slower by more", 100, 126, 1000, 9000, 9000, false },
	{ "flash not measured", 100, 0, 1000, 9000, 9000, true },
	{ "peers not measured", 0, 100, 1000, 9000, 9000, true },
};

static void pays_desc(const struct pays_row *r, char *desc)
{
	strscpy(desc, r->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pays_row, pays_rows, pays_desc);

static void pays(struct kunit *test)
{
	const struct pays_row *r = test->param_value;
	struct nswap_prefetch_view v = {
		.used = 500, .ram_us = r->ram_us, .flash_us = r->flash_us,
		.learned = { .put = { [1] = r->put / 2,
				      [3] = r->put - r->put / 2 },
			     .hits = { [2] = r->hits }, .ins = r->ins },
	};

	KUNIT_EXPECT_EQ(test, nswap_prefetch_pays(&v), r->want);
}

static struct kunit_case prefetch_cases[] = {
	KUNIT_CASE(ways_found),
	KUNIT_CASE(noted),
	KUNIT_CASE(forgotten),
	KUNIT_CASE_PARAM(pays, pays_row_gen_params),
	{}
};

static struct kunit_suite prefetch_suite = {
	.name = "nswap_prefetch",
	.test_cases = prefetch_cases,
};

kunit_test_suite(prefetch_suite);
