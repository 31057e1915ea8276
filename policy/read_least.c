// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: least loaded. The tier with fewer pages under way; flash if equal.
 *
 * Ignores how long a read takes: fastest is for that. Under load the slower tier
 * has the longer queue, so it gets less.
 */
#include "policy.h"

static enum nswap_read_tier least_pick(const struct nswap_read_view *view)
{
	return view->at[NSWAP_READ_PEERS].inflight <
	       view->at[NSWAP_READ_FLASH].inflight ? NSWAP_READ_PEERS :
						     NSWAP_READ_FLASH;
}

const struct nswap_read_ops nswap_read_least_ops = {
	.is = { .name = "least-loaded",
		.help = "from where fewer pages are being read just now" },
	.pick = least_pick,
};
