// SPDX-License-Identifier: GPL-2.0
/* Prefetch: the paths of pages, and the statistics learned. */
#include <kunit/test.h>

#include "../../prefetch/prefetch.c"
#include "../../prefetch/learned.c"

static const struct nswap_policy *const all_from[] = {
	&nswap_prefetch_ram, &nswap_prefetch_disk, &nswap_prefetch_from_flash,
};

static const struct nswap_policy *const all_to[] = {
	&nswap_prefetch_flash, &nswap_prefetch_to_ram, &nswap_prefetch_to_disk,
};

/* each pair of two tiers is one way, and no tier has one to itself */
static void ways_found(struct kunit *test)
{
	unsigned int i, k, found = 0;
	const char *names;

	for (i = 0; i < ARRAY_SIZE(all_from); i++)
		for (k = 0; k < ARRAY_SIZE(all_to); k++) {
			int way = nswap_prefetch_way(all_from[i], all_to[k]);
			bool same = !strcmp(all_from[i]->name, all_to[k]->name);

			KUNIT_EXPECT_EQ(test, way < 0, same);
			if (way < 0)
				continue;
			KUNIT_EXPECT_FALSE(test, found & BIT(way));
			found |= BIT(way);
			names = nswap_prefetch_to_names(all_from[i]);
			KUNIT_EXPECT_NOT_NULL(test, strstr(names, all_to[k]->name));
		}
	KUNIT_EXPECT_EQ(test, found, (unsigned int)GENMASK(NSWAP_PREFETCH_WAYS - 1, 0));
}

/* what follows when only from is chosen; the defaults of a node are a way */
static void first_ways(struct kunit *test)
{
	const struct nswap_policy *to;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_from); i++) {
		to = nswap_prefetch_to_of(all_from[i]);
		KUNIT_EXPECT_GE(test, nswap_prefetch_way(all_from[i], to), 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, nswap_prefetch_to_of(&nswap_prefetch_ram),
			    &nswap_prefetch_flash);
	KUNIT_EXPECT_PTR_EQ(test, nswap_prefetch_to_of(&nswap_prefetch_disk),
			    &nswap_prefetch_to_ram);
	KUNIT_EXPECT_PTR_EQ(test, nswap_prefetch_to_of(&nswap_prefetch_from_flash),
			    &nswap_prefetch_to_ram);
}

/* which ways make room, and which have to do with home */
static void ways_told_apart(struct kunit *test)
{
	static const bool down[NSWAP_PREFETCH_WAYS] = {
		[NSWAP_RAM_DISK] = true, [NSWAP_FLASH_DISK] = true,
	};
	static const bool no_disk[NSWAP_PREFETCH_WAYS] = {
		[NSWAP_RAM_FLASH] = true, [NSWAP_FLASH_RAM] = true,
	};
	unsigned int way;

	for (way = 0; way < NSWAP_PREFETCH_WAYS; way++) {
		KUNIT_EXPECT_EQ(test, nswap_prefetch_down(way), down[way]);
		KUNIT_EXPECT_EQ(test, nswap_prefetch_at_disk(way), !no_disk[way]);
	}
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
	u32 from_us;
	u32 to_us;
	u64 put;
	u64 hits;
	u64 ins;
	bool want;
	bool down;
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
	{ "makes room, nothing known", 0, 0, 0, 0, 0, true, true },
	{ "makes room, never read", 0, 0, 160, 0, 500, true, true },
	{ "makes room, read once in 16", 0, 0, 160, 10, 500, true, true },
	{ "makes room, read more", 0, 0, 160, 11, 500, false, true },
	{ "makes room, turns to come", 0, 0, 160, 160, 499, true, true },
	{ "makes room, slower as a disk is", 100, 900, 160, 0, 500, true, true },
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
		.used = 500, .from_us = r->from_us, .to_us = r->to_us, .down = r->down,
		.learned = { .put = { [1] = r->put / 2,
				      [3] = r->put - r->put / 2 },
			     .hits = { [2] = r->hits }, .ins = r->ins },
	};

	KUNIT_EXPECT_EQ(test, nswap_prefetch_pays(&v), r->want);
}

static struct kunit_case prefetch_cases[] = {
	KUNIT_CASE(ways_found),
	KUNIT_CASE(first_ways),
	KUNIT_CASE(ways_told_apart),
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
