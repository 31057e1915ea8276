// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: the peer of whose lent RAM the smallest share is used.
 *
 * M. R. Hines, "Anemone: An Adaptive Network Memory Engine", Florida State
 * University, 2005, chapter 7: the lowest ratio of used to available memory gets the
 * next page. Unlike with most-free a small peer gets pages from the start, so more
 * peers serve the reads, and large and small ones have room left for equally long.
 *
 * Equal peers take turns. A peer that is not known to lend anything counts as full.
 */
#include <linux/math64.h>

#include "policy.h"

#define AS_GOOD_PART	16	/* of what a peer lends: no difference worth a copy to be freed */
#define FILL_SHIFT	16	/* resolution of the share: 1/65536 */

/* the share that is used, of 1 << FILL_SHIFT; what a peer lends is below 2^48 pages */
static u64 least_full_share(const struct nswap_place_peer *p)
{
	u64 lent = p->lent, used = lent - min(p->free, lent);

	return lent ? div64_u64(used << FILL_SHIFT, lent) : 1 << FILL_SHIFT;
}

static int least_full_pick(const struct nswap_place_view *view,
			   unsigned int pages)
{
	unsigned int start = nswap_place_after(view), i;
	u64 least = 0;
	int best = -1;

	for (i = 0; i < view->nr; i++) {
		unsigned int at = (start + i) % view->nr;
		u64 share;

		if (!nswap_place_usable(&view->peer[at]))
			continue;
		share = least_full_share(&view->peer[at]);
		if (best < 0 || share < least) {
			best = at;
			least = share;
		}
	}
	return best;
}

static bool least_full_as_good(const struct nswap_place_peer *old,
			       const struct nswap_place_peer *picked, unsigned int pages)
{
	return least_full_share(old) <=
	       least_full_share(picked) + (1 << FILL_SHIFT) / AS_GOOD_PART;
}

const struct nswap_place_ops nswap_place_least_full_ops = {
	.is = { .name = "least-full",
		.help = "the peer whose lent RAM is the least full; equal peers take turns" },
	.pick = least_full_pick,
	.as_good = least_full_as_good,
};
