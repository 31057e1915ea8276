// SPDX-License-Identifier: GPL-2.0
/*
 * What of kernel.h is no macro. Curve25519 and BLAKE2b are libsodium's.
 */
#include <sodium.h>

#include "fuzz.h"

bool kernel_may_warn, kernel_no_memory;
unsigned int kernel_warned;
unsigned long jiffies;

bool kernel_warn(bool is, const char *what, const char *file, int line)
{
	kernel_warned += is;
	if (is && !kernel_may_warn)
		fuzz_broken("%s:%d: warning: %s", file, line, what);
	return is;
}

void kernel_lock(spinlock_t *lock, bool take)
{
	if (lock->taken == take)
		fuzz_broken("a lock is %s", take ? "taken twice" : "given back twice");
	lock->taken = take;
}

/* nothing at all rather than a little for 0 bytes, so that the first byte is a fault */
void *kernel_alloc(size_t n, size_t bytes, bool zero)
{
	void *p;

	if (kernel_no_memory)
		return NULL;
	p = calloc(n, bytes);
	if (p && !zero)
		memset(p, 0xa5, n * bytes);
	return p;
}

void *memchr_inv(const void *at, int c, size_t bytes)
{
	const u8 *p = at;

	for (; bytes; bytes--, p++)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

bool test_and_clear_bit(unsigned long n, unsigned long *map)
{
	bool was = test_bit(n, map);

	clear_bit(n, map);
	return was;
}

void bitmap_set(unsigned long *map, unsigned int first, unsigned int nr)
{
	for (; nr; nr--, first++)
		set_bit(first, map);
}

unsigned long find_next_is(const unsigned long *map, unsigned long nr,
			   unsigned long from, bool is)
{
	while (from < nr && test_bit(from, map) != is)
		from++;
	return from < nr ? from : nr;
}

/* -- SipHash-2-4 ------------------------------------------------------------- */

static u64 rotated(u64 v, int by)
{
	return v << by | v >> (64 - by);
}

static void rounds(u64 v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[0] = rotated(v[0], 32);
		v[2] += v[3];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[2] = rotated(v[2], 32);
	}
}

static void absorb(u64 v[4], u64 word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

u64 siphash(const void *data, size_t bytes, const siphash_key_t *key)
{
	u64 v[4] = {
		0x736f6d6570736575ull ^ key->key[0], 0x646f72616e646f6dull ^ key->key[1],
		0x6c7967656e657261ull ^ key->key[0], 0x7465646279746573ull ^ key->key[1],
	};
	u64 last = (u64)bytes << 56;
	const u8 *at = data;
	size_t left = bytes;

	for (; left >= 8; left -= 8, at += 8)
		absorb(v, get_unaligned_le64(at));
	while (left--)
		last |= (u64)at[left] << 8 * left;
	absorb(v, last);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key)
{
	const u64 words[] = { a, b };

	return siphash(words, sizeof(words), key);
}

u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key)
{
	const u64 words[] = { a, b, c, d };

	return siphash(words, sizeof(words), key);
}

/* -- of libsodium -------------------------------------------------------------- */

static_assert(sizeof(crypto_generichash_state) <= sizeof(struct blake2s_ctx));

static crypto_generichash_state *state_of(struct blake2s_ctx *ctx)
{
	return (crypto_generichash_state *)ctx->state;
}

void blake2s_init_key(struct blake2s_ctx *ctx, size_t out, const void *key, size_t bytes)
{
	crypto_generichash_init(state_of(ctx), key, bytes, out);
}

void blake2s_update(struct blake2s_ctx *ctx, const u8 *at, size_t bytes)
{
	crypto_generichash_update(state_of(ctx), at, bytes);
}

void blake2s_final(struct blake2s_ctx *ctx, u8 *out)
{
	crypto_generichash_final(state_of(ctx), out, 32);
}

void curve25519_clamp_secret(u8 secret[32])
{
	secret[0] &= 248;
	secret[31] = (secret[31] & 127) | 64;
}

bool curve25519_generate_public(u8 public[32], const u8 secret[32])
{
	return !crypto_scalarmult_base(public, secret);
}

bool curve25519(u8 out[32], const u8 secret[32], const u8 point[32])
{
	return !crypto_scalarmult(out, secret, point);
}

void get_random_bytes(void *at, size_t bytes)
{
	u8 *p = at;

	while (bytes--)
		*p++ = fuzz_random();
}
