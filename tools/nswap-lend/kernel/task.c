// SPDX-License-Identifier: GPL-2.0
/*
 * Threads, and waiting.
 *
 * Invariants:
 *  - A thread lives until kthread_stop() has joined it, whatever its function returned.
 *  - Signals are the main thread's: all others block them.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "kernel.h"

#define STACK	(128 << 10)	/* twice what the deepest call was seen to take, and more */

pthread_rwlock_t lend_readers = PTHREAD_RWLOCK_INITIALIZER;

struct task_struct {
	pthread_t thread;
	int (*fn)(void *data);
	void *data;
	pthread_mutex_t lock;	/* protects @woken, @waits */
	pthread_cond_t cond;
	bool woken;
	wait_queue_head_t *waits;	/* where it does */
	bool stop;
	bool begins;	/* with the first wake-up */
};

static __thread struct task_struct *self;

static u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

u64 ktime_get_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

u64 ktime_get_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static struct timespec in_ms(unsigned long ms)
{
	u64 at = ktime_get_ns() + ms * NSEC_PER_MSEC;

	return (struct timespec){ at / 1000000000, at % 1000000000 };
}

static void *thread_main(void *data)
{
	self = data;
	if (self->begins)
		schedule();
	if (!self->begins || !kthread_should_stop())
		self->fn(self->data);
	return NULL;
}

static int thread_start(struct task_struct *t)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	ret = pthread_create(&t->thread, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

static struct task_struct *thread_make(int (*fn)(void *), void *data, bool waits,
				       const char *name, va_list args)
{
	struct task_struct *t = kzalloc(sizeof(*t), GFP_KERNEL);
	char text[16];
	int ret;

	if (!t)
		return ERR_PTR(-ENOMEM);
	t->fn = fn;
	t->data = data;
	t->begins = waits;
	pthread_mutex_init(&t->lock, NULL);
	cond_init(&t->cond);
	ret = thread_start(t);
	if (ret) {
		free(t);
		return ERR_PTR(-ret);
	}
	vsnprintf(text, sizeof(text), name, args);
	pthread_setname_np(t->thread, text);
	return t;
}

struct task_struct *lend_thread(int (*fn)(void *), void *data, const char *name, ...)
{
	struct task_struct *t;
	va_list args;

	va_start(args, name);
	t = thread_make(fn, data, false, name, args);
	va_end(args);
	return t;
}

struct task_struct *lend_thread_waits(int (*fn)(void *), void *data, const char *name, ...)
{
	struct task_struct *t;
	va_list args;

	va_start(args, name);
	t = thread_make(fn, data, true, name, args);
	va_end(args);
	return t;
}

void wake_up_process(struct task_struct *t)
{
	pthread_mutex_lock(&t->lock);
	t->woken = true;
	pthread_cond_signal(&t->cond);
	pthread_mutex_unlock(&t->lock);
}

int kthread_stop(struct task_struct *t)
{
	WRITE_ONCE(t->stop, true);
	wake_up_process(t);
	pthread_mutex_lock(&t->lock);
	if (t->waits)
		wake_up_all(t->waits);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->cond);
	pthread_mutex_destroy(&t->lock);
	free(t);
	return 0;
}

bool kthread_should_stop(void)
{
	return READ_ONCE(self->stop);
}

void set_current_state(int state)
{
	if (state == TASK_RUNNING)
		return;
	pthread_mutex_lock(&self->lock);
	self->woken = false;
	pthread_mutex_unlock(&self->lock);
}

void schedule(void)
{
	pthread_mutex_lock(&self->lock);
	while (!self->woken && !READ_ONCE(self->stop))
		pthread_cond_wait(&self->cond, &self->lock);
	pthread_mutex_unlock(&self->lock);
}

void schedule_timeout_interruptible(unsigned long ms)
{
	struct timespec until = in_ms(ms);

	pthread_mutex_lock(&self->lock);
	while (!READ_ONCE(self->stop) &&
	       !pthread_cond_timedwait(&self->cond, &self->lock, &until))
		;
	pthread_mutex_unlock(&self->lock);
}

void usleep_range(unsigned long least, unsigned long most)
{
	struct timespec t = { least / 1000000, least % 1000000 * 1000 };

	(void)most;
	nanosleep(&t, NULL);
}

void init_completion(struct completion *c)
{
	pthread_mutex_init(&c->lock, NULL);
	cond_init(&c->cond);
	c->done = false;
}

void complete(struct completion *c)
{
	pthread_mutex_lock(&c->lock);
	c->done = true;
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

void wait_for_completion(struct completion *c)
{
	pthread_mutex_lock(&c->lock);
	while (!c->done)
		pthread_cond_wait(&c->cond, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

void init_waitqueue_head(wait_queue_head_t *w)
{
	pthread_mutex_init(&w->lock, NULL);
	cond_init(&w->cond);
	w->woken = 0;
}

void wake_up_all(wait_queue_head_t *w)
{
	pthread_mutex_lock(&w->lock);
	w->woken++;
	pthread_cond_broadcast(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

u32 wait_look(wait_queue_head_t *w)
{
	u32 look;

	pthread_mutex_lock(&w->lock);
	look = w->woken;
	pthread_mutex_unlock(&w->lock);
	return look;
}

/* a thread that is to stop does not wait, or is woken */
static bool wait_at(wait_queue_head_t *w)
{
	bool may;

	pthread_mutex_lock(&self->lock);
	may = !w || !READ_ONCE(self->stop);
	self->waits = may ? w : NULL;
	pthread_mutex_unlock(&self->lock);
	return may;
}

bool wait_woken_since(wait_queue_head_t *w, u32 look, unsigned long ms)
{
	struct timespec until = in_ms(ms);
	bool woken;

	if (self && !wait_at(w))
		return true;
	pthread_mutex_lock(&w->lock);
	while (w->woken == look &&
	       !pthread_cond_timedwait(&w->cond, &w->lock, &until))
		;
	woken = w->woken != look;
	pthread_mutex_unlock(&w->lock);
	if (self)
		wait_at(NULL);
	return woken;
}
