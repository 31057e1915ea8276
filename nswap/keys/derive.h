/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys from keys, and tags of short texts: keyed BLAKE2s with a label, so that no two
 * purposes ever share an output.
 */
#ifndef NSWAP_DERIVE_H
#define NSWAP_DERIVE_H

#include <linux/types.h>

#define NSWAP_KEY_BYTES	32

/**
 * struct nswap_text - a part of what is hashed
 * @at: memory
 * @bytes: of it; it is hashed as well, so that parts cannot run into each other
 */
struct nswap_text {
	const void *at;
	size_t bytes;
};

void nswap_derive(u8 out[NSWAP_KEY_BYTES], const u8 key[NSWAP_KEY_BYTES],
		  const char *label, const struct nswap_text *text, unsigned int nr);

#endif
