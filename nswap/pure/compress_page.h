/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compression of one page, and its expansion.
 */
#ifndef NSWAP_COMPRESS_PAGE_H
#define NSWAP_COMPRESS_PAGE_H

#include "base/types.h"

struct nswap_compress_work;
struct page;

/* a page is left as it is, if it does not become this short: 3/4 of it */
#define NSWAP_SHORT_MOST	(PAGE_SIZE / 4 * 3)

/**
 * struct nswap_short - what its owner keeps of a compressed page, 4 bytes a slot
 * @len: bytes of it that count, all others are zeros; 0: it is a page as any other
 * @sum: sum of these bytes, as of an Internet header; 0 with @len 0
 */
struct nswap_short {
	u16 len;
	u16 sum;
};

static_assert(sizeof(struct nswap_short) == 4);

/**
 * struct nswap_compressed - what compression has made of pages so far
 * @pages: that became shorter
 * @bytes: that these have
 * @whole: pages that did not
 */
struct nswap_compressed {
	u64 pages;
	u64 bytes;
	u64 whole;
};

/**
 * struct nswap_compressor - how pages are compressed; write-once
 * @kind: algorithm, not NSWAP_COMPRESS_OFF
 * @work: of each processor
 */
struct nswap_compressor {
	enum nswap_compress kind;
	struct nswap_compress_work __percpu *work;
};

bool nswap_compress_has(enum nswap_compress kind);
int nswap_compressor_init(struct nswap_compressor *c, enum nswap_compress kind);
void nswap_compressor_exit(struct nswap_compressor *c);
struct nswap_short nswap_compress_page(const struct nswap_compressor *c, struct page *to,
				       struct page *from);
bool nswap_expand_page(const struct nswap_compressor *c, struct page *page,
		       struct nswap_short kept);
struct nswap_compressed nswap_compress_sum(const struct nswap_compressor *c);

#endif
