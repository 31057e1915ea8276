// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: the peer with the most free lent RAM.
 *
 * T. Newhall and D. Woos, "Incorporating Network RAM and Flash into Fast
 * Backing Store for Clusters", IEEE Cluster 2011, section II: the client
 * "finds a good Nswap Server candidate using IPTable data", the estimates
 * that peers broadcast. The paper does not define good; here it means:
 *  - most free pages, not the largest share of what is lent: a page takes one
 *    page on any peer;
 *  - equal peers take turns, else the lowest index would get everything until
 *    its next announcement;
 *  - a free page without a grant does not count, for it cannot be used now.
 */
#include "policy.h"

#define AS_GOOD_PART	8	/* of what is free: no difference worth a copy to be freed */

static int most_free_pick(const struct nswap_place_view *view,
			  unsigned int pages)
{
	unsigned int start = nswap_place_after(view), i;
	int best = -1;

	for (i = 0; i < view->nr; i++) {
		unsigned int at = (start + i) % view->nr;
		const struct nswap_place_peer *p = &view->peer[at];

		if (nswap_place_usable(p) &&
		    (best < 0 || p->free > view->peer[best].free))
			best = at;
	}
	return best;
}

/* what is written over takes no room */
static bool most_free_as_good(const struct nswap_place_peer *old,
			      const struct nswap_place_peer *picked, unsigned int pages)
{
	return old->free >= picked->free - picked->free / AS_GOOD_PART;
}

const struct nswap_place_ops nswap_place_most_free_ops = {
	.is = { .name = "most-free",
		.help = "the peer with the most free lent RAM; equal peers take turns" },
	.pick = most_free_pick,
	.as_good = most_free_as_good,
};
