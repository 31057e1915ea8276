/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types, bits, memory and time.
 */
#ifndef LEND_TYPES_H
#define LEND_TYPES_H

#include "arith.h"

/* -- bits ------------------------------------------------------------------- */

#define test_bit(n, map)	(!!((map)[(n) / 64] & 1ul << (n) % 64))
#define __set_bit(n, map)	((map)[(n) / 64] |= 1ul << (n) % 64)
#define hweight_long(w)		((u32)__builtin_popcountl(w))
#define for_each_set_bit(i, word, nr) \
	for ((i) = next_bit(*(word), 0); (i) < (nr); (i) = next_bit(*(word), (i) + 1))

/* the first bit of a word that is set, from one on; 64 if there is none */
static inline unsigned int next_bit(unsigned long word, unsigned int from)
{
	word = from < BITS_PER_LONG ? word & (~0ul << from) : 0;
	return word ? __builtin_ctzl(word) : BITS_PER_LONG;
}

static inline bool bitmap_empty(const unsigned long *map, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(nr); i++)
		if (map[i])
			return false;
	return true;
}

/* -- memory ----------------------------------------------------------------- */

#define GFP_KERNEL		0
#define GFP_NOWAIT		0
#define __GFP_NOWARN		0
#define __GFP_NOMEMALLOC	0

#define kzalloc(n, flags)	((void)(flags), calloc(1, n))
#define kzalloc_obj(of, ...)	((typeof(of) *)calloc(1, sizeof(of)))
#define kcalloc(n, bytes, flags)	((void)(flags), calloc(n, bytes))
#define kvcalloc(n, bytes, flags)	kcalloc(n, bytes, flags)
#define kvmalloc(n, flags)	((void)(flags), malloc(n))
#define kfree(p)		free(p)
#define kvfree(p)		free(p)
#define __get_free_page(flags)	\
	((void)(flags), (unsigned long)aligned_alloc(PAGE_SIZE, PAGE_SIZE))
#define free_page(p)		free((void *)(p))

#define kfree_sensitive(p) ({ typeof(p) _p = (p); \
	if (_p) \
		explicit_bzero(_p, sizeof(*_p)); \
	free(_p); })
#define memset_startat(p, v, m) \
	memset((char *)(p) + offsetof(typeof(*(p)), m), v, \
	       sizeof(*(p)) - offsetof(typeof(*(p)), m))
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))

void *memchr_inv(const void *at, int c, size_t bytes);
ssize_t strscpy(char *to, const char *from, size_t bytes);

/* -- what must not be ------------------------------------------------------- */

#define WARN_ON_ONCE(c)	lend_wrong(!!(c), #c, __FILE__, __LINE__)

bool lend_wrong(bool is, const char *what, const char *file, int line);

/* -- time ------------------------------------------------------------------- */

#define HZ		1000ul
#define MSEC_PER_SEC	1000u
#define NSEC_PER_MSEC	1000000ull
#define jiffies		((unsigned long)(ktime_get_ns() / NSEC_PER_MSEC))
#define msecs_to_jiffies(ms)	((unsigned long)(ms))
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define time_after(a, b)	time_before(b, a)

u64 ktime_get_ns(void);
u64 ktime_get_real_ns(void);

#endif
