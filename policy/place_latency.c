// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: latency. The peer that is expected to answer first.
 *
 * E. P. Markatos and G. Dramitinos, "Adding Flexibility to a Remote Memory
 * Pager", section 2.2, ask for a tool that tells the pager load and response of
 * each paging device, so that it can choose the best one each time. Here every
 * page-out is a measurement and no tool is needed. The cost of a peer is its recent
 * page-out time multiplied by the pages that would be under way: a long queue and a
 * slow peer count alike, and a peer k times as fast gets about k times the pages
 * under load.
 *
 *  - A peer without a measurement is tried at once, with one message at a time:
 *    until it has answered it ranks after all that have.
 *  - The measurement decays while nothing is sent, see @store_ns: a peer that
 *    was slow is tried again every few seconds, which costs one slow page-out.
 *  - Equal peers take turns.
 */
#include "policy.h"

/* bounds: a measured peer always costs less than a busy one without measurement */
#define MOST_PAGES	(1u << 13)
#define MOST_NS		(1ull << 33)
#define UNKNOWN_NS	(1ull << 47)
#define AS_GOOD_PART	4	/* of the likely time: no difference worth a copy to be freed */

static u64 latency_cost(const struct nswap_place_peer *p, unsigned int pages)
{
	u64 ns = min(p->store_ns, MOST_NS);

	if (!ns && p->inflight)
		ns = UNKNOWN_NS;
	return ns * min(p->inflight + pages, MOST_PAGES);
}

static int latency_pick(const struct nswap_place_view *view, unsigned int pages)
{
	unsigned int start = nswap_place_after(view), i;
	u64 least = 0;
	int best = -1;

	for (i = 0; i < view->nr; i++) {
		unsigned int at = (start + i) % view->nr;
		const struct nswap_place_peer *p = &view->peer[at];

		if (!nswap_place_usable(p) ||
		    (best >= 0 && latency_cost(p, pages) >= least))
			continue;
		least = latency_cost(p, pages);
		best = at;
	}
	return best;
}

static bool latency_as_good(const struct nswap_place_peer *old,
			    const struct nswap_place_peer *picked, unsigned int pages)
{
	u64 cost = latency_cost(picked, pages);

	return latency_cost(old, pages) <= cost + cost / AS_GOOD_PART;
}

const struct nswap_place_ops nswap_place_latency_ops = {
	.is = { .name = "latency",
		.help = "the peer likely to answer first, by its last answers and its queue" },
	.pick = latency_pick,
	.as_good = latency_as_good,
};
