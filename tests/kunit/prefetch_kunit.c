// SPDX-License-Identifier: GPL-2.0
/* Prefetch: the tables of policies, and what is learned. */
#include <kunit/test.h>

#include "../../prefetch/prefetch.c"
#include "../../prefetch/learned.c"

static void ours_are_valid(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_prefetch_validate(), 0);
}

static bool nobody(const struct nswap_prefetch_view *view)
{
	return false;
}

static enum nswap_which_look none(bool referenced)
{
	return NSWAP_WHICH_PASS;
}

static const struct nswap_which_ops *
itself(const struct nswap_prefetch_view *view)
{
	return &nswap_which_rr_ops;
}

struct when_table {
	const char *desc;
	struct nswap_when_ops ops;
	bool good;
};

static const struct when_table when_tables[] = {
	{ "complete", { { "mine", "help" }, nobody }, true },
	{ "longest name", { { "nineteen-letters-ok", "help" }, nobody }, true },
	{ "name too long", { { "twenty-letters-is-it", "help" }, nobody },
	  false },
	{ "no name", { { NULL, "help" }, nobody }, false },
	{ "empty name", { { "", "help" }, nobody }, false },
	{ "no help", { { "mine", NULL }, nobody }, false },
	{ "no due", { { "mine", "help" }, NULL }, false },
	{ "a name twice", { { "always", "help" }, nobody }, false },
};

static void when_desc(const struct when_table *t, char *desc)
{
	strscpy(desc, t->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(when_table, when_tables, when_desc);

static void when_validated(struct kunit *test)
{
	const struct when_table *t = test->param_value;
	const struct nswap_prefetch_choice *row[] = {
		&nswap_when_always_ops.is, &t->ops.is, NULL,
	};
	struct kind k = { .name = "when", .row = row, .nr = 2 };

	KUNIT_EXPECT_EQ(test, kind_validate(&k, NSWAP_PREFETCH_WHEN),
			t->good ? 0 : -EINVAL);
	k.nr = 3;
	KUNIT_EXPECT_EQ(test, kind_validate(&k, NSWAP_PREFETCH_WHEN), -EINVAL);
	k.nr = 0;
	KUNIT_EXPECT_EQ(test, kind_validate(&k, NSWAP_PREFETCH_WHEN), -EINVAL);
}

static void which_validated(struct kunit *test)
{
	struct nswap_which_ops ops = { { "mine", "help" }, 5, false, none };

	KUNIT_EXPECT_TRUE(test, which_valid(&ops));
	ops.arm = 0;
	KUNIT_EXPECT_FALSE(test, which_valid(&ops));
	ops.arm = NSWAP_PREFETCH_ARMS;
	KUNIT_EXPECT_FALSE(test, which_valid(&ops));
	ops.arm = 5;
	ops.look = NULL;
	KUNIT_EXPECT_FALSE(test, which_valid(&ops));
	ops.choose = itself;
	KUNIT_EXPECT_FALSE(test, which_valid(&ops));
	ops.arm = 0;
	KUNIT_EXPECT_TRUE(test, which_valid(&ops));
	ops.look = none;
	KUNIT_EXPECT_FALSE(test, which_valid(&ops));
}

/* hits are told apart by it */
static void arms_differ(struct kunit *test)
{
	u8 seen[NSWAP_PREFETCH_ARMS] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(which_rows); i++) {
		u8 arm = container_of(which_rows[i], struct nswap_which_ops,
				      is)->arm;

		KUNIT_EXPECT_EQ(test, seen[arm], 0);
		seen[arm] = 1;
	}
}

static void found_by_name(struct kunit *test)
{
	char buf[NSWAP_PREFETCH_LIST];

	KUNIT_EXPECT_EQ(test, nswap_prefetch_kind_find("which"),
			(int)NSWAP_PREFETCH_WHICH);
	KUNIT_EXPECT_EQ(test, nswap_prefetch_kind_find("whom"), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test,
			    nswap_prefetch_find(NSWAP_PREFETCH_WHICH, "lrs"),
			    &nswap_which_lrs_ops.is);
	KUNIT_EXPECT_NULL(test,
			  nswap_prefetch_find(NSWAP_PREFETCH_WHEN, "lrs"));
	KUNIT_EXPECT_NULL(test, nswap_prefetch_nth(NSWAP_PREFETCH_FROM, 2));
	KUNIT_EXPECT_STREQ(test,
			   nswap_prefetch_names(NSWAP_PREFETCH_WHEN,
						&nswap_when_idle_ops.is, buf,
						sizeof(buf)),
			   "always swapping [idle] adaptive");
	KUNIT_EXPECT_STREQ(test,
			   nswap_prefetch_names(NSWAP_PREFETCH_ENABLE,
						nswap_prefetch_nth(0, 0), buf,
						sizeof(buf)), "[off] on");
}

/* the defaults are a way, each place is the start of one, each goal its end */
static void ways_found(struct kunit *test)
{
	const struct nswap_prefetch_choice *from, *to;
	char buf[NSWAP_PREFETCH_WAYS];
	unsigned int i, ends = 0;

	KUNIT_EXPECT_PTR_EQ(test, nswap_prefetch_to_of(from_rows[0]),
			    to_rows[0]);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(ways), ARRAY_SIZE(from_rows));
	for (i = 0; i < ARRAY_SIZE(from_rows); i++) {
		from = from_rows[i];
		to = nswap_prefetch_to_of(from);
		KUNIT_EXPECT_PTR_EQ(test, to,
				    nswap_prefetch_find(NSWAP_PREFETCH_TO,
							to->name));
		KUNIT_EXPECT_STRNEQ(test, from->name, to->name);
		ends |= BIT(to == to_rows[1]);
	}
	KUNIT_EXPECT_EQ(test, ends, 3u);
	from = nswap_prefetch_find(NSWAP_PREFETCH_FROM, "disk");
	KUNIT_ASSERT_PTR_EQ(test, from, &nswap_prefetch_disk);
	KUNIT_EXPECT_STREQ(test, nswap_prefetch_to_of(from)->name, "ram");
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

/* however long it goes on, figures stay bounded and what was long ago fades */
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
	KUNIT_CASE(ours_are_valid),
	KUNIT_CASE_PARAM(when_validated, when_table_gen_params),
	KUNIT_CASE(which_validated),
	KUNIT_CASE(arms_differ),
	KUNIT_CASE(found_by_name),
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
