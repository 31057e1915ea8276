// SPDX-License-Identifier: GPL-2.0
/* Owners met one after the other, while some of them go on storing. */
#include <kunit/test.h>

/* ready_kunit.c has the real one in the same module */
#define nswap_cache_unready	turn_cache_unready

#include "../../nswap/server/owner_turn.c"

#define OWNERS	4

/**
 * struct turn_test - a cache, and owners of which pages are ready
 * @c: the cache
 * @o: the owners
 * @busy: what is gathered of the first one is ready again at once
 * @met: how often something was gathered
 */
struct turn_test {
	struct nswap_cache c;
	struct nswap_owner o[OWNERS];
	bool busy;
	unsigned int met;
};

void nswap_cache_unready(struct nswap_cache *c, struct nswap_owner *o)
{
	struct turn_test *r = container_of(c, struct turn_test, c);

	r->met++;
	o->ready.nr = r->busy && o == r->o ? NSWAP_REQ_SLOTS : 0;
}

void nswap_owner_leave(struct nswap_cache *c, struct nswap_owner *o)
{
	o->users--;
}

static int turn_init(struct kunit *test)
{
	struct turn_test *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	unsigned int i;

	if (!r)
		return -ENOMEM;
	spin_lock_init(&r->c.lock);
	INIT_LIST_HEAD(&r->c.owners);
	for (i = 0; i < OWNERS; i++) {
		spin_lock_init(&r->o[i].lock);
		list_add_tail(&r->o[i].link, &r->c.owners);
	}
	r->c.nr_owners = OWNERS;
	test->priv = r;
	return 0;
}

/* all that have something ready, and no other, once each; none is kept */
static void gathers(struct kunit *test, bool busy)
{
	struct turn_test *r = test->priv;
	unsigned int i;

	r->busy = busy;
	r->met = 0;
	for (i = 0; i < OWNERS; i++)
		r->o[i].ready.nr = i == 1 ? 0 : NSWAP_REQ_SLOTS;
	nswap_owner_gather(&r->c);
	KUNIT_EXPECT_EQ(test, r->met, OWNERS - 1u);
	for (i = 0; i < OWNERS; i++) {
		KUNIT_EXPECT_EQ(test, r->o[i].users, 0u);
		KUNIT_EXPECT_EQ(test, r->o[i].ready.nr > 0, busy && !i);
	}
}

static void each_once(struct kunit *test)
{
	gathers(test, false);
	gathers(test, true);
}

static struct kunit_case turn_cases[] = {
	KUNIT_CASE(each_once),
	{}
};

static struct kunit_suite turn_suite = {
	.name = "nswap_owner_turn",
	.init = turn_init,
	.test_cases = turn_cases,
};

kunit_test_suite(turn_suite);
