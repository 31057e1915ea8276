/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory view: what policies can see of this machine's memory.
 */
#ifndef NSWAP_MEMINFO_H
#define NSWAP_MEMINFO_H

#include "base/types.h"

/**
 * struct nswap_mem_view - memory of the machine as a node sees it, in pages
 * @total: RAM
 * @free: unused RAM
 * @low: when @free is below this, the kernel is reclaiming
 * @in_pieces: no free block is large enough for a thread
 * @available: what could be used without swapping, by the kernel's estimate
 * @swap_outs: pages swapped out since boot
 * @refaults: pages reclaimed and faulted in again soon, since boot
 */
struct nswap_mem_view {
	u64 total;
	u64 free;
	u64 low;
	bool in_pieces;
	u64 available;
	u64 swap_outs;
	u64 refaults;
};

void nswap_mem_view(const struct nswap_node *node, struct nswap_mem_view *v);

#endif
