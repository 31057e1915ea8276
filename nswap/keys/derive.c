// SPDX-License-Identifier: GPL-2.0
/*
 * Keys from keys. BLAKE2s of the kernel's library is part of every kernel, needs no
 * memory and may run anywhere.
 */
#include <crypto/blake2s.h>
#include <linux/string.h>

#include "derive.h"

static void derive_part(struct blake2s_ctx *ctx, const void *at, size_t bytes)
{
	__le64 n = cpu_to_le64(bytes);

	blake2s_update(ctx, (const u8 *)&n, sizeof(n));
	blake2s_update(ctx, at, bytes);
}

/**
 * nswap_derive() - a key, or a tag, for one purpose
 * @out: result
 * @key: what it is derived from
 * @label: the purpose
 * @text: what else it depends on
 * @nr: parts of it
 *
 * Context: any; does not sleep or allocate; 200 bytes of stack.
 */
void nswap_derive(u8 out[NSWAP_KEY_BYTES], const u8 key[NSWAP_KEY_BYTES],
		  const char *label, const struct nswap_text *text, unsigned int nr)
{
	struct blake2s_ctx ctx;
	unsigned int i;

	blake2s_init_key(&ctx, NSWAP_KEY_BYTES, key, NSWAP_KEY_BYTES);
	derive_part(&ctx, label, strlen(label));
	for (i = 0; i < nr; i++)
		derive_part(&ctx, text[i].at, text[i].bytes);
	blake2s_final(&ctx, out);
	memzero_explicit(&ctx, sizeof(ctx));
}
