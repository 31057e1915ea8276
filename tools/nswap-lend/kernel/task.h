/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads, and waiting.
 */
#ifndef LEND_TASK_H
#define LEND_TASK_H

#include "sync.h"

struct task_struct;

#define TASK_RUNNING	0
#define TASK_IDLE	1

/* @waits: until wake_up_process() */
struct task_struct *lend_thread_waits(int (*fn)(void *), void *data, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
#define kthread_create(fn, data, ...)	lend_thread_waits(fn, data, __VA_ARGS__)
struct task_struct *lend_thread(int (*fn)(void *), void *data, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
#define kthread_run(fn, data, ...)	lend_thread(fn, data, __VA_ARGS__)
int kthread_stop(struct task_struct *t);
bool kthread_should_stop(void);
void wake_up_process(struct task_struct *t);
void set_current_state(int state);
#define __set_current_state(s)	set_current_state(s)
/* until the thread is woken; one that was since it set its state does not wait */
void schedule(void);
void schedule_timeout_interruptible(unsigned long ms);
void usleep_range(unsigned long least, unsigned long most);
#define msleep(ms)		usleep_range((ms) * 1000ul, (ms) * 1000ul)
#define cond_resched()		((void)0)

/**
 * struct completion - something that happens once
 * @lock: protects @done
 * @cond: it has happened
 * @done: likewise
 */
struct completion {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

void init_completion(struct completion *c);
void complete(struct completion *c);
void wait_for_completion(struct completion *c);

/**
 * struct wait_queue_head - where threads wait for a condition
 * @lock: protects @woken
 * @cond: @woken has changed
 * @woken: how often
 */
typedef struct wait_queue_head {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	u32 woken;
} wait_queue_head_t;

void init_waitqueue_head(wait_queue_head_t *w);
void wake_up_all(wait_queue_head_t *w);
u32 wait_look(wait_queue_head_t *w);
/* until it is woken again after wait_look(), for @ms at most; false when the time is up */
bool wait_woken_since(wait_queue_head_t *w, u32 look, unsigned long ms);

/* the condition is looked at without the queue's lock, and again after each wake-up */
#define wait_event_interruptible_timeout(w, condition, ms) ({ \
	unsigned long _until = jiffies + (ms), _now; \
	for (;;) { \
		u32 _look = wait_look(&(w)); \
		_now = jiffies; \
		if ((condition) || !time_before(_now, _until) || \
		    !wait_woken_since(&(w), _look, _until - _now)) \
			break; \
	} \
	1; })
#define wait_event(w, condition) \
	do { \
		u32 _look = wait_look(&(w)); \
		if (condition) \
			break; \
		wait_woken_since(&(w), _look, HZ); \
	} while (1)
#define wait_event_interruptible(w, condition)	wait_event(w, condition)

/**
 * struct work_struct - a function to be called by a thread for all of these
 * @fn: the function
 * @queued: it is to be called; under the works' lock
 * @due: jiffies when; likewise
 * @next: another one; likewise
 */
struct work_struct {
	void (*fn)(struct work_struct *work);
	bool queued;
	unsigned long due;
	struct work_struct *next;
};

struct delayed_work {
	struct work_struct work;
};

/* @move: when it is queued already, to this moment */
void lend_work_queue(struct work_struct *work, unsigned long ms, bool move);
/* it is not queued, and does not run, when this returns */
void lend_work_cancel(struct work_struct *work);

#define system_dfl_wq		0	/* there is one queue */
#define INIT_DELAYED_WORK(w, f)	((w)->work = (struct work_struct){ .fn = (f) })
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define queue_delayed_work(queue, w, ms)	((void)(queue), lend_work_queue(&(w)->work, ms, false))
#define mod_delayed_work(queue, w, ms)	((void)(queue), lend_work_queue(&(w)->work, ms, true))
#define cancel_delayed_work_sync(w)	lend_work_cancel(&(w)->work)
#define INIT_WORK(w, f)		(*(w) = (struct work_struct){ .fn = (f) })
#define queue_work(queue, w)	((void)(queue), lend_work_queue(w, 0, false))
#define cancel_work_sync(w)	lend_work_cancel(w)

/* threads run where the scheduler puts them, as nice as the program was started */
#define set_cpus_allowed_ptr(...)	((void)0)
#define set_user_nice(...)		((void)0)

#endif
