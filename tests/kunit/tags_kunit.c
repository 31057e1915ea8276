// SPDX-License-Identifier: GPL-2.0
/*
 * Tags of messages: what is sent is taken, once and in order, and nothing else.
 */
#include <kunit/test.h>

#include "../../nswap/keys/tags.c"

#define RUNS	3

/**
 * struct pair - both ends of a connection
 * @a: one
 * @b: the other
 * @h: a message of @RUNS runs
 * @run: its payload
 */
struct pair {
	struct nswap_tags a;
	struct nswap_tags b;
	struct nswap_wire_hdr h;
	struct nswap_wire_run run[RUNS];
};

static int make_pair(struct kunit *test)
{
	struct pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	p->a.on = true;
	p->b.on = true;
	get_random_bytes(&p->a.out, sizeof(p->a.out));
	get_random_bytes(&p->a.in, sizeof(p->a.in));
	p->b.in = p->a.out;
	p->b.out = p->a.in;
	nswap_wire_init(&p->h, NSWAP_FREE, RUNS, sizeof(p->run));
	get_random_bytes(p->run, sizeof(p->run));
	test->priv = p;
	return 0;
}

static void in_order(struct kunit *test)
{
	struct pair *p = test->priv;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		nswap_tags_put(&p->a, &p->h, p->run);
		nswap_tags_sent(&p->a);
		KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), 0);
		KUNIT_EXPECT_EQ(test, nswap_wire_check(&p->h), 0);
		KUNIT_EXPECT_EQ(test, nswap_tags_plain(&p->b, p->run, sizeof(p->run)), 0);
	}
}

/* one that was not sent after all leaves its number to the next */
static void not_sent(struct kunit *test)
{
	struct pair *p = test->priv;

	nswap_tags_put(&p->a, &p->h, p->run);
	nswap_wire_init(&p->h, NSWAP_PING, 0, 0);
	nswap_tags_put(&p->a, &p->h, NULL);
	nswap_tags_sent(&p->a);
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), 0);
}

static void every_bit(struct kunit *test)
{
	struct pair *p = test->priv;
	struct nswap_wire_hdr sent;
	unsigned int bit;

	nswap_tags_put(&p->a, &p->h, p->run);
	sent = p->h;
	for (bit = 0; bit < 8 * sizeof(sent); bit++) {
		p->h = sent;
		((u8 *)&p->h)[bit / 8] ^= 1 << bit % 8;
		p->b.received = 0;
		KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), -EBADMSG);
	}
	p->b.received = 0;
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &sent), 0);
	for (bit = 0; bit < 8 * sizeof(p->run); bit++) {
		((u8 *)p->run)[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ(test, nswap_tags_plain(&p->b, p->run, sizeof(p->run)),
				-EBADMSG);
		((u8 *)p->run)[bit / 8] ^= 1 << bit % 8;
	}
	KUNIT_EXPECT_EQ(test, nswap_tags_plain(&p->b, p->run, sizeof(p->run)), 0);
}

static void repeated(struct kunit *test)
{
	struct pair *p = test->priv;
	struct nswap_wire_hdr sent;

	nswap_tags_put(&p->a, &p->h, p->run);
	sent = p->h;
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), 0);
	p->h = sent;
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), -EBADMSG);
}

/* what a side sent is not taken by itself */
static void sent_back(struct kunit *test)
{
	struct pair *p = test->priv;

	nswap_tags_put(&p->a, &p->h, p->run);
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->a, &p->h), -EBADMSG);
}

/* pages are not covered, what comes before them is */
static void plain_part(struct kunit *test)
{
	struct nswap_wire_hdr h;

	nswap_wire_init(&h, NSWAP_STORE, 2, 2 * (4 + PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 8ul);
	nswap_wire_init(&h, NSWAP_LOAD, 2, 8);
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 8ul);
	nswap_wire_init(&h, NSWAP_LOAD_REPLY, 3, 12 + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 12ul);
	nswap_wire_init(&h, NSWAP_MOVE, 32, 16 + 32 * (16 + PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h),
			offsetof(struct nswap_wire_names, room));
	nswap_wire_init(&h, NSWAP_MOVED, 1, 32);
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 32ul);
	nswap_wire_init(&h, NSWAP_PING, 0, 0);
	KUNIT_EXPECT_EQ(test, nswap_wire_plain(&h), 0ul);
}

static void without_keys(struct kunit *test)
{
	struct pair *p = test->priv;

	p->a.on = false;
	p->b.on = false;
	nswap_tags_put(&p->a, &p->h, p->run);
	KUNIT_EXPECT_EQ(test, nswap_tags_take(&p->b, &p->h), 0);
	KUNIT_EXPECT_EQ(test, nswap_wire_check(&p->h), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(not_sent),
	KUNIT_CASE(every_bit),
	KUNIT_CASE(repeated),
	KUNIT_CASE(sent_back),
	KUNIT_CASE(plain_part),
	KUNIT_CASE(without_keys),
	{}
};

static struct kunit_suite suite = {
	.name = "nswap_tags",
	.init = make_pair,
	.test_cases = cases,
};

kunit_test_suite(suite);
