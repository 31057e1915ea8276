/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as the pure units need, for building them as a program. It is
 * included before every unit; the headers that a unit asks for are empty files which the
 * Makefile makes.
 *
 * A warning of a unit is a fault, unless kernel_may_warn is set. Locks are not taken, only
 * looked at: one that is taken twice, or was not taken, is a fault. Allocations fail when
 * kernel_no_memory says so.
 */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <assert.h>
#include <stdio.h>

#include "tools/nswap-lend/kernel/arith.h"

typedef struct { bool taken; } spinlock_t;
typedef struct { u64 key[2]; } siphash_key_t;

/* -- what tells of faults --------------------------------------------------- */

extern bool kernel_may_warn;
extern unsigned int kernel_warned;
extern bool kernel_no_memory;

bool kernel_warn(bool is, const char *what, const char *file, int line);

#define WARN_ON_ONCE(c)	kernel_warn(!!(c), #c, __FILE__, __LINE__)

void kernel_lock(spinlock_t *lock, bool take);

#define spin_lock_init(l)	((l)->taken = false)
#define spin_lock(l)		kernel_lock(l, true)
#define spin_unlock(l)		kernel_lock(l, false)
#define spin_lock_irq(l)	kernel_lock(l, true)
#define spin_unlock_irq(l)	kernel_lock(l, false)
#define spin_lock_irqsave(l, f)	({ (f) = 0; kernel_lock(l, true); })
#define spin_unlock_irqrestore(l, f)	({ (void)(f); kernel_lock(l, false); })

/* -- memory ----------------------------------------------------------------- */

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0
#define __GFP_NORETRY		0
#define __GFP_ZERO		1

void *kernel_alloc(size_t n, size_t bytes, bool zero);

#define __vmalloc(n, flags)	kernel_alloc(1, n, (flags) & __GFP_ZERO)
#define vmalloc_huge(n, flags)	kernel_alloc(1, n, (flags) & __GFP_ZERO)
#define kvcalloc(n, bytes, flags)	((void)(flags), kernel_alloc(n, bytes, true))
#define kzalloc(n, flags)	((void)(flags), kernel_alloc(1, n, true))
#define kvmalloc(n, flags)	((void)(flags), kernel_alloc(1, n, false))
#define vfree(p)		free(p)
#define kvfree(p)		free(p)
#define kfree_sensitive(p)	free(p)
#define kvfree_rcu(p, head)	((void)&(p)->head, free(p))


void *memchr_inv(const void *at, int c, size_t bytes);
#define crypto_memneq(a, b, n)	(!!memcmp(a, b, n))

/* -- one task alone: nothing is concurrent ----------------------------------- */

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
/* one thread: no barrier */
#define smp_store_release(p, v)	(*(p) = (v))
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_dereference(p)	(p)
#define rcu_dereference_protected(p, c)	((void)(c), (p))
#define rcu_assign_pointer(p, v)	((p) = (v))
#define atomic64_read(a)	((a)->v)
#define atomic64_set(a, n)	((a)->v = (n))
#define atomic64_inc(a)		((void)(a)->v++)
#define atomic64_dec(a)		((void)(a)->v--)
#define atomic_read(a)		((a)->v)

static inline u64 atomic64_cmpxchg(atomic64_t *a, u64 old, u64 new)
{
	u64 was = a->v;

	if (was == old)
		a->v = new;
	return was;
}

static inline int atomic_xchg(atomic_t *a, int new)
{
	int was = a->v;

	a->v = new;
	return was;
}

static inline int atomic_cmpxchg(atomic_t *a, int old, int new)
{
	int was = a->v;

	if (was == old)
		a->v = new;
	return was;
}

/* -- bits ------------------------------------------------------------------- */

#define set_bit(n, map)		((map)[(n) / 64] |= 1ul << (n) % 64)
#define clear_bit(n, map)	((map)[(n) / 64] &= ~(1ul << (n) % 64))
#define test_bit(n, map)	(!!((map)[(n) / 64] & 1ul << (n) % 64))

#define clear_bit_unlock(n, map)	clear_bit(n, map)

static inline bool test_and_set_bit_lock(unsigned long n, unsigned long *map)
{
	bool was = test_bit(n, map);

	set_bit(n, map);
	return was;
}

bool test_and_clear_bit(unsigned long n, unsigned long *map);
void bitmap_set(unsigned long *map, unsigned int first, unsigned int nr);
unsigned long find_next_is(const unsigned long *map, unsigned long nr,
			   unsigned long from, bool is);

#define bitmap_fill(map, nr)	bitmap_set(map, 0, nr)
#define find_next_bit(map, nr, from)	find_next_is(map, nr, from, true)
#define find_next_zero_bit(map, nr, from)	find_next_is(map, nr, from, false)
#define find_first_bit(map, nr)	find_next_is(map, nr, 0, true)

/* -- time: stands still unless a harness moves it ---------------------------- */

#define HZ	250
extern unsigned long jiffies;
#define time_before(a, b)	((long)((a) - (b)) < 0)

/* -- cryptography: BLAKE2b stands in for BLAKE2s ------------------------------ */

u64 siphash(const void *data, size_t bytes, const siphash_key_t *key);
u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key);
u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key);

struct blake2s_ctx { _Alignas(64) u8 state[384]; };

void blake2s_init_key(struct blake2s_ctx *ctx, size_t out, const void *key, size_t bytes);
void blake2s_update(struct blake2s_ctx *ctx, const u8 *at, size_t bytes);
void blake2s_final(struct blake2s_ctx *ctx, u8 *out);

void curve25519_clamp_secret(u8 secret[32]);
bool curve25519_generate_public(u8 public[32], const u8 secret[32]);
bool curve25519(u8 out[32], const u8 secret[32], const u8 point[32]);
void get_random_bytes(void *at, size_t bytes);

#endif
