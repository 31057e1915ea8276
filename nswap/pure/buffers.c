// SPDX-License-Identifier: GPL-2.0
/*
 * Budget for the buffers of all links of this kernel.
 *
 * While memory is out, what links receive and send lies in the kernel's reserves, so what
 * all of them may have together is bounded: a 32nd of RAM, at least 64 MiB and at most
 * 1 GiB (nswapctl doctor knows these figures). The first links get buffers of full size,
 * a few of the largest messages; as the budget runs out each gets a 16th of what is left,
 * half of it each way.
 *
 * Invariant: all buffers together are at most the budget, and one of the smallest size each
 * way for every link beyond it: a link is never refused for want of budget.
 */
#include <linux/minmax.h>

#include "buffers.h"

#define BUDGET_LEAST	(64ull << 20)
#define BUDGET_MOST	(1ull << 30)

/* bytes for all links together; @ram: the machine's, bytes; any context */
u64 nswap_buffers_budget(u64 ram)
{
	return clamp(ram / 32, BUDGET_LEAST, BUDGET_MOST);
}

/* the buffer each way for a new link when others have @taken bytes; any context */
u32 nswap_buffers_share(u64 budget, u64 taken)
{
	u64 left = budget > taken ? budget - taken : 0;

	return clamp_t(u64, left / 32, NSWAP_BUFFER_LEAST, NSWAP_BUFFER);
}
