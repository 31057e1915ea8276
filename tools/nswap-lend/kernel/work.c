// SPDX-License-Identifier: GPL-2.0
/*
 * Works: functions that one thread calls when their time has come. It is made with the
 * first of them, and stays.
 */
#include "kernel.h"

static struct {
	pthread_mutex_t lock;	/* protects all of it, and the works */
	struct wait_queue_head changed;
	struct work_struct *first;
	struct work_struct *runs;
	bool started;
} works = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* take a work out of those that are queued; the lock held */
static void work_out(struct work_struct *work)
{
	struct work_struct **at = &works.first;

	while (*at && *at != work)
		at = &(*at)->next;
	if (*at)
		*at = work->next;
	work->queued = false;
}

/* the work whose time comes first; the lock held */
static struct work_struct *work_next(void)
{
	struct work_struct *work, *next = works.first;

	for (work = next; work; work = work->next)
		if (time_before(work->due, next->due))
			next = work;
	return next;
}

/* call the first work, if it is due; ms until one is */
static unsigned long work_call(void)
{
	unsigned long now = jiffies, wait = HZ;
	struct work_struct *work;

	pthread_mutex_lock(&works.lock);
	work = work_next();
	if (work && time_after(work->due, now)) {
		wait = work->due - now;
		work = NULL;
	}
	works.runs = work;
	if (work)
		work_out(work);
	pthread_mutex_unlock(&works.lock);
	if (!work)
		return wait;
	work->fn(work);
	pthread_mutex_lock(&works.lock);
	works.runs = NULL;
	pthread_mutex_unlock(&works.lock);
	wake_up_all(&works.changed);
	return 0;
}

static int work_loop(void *data)
{
	(void)data;
	for (;;) {
		u32 look = wait_look(&works.changed);
		unsigned long ms = work_call();

		if (ms)
			wait_woken_since(&works.changed, look, ms);
	}
	return 0;
}

/* one that is queued already keeps its time */
void lend_work_queue(struct work_struct *work, unsigned long ms, bool move)
{
	pthread_mutex_lock(&works.lock);
	if (!works.started) {
		init_waitqueue_head(&works.changed);
		works.started = !IS_ERR(lend_thread(work_loop, NULL, "nswap/work"));
	}
	if (!work->queued) {
		work->queued = true;
		work->due = jiffies + ms;
		work->next = works.first;
		works.first = work;
	} else if (move) {
		work->due = jiffies + ms;
	}
	pthread_mutex_unlock(&works.lock);
	wake_up_all(&works.changed);
}

void lend_work_cancel(struct work_struct *work)
{
	bool runs;

	if (!READ_ONCE(works.started))
		return;
	do {
		u32 look = wait_look(&works.changed);

		pthread_mutex_lock(&works.lock);
		work_out(work);
		runs = works.runs == work;
		pthread_mutex_unlock(&works.lock);
		if (runs)
			wait_woken_since(&works.changed, look, HZ);
	} while (runs);
}
