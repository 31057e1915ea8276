// SPDX-License-Identifier: GPL-2.0
/* The client's tick, when requests begin to wait: soon, but not more often than it may run. */
#include <kunit/test.h>

#include "../../nswap/core/client_state.c"

#define WAITS	1000

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
	{}
};

static struct kunit_suite tick_suite = {
	.name = "nswap_tick",
	.init = tick_init,
	.exit = tick_exit,
	.test_cases = tick_cases,
};

kunit_test_suite(tick_suite);
