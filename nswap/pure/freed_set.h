/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots of a device whose peers have to be told that they were freed.
 */
#ifndef NSWAP_FREED_SET_H
#define NSWAP_FREED_SET_H

#include <linux/cache.h>

#include "base/types.h"

/**
 * struct nswap_freed_set - a set of slots, found in proportion to how many there are
 * @bit: one a slot; a side table's
 * @some: one for each group of slots: some of them may be in the set
 * @nr: slots
 * @count: slots in the set; in a cache line of its own, for any task that frees writes it
 */
struct nswap_freed_set {
	unsigned long *bit;
	unsigned long *some;
	u64 nr;
	atomic64_t count ____cacheline_aligned_in_smp;
};

int nswap_freed_init(struct nswap_freed_set *f, unsigned long *bit, u64 nr);
void nswap_freed_exit(struct nswap_freed_set *f);
bool nswap_freed_add(struct nswap_freed_set *f, u64 slot);
u64 nswap_freed_next(struct nswap_freed_set *f, u64 from);

/* slots in the set; any context; a snapshot */
static inline u64 nswap_freed_count(const struct nswap_freed_set *f)
{
	return atomic64_read(&f->count);
}

/*
 * A slot that nswap_freed_next() found is being seen to; the reader's. Ordered before what
 * is read of the slot then: if it is freed later, it is added again. It counts until
 * nswap_freed_done(), or until it is back.
 */
static inline void nswap_freed_take(struct nswap_freed_set *f, u64 slot)
{
	test_and_clear_bit(slot, f->bit);
}

/* a slot that was taken has been seen to; the reader's */
static inline void nswap_freed_done(struct nswap_freed_set *f)
{
	atomic64_dec(&f->count);
}

/* or not yet; its group has its bit still; the reader's */
static inline void nswap_freed_back(struct nswap_freed_set *f, u64 slot)
{
	/* added again meanwhile: that has counted it */
	if (test_and_set_bit(slot, f->bit))
		atomic64_dec(&f->count);
}

#endif
