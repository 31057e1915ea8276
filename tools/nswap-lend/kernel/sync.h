/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks, counts, and what is read without a lock.
 */
#ifndef LEND_SYNC_H
#define LEND_SYNC_H

#include <pthread.h>

#include "types.h"

typedef struct { pthread_mutex_t m; } spinlock_t;
struct mutex { pthread_mutex_t m; };

#define spin_lock_init(l)	pthread_mutex_init(&(l)->m, NULL)
#define spin_lock(l)		((void)pthread_mutex_lock(&(l)->m))
#define spin_unlock(l)		((void)pthread_mutex_unlock(&(l)->m))
#define spin_lock_irq(l)	spin_lock(l)
#define spin_unlock_irq(l)	spin_unlock(l)
#define spin_lock_irqsave(l, f)	((f) = 0, spin_lock(l))
#define spin_unlock_irqrestore(l, f)	((void)(f), spin_unlock(l))
#define spin_lock_bh(l)		spin_lock(l)
#define spin_unlock_bh(l)	spin_unlock(l)
#define mutex_init(l)		pthread_mutex_init(&(l)->m, NULL)
#define mutex_lock(l)		((void)pthread_mutex_lock(&(l)->m))
#define mutex_unlock(l)		((void)pthread_mutex_unlock(&(l)->m))

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
/* as the module's units say at each of them */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* likewise */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* likewise */
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)

#define atomic_read(a)		__atomic_load_n(&(a)->v, __ATOMIC_RELAXED)
#define atomic_add(n, a)	((void)__atomic_add_fetch(&(a)->v, n, __ATOMIC_SEQ_CST))
#define atomic_sub(n, a)	((void)__atomic_sub_fetch(&(a)->v, n, __ATOMIC_SEQ_CST))
#define atomic_add_return(n, a)	__atomic_add_fetch(&(a)->v, n, __ATOMIC_SEQ_CST)
#define atomic_inc_return(a)	atomic_add_return(1, a)
#define atomic_inc(a)		atomic_add(1, a)
#define atomic_dec(a)		atomic_sub(1, a)

#define atomic64_read(a)	__atomic_load_n(&(a)->v, __ATOMIC_RELAXED)

typedef struct { u32 n; } refcount_t;

static inline void refcount_set(refcount_t *r, u32 n)
{
	__atomic_store_n(&r->n, n, __ATOMIC_RELAXED);
}

static inline u32 refcount_read(const refcount_t *r)
{
	return __atomic_load_n(&r->n, __ATOMIC_RELAXED);
}

static inline void refcount_inc(refcount_t *r)
{
	__atomic_add_fetch(&r->n, 1, __ATOMIC_RELAXED);
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	return !__atomic_sub_fetch(&r->n, 1, __ATOMIC_ACQ_REL);
}

/* counters: one word each, added to by all threads */
#define this_cpu_add(word, n)	((void)__atomic_add_fetch(&(word), n, __ATOMIC_RELAXED))

/* what is replaced as a whole: readers keep the replacer from freeing the old one */
extern pthread_rwlock_t lend_readers;

#define rcu_read_lock()		((void)pthread_rwlock_rdlock(&lend_readers))
#define rcu_read_unlock()	((void)pthread_rwlock_unlock(&lend_readers))
#define rcu_dereference(p)	__atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_dereference_protected(p, c)	((void)(c), (p))
#define rcu_assign_pointer(p, v)	__atomic_store_n(&(p), v, __ATOMIC_RELEASE)
#define kvfree_rcu(p, head) ({ \
	(void)&(p)->head; \
	pthread_rwlock_wrlock(&lend_readers); \
	pthread_rwlock_unlock(&lend_readers); \
	free(p); })

#endif
