/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory view: all that policies know of this machine's memory.
 */
#ifndef NSWAP_MEMVIEW_H
#define NSWAP_MEMVIEW_H

#include "types.h"

/**
 * struct nswap_mem_view - memory of the machine as a node sees it, in pages
 * @total: RAM
 * @available: what could be used without swapping, by the kernel's estimate
 */
struct nswap_mem_view {
	u64 total;
	u64 available;
};

void nswap_mem_view(const struct nswap_node *node, struct nswap_mem_view *v);

#endif
