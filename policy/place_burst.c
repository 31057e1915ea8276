// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: burst. The peer with the shortest queue; while that queue is long,
 * flash, if fewer requests wait there.
 *
 * T. Newhall, D. Woos, "Incorporating Network RAM and Flash into Fast Backing
 * Store for Clusters", Cluster 2011, keeps flash for reads that a prefetcher
 * spreads; here the writes of a burst are spread over both, since the network and
 * flash are independent of each other. A queue is long when it holds two full
 * messages: below that the network is not the bottleneck.
 * Messages of page-outs and writes of flash are of similar size, so their numbers
 * are compared; the speed of each shows in how fast its queue shrinks.
 */
#include "place_queue.h"

#define LONG	(2 * NSWAP_REQ_SLOTS)	/* pages */

static int burst_pick(const struct nswap_place_view *view, unsigned int pages)
{
	unsigned int i, n, queue;
	int best = -1;

	for (i = 0, n = nswap_place_after(view); i < view->nr; i++, n++) {
		if (n == view->nr)
			n = 0;
		if (nswap_place_usable(&view->peer[n]) &&
		    (best < 0 || nswap_queue_shorter(&view->peer[n], &view->peer[best])))
			best = n;
	}
	if (!view->flash)
		return best;
	if (best < 0)
		return NSWAP_PLACE_FLASH;
	queue = view->peer[best].inflight;
	if (queue >= LONG && view->flash_inflight < queue / NSWAP_REQ_SLOTS)
		return NSWAP_PLACE_FLASH;
	return best;
}

const struct nswap_place_ops nswap_place_burst_ops = {
	.is = { .name = "burst",
		.help = "shortest queue; flash as well while the network's is long" },
	.pick = burst_pick,
	.as_good = nswap_queue_as_good,
};
