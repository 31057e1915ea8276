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
	return vmalloc_huge(bytes, GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL |
				   __GFP_NOWARN | __GFP_ZERO);
}

#endif
