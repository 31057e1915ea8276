// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: soonest. The tier where the read would end first: the tier's read time, plus
 * for each page under way before it the time of one further page of a read.
 *
 * Flash and peers then work in parallel, as in T. Newhall and D. Woos,
 * "Incorporating Network RAM and Flash into Fast Backing Store for Clusters", IEEE
 * Cluster 2011, section V, but in proportion to their speed: the slower one is used
 * when the queue of the other would take longer, and not at all without a queue.
 */
#include "policy.h"

static u64 end_of(const struct nswap_read_place *p)
{
	return p->us + (u64)p->inflight * p->next_us;
}

static enum nswap_read_tier soonest_pick(const struct nswap_read_view *view)
{
	const struct nswap_read_place *ram = &view->at[NSWAP_READ_PEERS];
	const struct nswap_read_place *flash = &view->at[NSWAP_READ_FLASH];

	if (nswap_read_stale(flash))
		return NSWAP_READ_FLASH;
	if (nswap_read_stale(ram))
		return NSWAP_READ_PEERS;
	return end_of(ram) < end_of(flash) ? NSWAP_READ_PEERS : NSWAP_READ_FLASH;
}

const struct nswap_read_ops nswap_read_soonest_ops = {
	.is = { .name = "soonest",
		.help = "from where the page would come first" },
	.pick = soonest_pick,
};
