/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cryptography behind the interface of the kernel's. Curve25519, SipHash and random bytes
 * are libsodium's, which has no BLAKE2s: blake2s.c.
 */
#ifndef LEND_CRYPTO_H
#define LEND_CRYPTO_H

#include <sodium.h>

#include "types.h"

typedef struct { u64 key[2]; } siphash_key_t;

/**
 * struct blake2s_ctx - a hash that is being made
 * @h: state
 * @bytes: hashed so far
 * @block: not hashed yet
 * @fill: bytes of it
 * @out: bytes of the result
 */
struct blake2s_ctx {
	u32 h[8];
	u64 bytes;
	u8 block[64];
	u32 fill;
	u32 out;
};

void blake2s_init_key(struct blake2s_ctx *ctx, size_t out, const void *key, size_t bytes);
void blake2s_update(struct blake2s_ctx *ctx, const u8 *at, size_t bytes);
void blake2s_final(struct blake2s_ctx *ctx, u8 *out);

static inline u64 siphash(const void *data, size_t bytes, const siphash_key_t *key)
{
	u64 out;

	crypto_shorthash((u8 *)&out, data, bytes, (const u8 *)key);
	return out;
}

static inline u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key)
{
	const u64 words[] = { a, b };

	return siphash(words, sizeof(words), key);
}

static inline u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key)
{
	const u64 words[] = { a, b, c, d };

	return siphash(words, sizeof(words), key);
}

static inline void curve25519_clamp_secret(u8 secret[32])
{
	secret[0] &= 248;
	secret[31] = (secret[31] & 127) | 64;
}

static inline bool curve25519_generate_public(u8 public[32], const u8 secret[32])
{
	return !crypto_scalarmult_base(public, secret);
}

/* false if the point has no order to speak of */
static inline bool curve25519(u8 out[32], const u8 secret[32], const u8 point[32])
{
	return !crypto_scalarmult(out, secret, point);
}

#define get_random_bytes(at, bytes)	randombytes_buf(at, bytes)
#define crypto_memneq(a, b, n)		(!!sodium_memcmp(a, b, n))

#endif
