// SPDX-License-Identifier: GPL-2.0
/* The table of policies: what is accepted, found and listed. */
#include <kunit/test.h>

#include "../../policy/policies.c"

static int never(const struct nswap_place_view *view, unsigned int pages)
{
	return -1;
}

static enum nswap_which_look none(bool referenced)
{
	return NSWAP_WHICH_PASS;
}

static const struct nswap_which_ops *
itself(const struct nswap_prefetch_view *view)
{
	return NULL;
}

struct table {
	const char *desc;
	struct nswap_place_ops ops;
	bool good;
};

static const struct table tables[] = {
	{ "complete", { { "mine", "help" }, never }, true },
	{ "longest name", { { "nineteen-letters-ok", "help" }, never }, true },
	{ "no name", { { NULL, "help" }, never }, false },
	{ "empty name", { { "", "help" }, never }, false },
	{ "name too long", { { "twenty-letters-is-it", "help" }, never },
	  false },
	{ "name that means the node's", { { "default", "help" }, never },
	  false },
	{ "no help", { { "mine", NULL }, never }, false },
	{ "no pick", { { "mine", "help" }, NULL }, false },
	{ "a name twice", { { "round-robin", "help" }, never }, false },
};

static void table_desc(const struct table *t, char *desc)
{
	strscpy(desc, t->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(table, tables, table_desc);

static void validated(struct kunit *test)
{
	const struct table *t = test->param_value;
	const struct nswap_policy *row[] = {
		&nswap_place_rr_ops.is, &t->ops.is, NULL,
	};
	struct policy_kind k = kinds[NSWAP_PLACE];

	k.row = row;
	KUNIT_EXPECT_EQ(test, policy_kind_validate(&k), t->good ? 0 : -EINVAL);
	row[1] = NULL;
	KUNIT_EXPECT_EQ(test, policy_kind_validate(&k), 0);
	row[0] = NULL;
	KUNIT_EXPECT_EQ(test, policy_kind_validate(&k), -EINVAL);
}

/* a refusal lists all of them: 69 letters and 2 brackets fit, 70 do not */
static void names_fit_one_line(struct kunit *test)
{
	static const struct nswap_policy p[] = {
		{ "nineteen-letters-aa", "help" },
		{ "nineteen-letters-bb", "help" },
		{ "seventeen-letters", "help" },
		{ "eleven-lett", "help" },
		{ "twelve-lette", "help" },
	};
	const struct nswap_policy *row[] = { &p[0], &p[1], &p[2], &p[3], NULL };
	struct policy_kind k = { .name = "mine", .row = row };
	char buf[NSWAP_POLICY_LIST];

	KUNIT_EXPECT_EQ(test, policy_kind_validate(&k), 0);
	row[3] = &p[4];
	KUNIT_EXPECT_EQ(test, policy_kind_validate(&k), -EINVAL);
	KUNIT_EXPECT_STREQ(test, nswap_policy_names(NSWAP_PLACE, NULL, buf, 16),
			   "most-free round");
}

static void which_validated(struct kunit *test)
{
	struct nswap_which_ops ops = { { "mine", "help" }, 5, false, none };

	KUNIT_EXPECT_TRUE(test, which_complete(&ops.is));
	ops.arm = 0;
	KUNIT_EXPECT_FALSE(test, which_complete(&ops.is));
	ops.arm = NSWAP_PREFETCH_ARMS;
	KUNIT_EXPECT_FALSE(test, which_complete(&ops.is));
	ops.arm = 5;
	ops.look = NULL;
	KUNIT_EXPECT_FALSE(test, which_complete(&ops.is));
	ops.choose = itself;
	KUNIT_EXPECT_FALSE(test, which_complete(&ops.is));
	ops.arm = 0;
	KUNIT_EXPECT_TRUE(test, which_complete(&ops.is));
	ops.look = none;
	KUNIT_EXPECT_FALSE(test, which_complete(&ops.is));
}

/* a policy of a name and nothing else is refused, unless its kind needs no function */
static void without_its_function(struct kunit *test)
{
	char ops[128] = {};
	struct nswap_policy *p = (struct nswap_policy *)ops;
	const struct nswap_policy *row[] = { p, NULL };
	unsigned int kind;

	*p = (struct nswap_policy){ "mine", "help" };
	for (kind = 0; kind < NSWAP_POLICY_KINDS; kind++) {
		struct policy_kind k = kinds[kind];
		bool name_only = !k.needs && !k.complete;

		k.row = row;
		KUNIT_EXPECT_EQ_MSG(test, policy_kind_validate(&k),
				    name_only ? 0 : -EINVAL, "%s", k.name);
	}
}

struct kind_row {
	const char *name;
	enum nswap_policy_kind kind;
	const char *names;
};

static const struct kind_row kind_rows[] = {
	{ "place", NSWAP_PLACE,
	  "[most-free] round-robin least-full two-choices latency burst quietest" },
	{ "size", NSWAP_SIZE, "[fixed] watermark pressure owner" },
	{ "read", NSWAP_READ,
	  "[prefetched-first] fastest least-loaded soonest" },
	{ "prefetch-enable", NSWAP_PREFETCH_ENABLE, "[off] on" },
	{ "prefetch-when", NSWAP_PREFETCH_WHEN,
	  "[always] swapping idle adaptive full" },
	{ "prefetch-count", NSWAP_PREFETCH_COUNT,
	  "[percent-out] percent-used adaptive" },
	{ "prefetch-which", NSWAP_PREFETCH_WHICH,
	  "[rr] rand lrs mrs adaptive" },
	{ "prefetch-from", NSWAP_PREFETCH_FROM, "[ram] disk flash" },
	{ "prefetch-to", NSWAP_PREFETCH_TO, "[flash] ram disk" },
	{ "prefetch-after", NSWAP_PREFETCH_AFTER, "[copy] move" },
};

static_assert(ARRAY_SIZE(kind_rows) == NSWAP_POLICY_KINDS);

static void kind_desc(const struct kind_row *r, char *desc)
{
	strscpy(desc, r->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind_row, kind_rows, kind_desc);

static void found_and_listed(struct kunit *test)
{
	const struct kind_row *r = test->param_value;
	const struct nswap_policy *p;
	char buf[NSWAP_POLICY_LIST];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, nswap_policy_kind(r->name), (int)r->kind);
	KUNIT_EXPECT_STREQ(test, nswap_policy_kind_name(r->kind), r->name);
	KUNIT_EXPECT_STREQ(test,
			   nswap_policy_names(r->kind,
					      nswap_policy_nth(r->kind, 0), buf,
					      sizeof(buf)), r->names);
	for (i = 0; (p = nswap_policy_nth(r->kind, i)); i++)
		KUNIT_EXPECT_PTR_EQ(test, nswap_policy_find(r->kind, p->name), p);
	KUNIT_EXPECT_NULL(test, nswap_policy_find(r->kind, ""));
	KUNIT_EXPECT_NULL(test, nswap_policy_find(r->kind, "default"));
	KUNIT_EXPECT_NULL(test, nswap_policy_find(r->kind, "round"));
}

static void ours_are_valid(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nswap_policy_validate(), 0);
	KUNIT_EXPECT_EQ(test, nswap_policy_kind("whom"), -ENOENT);
	KUNIT_EXPECT_EQ(test, nswap_policy_kind("when"), -ENOENT);
	KUNIT_EXPECT_EQ(test, nswap_policy_kind(""), -ENOENT);
}

/* hits are counted per arm */
static void arms_differ(struct kunit *test)
{
	u8 seen[NSWAP_PREFETCH_ARMS] = {};
	const struct nswap_policy *p;
	unsigned int i;

	for (i = 0; (p = nswap_policy_nth(NSWAP_PREFETCH_WHICH, i)); i++) {
		u8 arm = container_of(p, struct nswap_which_ops, is)->arm;

		KUNIT_EXPECT_EQ(test, seen[arm], 0);
		seen[arm] = 1;
	}
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE_PARAM(validated, table_gen_params),
	KUNIT_CASE(names_fit_one_line),
	KUNIT_CASE(which_validated),
	KUNIT_CASE(without_its_function),
	KUNIT_CASE_PARAM(found_and_listed, kind_row_gen_params),
	KUNIT_CASE(ours_are_valid),
	KUNIT_CASE(arms_differ),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "nswap_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
