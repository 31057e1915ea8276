/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Budget for the buffers of all links of this kernel.
 */
#ifndef NSWAP_BUFFERS_H
#define NSWAP_BUFFERS_H

#include <linux/types.h>

/* the largest and the smallest buffer, one each way */
#define NSWAP_BUFFER	(512u << 10)
#define NSWAP_BUFFER_LEAST	(64u << 10)

u64 nswap_buffers_budget(u64 ram);
u32 nswap_buffers_share(u64 budget, u64 taken);

#endif
