// SPDX-License-Identifier: GPL-2.0
/*
 * The client's tick, when requests begin to wait: soon, but not more often than it may run.
 * Kicks of those that wait: none is missed, and none counts while none waits. Ids of
 * messages: no two are the same.
 */
#include <kunit/test.h>

#include "../../nswap/core/client_state.c"

#define WAITS	1000
#define IDS	300

/**
 * struct tick_fixture - a client whose tick only counts
 * @node: its node
 * @cl: the client
 * @runs: how often the tick has run
 */
struct tick_fixture {
	struct nswap_node node;
	struct nswap_client cl;
	atomic_t runs;
};

/* as nswap_timers_tick() begins; it does not queue the next one */
static void tick_counted(struct work_struct *work)
{
	struct nswap_client *cl = container_of(to_delayed_work(work),
					       struct nswap_client, tick);
	struct tick_fixture *f = container_of(cl, struct tick_fixture, cl);

	WRITE_ONCE(cl->ticked, jiffies);
	atomic_inc(&f->runs);
}

/* the last tick ran @ago jiffies ago, which may be negative */
static void tick_ran(struct tick_fixture *f, long ago)
{
	cancel_delayed_work_sync(&f->cl.tick);
	atomic_set(&f->runs, 0);
	f->cl.ticked = jiffies - ago;
}

/* a request waits, and no tick has run for long: one runs at once */
static void first_wait(struct kunit *test)
{
	struct tick_fixture *f = test->priv;

	tick_ran(f, HZ);
	nswap_client_tick_soon(&f->node);
	KUNIT_EXPECT_FALSE(test, timer_pending(&f->cl.tick.timer));
	flush_workqueue(nswap_io_wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->runs), 1);
}

/*
 * Another one waits within the tick: none runs, however many wait, until it may. The last
 * tick lies ahead, so that it may not while this looks.
 */
static void second_wait(struct kunit *test)
{
	struct tick_fixture *f = test->priv;
	unsigned long may;
	unsigned int i;

	tick_ran(f, -10 * HZ);
	may = f->cl.ticked + msecs_to_jiffies(TICK_LEAST_MS);
	for (i = 0; i < WAITS; i++)
		nswap_client_tick_soon(&f->node);
	flush_workqueue(nswap_io_wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->runs), 0);
	KUNIT_EXPECT_TRUE(test, timer_pending(&f->cl.tick.timer));
	/* it was asked for at an earlier jiffy than this one, each time */
	KUNIT_EXPECT_LE(test, f->cl.tick.timer.expires - may, (unsigned long)HZ);
}

/* requests begin to wait all the time: no more ticks than time has passed for */
static void many_waits(struct kunit *test)
{
	struct tick_fixture *f = test->priv;
	unsigned long began, least = msecs_to_jiffies(TICK_LEAST_MS);
	unsigned int i;

	tick_ran(f, HZ);
	began = jiffies;
	for (i = 0; i < WAITS; i++) {
		nswap_client_tick_soon(&f->node);
		flush_workqueue(nswap_io_wq);
	}
	KUNIT_EXPECT_GE(test, atomic_read(&f->runs), 1);
	KUNIT_EXPECT_LE(test, (unsigned long)atomic_read(&f->runs),
			1 + (jiffies - began) / least);
}

/* a kick before any waits is not counted: the first that waits counts for it */
static void kick_before_the_first(struct kunit *test)
{
	struct tick_fixture *f = test->priv;
	int seen = atomic_read(&f->cl.changes);

	nswap_client_kick(&f->node);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->cl.changes), seen);
	nswap_client_mind(&f->node);
	KUNIT_EXPECT_NE(test, atomic_read(&f->cl.changes), seen);
}

/* each one counts while a request waits, and none when all have ended */
static void kicks_while_one_waits(struct kunit *test)
{
	struct tick_fixture *f = test->priv;
	int seen;

	nswap_client_mind(&f->node);
	seen = atomic_read(&f->cl.changes);
	nswap_client_mind(&f->node);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->cl.changes), seen);
	nswap_client_kick(&f->node);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->cl.changes), seen + 1);
	atomic_dec(&f->cl.minding);
	nswap_client_kick(&f->node);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->cl.changes), seen + 2);
	atomic_dec(&f->cl.minding);
	nswap_client_kick(&f->node);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->cl.changes), seen + 2);
}

/* those of one CPU after those of another, as if a task had moved in between */
static void ids_differ(struct kunit *test)
{
	struct tick_fixture *f = test->priv;
	u64 *ids = kunit_kcalloc(test, 2 * IDS, sizeof(*ids), GFP_KERNEL);
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	KUNIT_ASSERT_EQ(test, nswap_client_ids_init(&f->cl), 0);
	for (i = 0; i < IDS; i++)
		ids[i] = le64_to_cpu(nswap_client_id(&f->node));
	/* as another CPU begins */
	*raw_cpu_ptr(f->cl.ids) = nr_cpu_ids;
	for (; i < 2 * IDS; i++)
		ids[i] = le64_to_cpu(nswap_client_id(&f->node));
	nswap_client_ids_exit(&f->cl);
	for (i = 0; i < 2 * IDS; i++) {
		KUNIT_EXPECT_NE(test, ids[i], 0ull);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, ids[i], ids[j]);
	}
}

static int tick_init(struct kunit *test)
{
	struct tick_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	ret = nswap_workqueues_init();
	if (ret)
		return ret;
	f->node.client = &f->cl;
	f->cl.node = &f->node;
	INIT_LIST_HEAD(&f->cl.waiting);
	INIT_LIST_HEAD(&f->cl.for_room);
	INIT_DELAYED_WORK(&f->cl.tick, tick_counted);
	test->priv = f;
	return 0;
}

static void tick_exit(struct kunit *test)
{
	struct tick_fixture *f = test->priv;

	if (!f)
		return;
	cancel_delayed_work_sync(&f->cl.tick);
	nswap_workqueues_exit();
}

static struct kunit_case tick_cases[] = {
	KUNIT_CASE(first_wait),
	KUNIT_CASE(second_wait),
	KUNIT_CASE(many_waits),
	KUNIT_CASE(kick_before_the_first),
	KUNIT_CASE(kicks_while_one_waits),
	KUNIT_CASE(ids_differ),
	{}
};

static struct kunit_suite tick_suite = {
	.name = "nswap_tick",
	.init = tick_init,
	.exit = tick_exit,
	.test_cases = tick_cases,
};

kunit_test_suite(tick_suite);
