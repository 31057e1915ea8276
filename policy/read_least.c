// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: least loaded. The tier with fewer pages under way; flash if equal.
 *
 * Takes no notice of how long a read takes: that is what fastest is for. Under
 * load the queue in front of the slower tier is longer, so it gets less.
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
