/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages, and what is sent from or received into memory. A page's address is that of its
 * struct.
 */
#ifndef LEND_IOV_H
#define LEND_IOV_H

#include "types.h"

struct page {
	u8 byte[PAGE_SIZE];
};

#define offset_in_page(p)	((uintptr_t)(p) % PAGE_SIZE)
#define page_address(p)		((void *)(p))
#define PageHighMem(p)		((void)(p), false)
#define virt_to_page(p)		((struct page *)((uintptr_t)(p) - offset_in_page(p)))

/* what is sent of it is zeros, what is received there is the program's mistake */
extern struct page lend_zeros;
#define ZERO_PAGE(at)		((void)(at), &lend_zeros)

#define ITER_SOURCE	0
#define ITER_DEST	1

struct bio_vec {
	struct page *bv_page;
	u32 bv_len;
	u32 bv_offset;
};

struct kvec {
	void *iov_base;
	size_t iov_len;
};

/**
 * struct iov_iter - segments of memory, and how far they are done
 * @bvec: segments in pages, or NULL
 * @kvec: the segment without
 * @nr_segs: segments left
 * @offset: of the first one, so much is done
 * @count: bytes left
 */
struct iov_iter {
	const struct bio_vec *bvec;
	const struct kvec *kvec;
	size_t nr_segs;
	size_t offset;
	size_t count;
};

static inline void bvec_set_page(struct bio_vec *v, struct page *page, u32 len, u32 offset)
{
	*v = (struct bio_vec){ page, len, offset };
}

static inline void iov_iter_bvec(struct iov_iter *it, int direction, const struct bio_vec *v,
				 size_t nr, size_t bytes)
{
	(void)direction;
	*it = (struct iov_iter){ .bvec = v, .nr_segs = nr, .count = bytes };
}

static inline void iov_iter_kvec(struct iov_iter *it, int direction, const struct kvec *v,
				 size_t nr, size_t bytes)
{
	(void)direction;
	*it = (struct iov_iter){ .kvec = v, .nr_segs = nr, .count = bytes };
}

static inline size_t iov_iter_count(const struct iov_iter *it)
{
	return it->count;
}

#endif
