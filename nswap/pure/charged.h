/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that grows with what a user asks for is the user's: it is charged to the
 * memory cgroup of the task that asks, and is refused rather than having a task killed.
 */
#ifndef NSWAP_CHARGED_H
#define NSWAP_CHARGED_H

#include <linux/vmalloc.h>

/*
 * Zeros, to be freed with vfree(), or NULL; mapped by huge pages where the kernel can.
 * Process, sleeps; never on the reclaim path.
 */
static inline void *nswap_charged_zalloc(size_t bytes)
{
	gfp_t flags = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO;

	/* memory is not moved about for huge pages */
	return vmalloc_huge(bytes, flags | __GFP_NORETRY) ?:
	       __vmalloc(bytes, flags | __GFP_RETRY_MAYFAIL);
}

#endif
