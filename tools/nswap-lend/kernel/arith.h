/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types and arithmetic of the kernel, for units of the module that are built as programs:
 * nswap-lend, and the harnesses of tests/fuzz.
 */
#ifndef LEND_ARITH_H
#define LEND_ARITH_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int32_t s32;
typedef long long s64;
typedef u16 __le16;
typedef u32 __le32;
typedef u64 __le64;
typedef u64 __be64;
typedef struct { int v; } atomic_t;
typedef struct { u64 v; } atomic64_t;
typedef unsigned int gfp_t;
struct rcu_head { void *none; };

#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#ifndef __must_check
#define __must_check
#endif
#define __rcu
#define __percpu
#undef static_assert
#define static_assert	_Static_assert

/* -- arithmetic ------------------------------------------------------------- */

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define BITS_PER_LONG	64
#define BITS_PER_TYPE(t)	(sizeof(t) * 8)
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define BIT(n)		(1ul << (n))
#define fls64(n)	((n) ? 64 - __builtin_clzll(n) : 0)
#define __ffs64(n)	((unsigned int)__builtin_ctzll(n))
#define hweight64(n)	((unsigned int)__builtin_popcountll(n))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define offsetofend(t, m)	(offsetof(t, m) + sizeof(((t *)0)->m))
#define struct_size(p, m, n)	(sizeof(*(p)) + sizeof((p)->m[0]) * (n))
#define array_size(a, b)	((size_t)(a) * (b))
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define clamp(v, low, high)	min(max(v, low), high)
#define clamp_t(t, v, low, high)	clamp((t)(v), (t)(low), (t)(high))
#define min_not_zero(a, b) ({ typeof(a) _x = (a); typeof(b) _y = (b); \
	!_x ? _y : !_y ? _x : min(_x, _y); })
#define div_u64(a, b)	((u64)(a) / (u32)(b))
#define div64_u64(a, b)	((u64)(a) / (u64)(b))

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "units of the module are built as programs on little-endian machines"
#endif
#define cpu_to_le16(x)	((__le16)(x))
#define cpu_to_le32(x)	((__le32)(x))
#define cpu_to_le64(x)	((__le64)(x))
#define le16_to_cpu(x)	((u16)(x))
#define le32_to_cpu(x)	((u32)(x))
#define le64_to_cpu(x)	((u64)(x))
#define be64_to_cpu(x)	__builtin_bswap64(x)

static inline void le32_add_cpu(__le32 *to, u32 n)
{
	*to += n;
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* -- errors in pointers ------------------------------------------------------ */

#define ERR_PTR(e)	((void *)(intptr_t)(e))
#define PTR_ERR(p)	((int)(intptr_t)(p))
#define IS_ERR(p)	((uintptr_t)(p) >= (uintptr_t)-4095)

#define memzero_explicit(p, n)	explicit_bzero(p, n)
#define sort(at, n, size, cmp, swap)	((void)(swap), qsort(at, n, size, cmp))

#endif
