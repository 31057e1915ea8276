// SPDX-License-Identifier: GPL-2.0
/*
 * BLAKE2s with a key, as RFC 7693 has it.
 */
#include "kernel.h"

#define BLOCK	64

static const u32 start[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const u8 sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static u32 right(u32 v, int by)
{
	return v >> by | v << (32 - by);
}

static void mix(u32 v[16], int a, int b, int c, int d, u32 x, u32 y)
{
	v[a] += v[b] + x;
	v[d] = right(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = right(v[b] ^ v[c], 12);
	v[a] += v[b] + y;
	v[d] = right(v[d] ^ v[a], 8);
	v[c] += v[d];
	v[b] = right(v[b] ^ v[c], 7);
}

static void compress(struct blake2s_ctx *ctx, bool last)
{
	u32 v[16], m[16];
	unsigned int i;

	memcpy(m, ctx->block, sizeof(m));
	memcpy(v, ctx->h, sizeof(ctx->h));
	memcpy(v + 8, start, sizeof(start));
	v[12] ^= (u32)ctx->bytes;
	v[13] ^= (u32)(ctx->bytes >> 32);
	v[14] ^= last ? U32_MAX : 0;
	for (i = 0; i < ARRAY_SIZE(sigma); i++) {
		const u8 *s = sigma[i];

		mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
		mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
		mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
		mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
		mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
		mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
		mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
		mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
	}
	for (i = 0; i < 8; i++)
		ctx->h[i] ^= v[i] ^ v[i + 8];
	memzero_explicit(v, sizeof(v));
	memzero_explicit(m, sizeof(m));
	ctx->fill = 0;
}

/* @out and @bytes: at most 32 */
void blake2s_init_key(struct blake2s_ctx *ctx, size_t out, const void *key, size_t bytes)
{
	memset(ctx, 0, sizeof(*ctx));
	memcpy(ctx->h, start, sizeof(start));
	ctx->h[0] ^= 0x01010000 ^ (u32)bytes << 8 ^ (u32)out;
	ctx->out = out;
	memcpy(ctx->block, key, bytes);
	ctx->fill = bytes ? BLOCK : 0;
}

/* a block is hashed when there is more behind it: the last one is hashed in another way */
void blake2s_update(struct blake2s_ctx *ctx, const u8 *at, size_t bytes)
{
	while (bytes) {
		size_t n;

		if (ctx->fill == BLOCK) {
			ctx->bytes += BLOCK;
			compress(ctx, false);
		}
		n = min_t(size_t, BLOCK - ctx->fill, bytes);
		memcpy(ctx->block + ctx->fill, at, n);
		ctx->fill += n;
		at += n;
		bytes -= n;
	}
}

void blake2s_final(struct blake2s_ctx *ctx, u8 *out)
{
	ctx->bytes += ctx->fill;
	memset(ctx->block + ctx->fill, 0, BLOCK - ctx->fill);
	compress(ctx, true);
	memcpy(out, ctx->h, ctx->out);
}
