/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks: which part of a page is used by which of the things that share it.
 */
#ifndef NSWAP_CHUNKS_H
#define NSWAP_CHUNKS_H

#include <linux/types.h>

#define NSWAP_CHUNK_UNIT	64	/* bytes */
#define NSWAP_CHUNK_UNITS	64	/* of a page */

/**
 * struct nswap_chunks - the units of a page
 * @used: those that are used, a bit for each
 * @first: of these, those at which something begins
 */
struct nswap_chunks {
	u64 used;
	u64 first;
};

int nswap_chunks_take(struct nswap_chunks *m, unsigned int n);
unsigned int nswap_chunks_put(struct nswap_chunks *m, unsigned int at);
unsigned int nswap_chunks_room(const struct nswap_chunks *m);

#endif
