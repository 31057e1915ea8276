// SPDX-License-Identifier: GPL-2.0
/*
 * Count: adaptive. Half of what went out since the last wake-up for every read
 * from flash that a prefetched page has earned, at most HIGHEST percent; when
 * it does not pay, LOWEST percent, to find out when it does again. As long as
 * too little is known, the user's percentage.
 */
#include "prefetch.h"

#define PER_HIT	50
#define LOWEST	1ull
#define HIGHEST	50ull
#define ENOUGH	64

static u64 adaptive_pages(const struct nswap_prefetch_view *view)
{
	u64 put, hits, pct = LOWEST;

	nswap_prefetch_total(&view->learned, &put, &hits);
	if (nswap_prefetch_pays(view))
		pct = put < ENOUGH ? view->pct :
		      clamp(PER_HIT * hits / put, LOWEST, HIGHEST);
	return nswap_prefetch_percent(view->swap_outs, pct);
}

const struct nswap_count_ops nswap_count_adaptive_ops = {
	.is = { .name = "adaptive",
		.help = "of the pages swapped out meanwhile, as it has paid" },
	.pages = adaptive_pages,
};
