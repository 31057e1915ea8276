// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: prefetched first. A page that is on flash is read there.
 *
 * T. Newhall and D. Woos, "Incorporating Network RAM and Flash into Fast
 * Backing Store for Clusters", IEEE Cluster 2011, section V: pages are
 * prefetched to flash so that flash and the network serve page-ins in parallel;
 * so a page that is there is read there.
 */
#include "policy.h"

static enum nswap_read_tier prefetched_pick(const struct nswap_read_view *view)
{
	return NSWAP_READ_FLASH;
}

const struct nswap_read_ops nswap_read_prefetched_ops = {
	.is = { .name = "prefetched-first",
		.help = "from flash whenever flash has the page" },
	.pick = prefetched_pick,
};
