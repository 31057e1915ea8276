// SPDX-License-Identifier: GPL-2.0
/*
 * Count: adaptive. A percentage of what went out since the last wake-up: the hit
 * rate, reads from flash per 100 prefetched pages, but at most HIGHEST; then peers
 * and flash have about the same load. When prefetching does not pay, LOWEST percent,
 * to notice when it does again. While too little is known, the user's percentage.
 */
#include "prefetch.h"

#define PER_HIT	100
#define LOWEST	1ull
#define HIGHEST	50ull

static u64 adaptive_pages(const struct nswap_prefetch_view *view)
{
	u64 put, hits, pct = LOWEST;

	if (nswap_prefetch_pays(view))
		pct = !nswap_prefetch_known(view, &put, &hits) ? view->pct :
		      clamp(PER_HIT * hits / put, LOWEST, HIGHEST);
	return nswap_prefetch_percent(view->swap_outs, pct);
}

const struct nswap_count_ops nswap_count_adaptive_ops = {
	.is = { .name = "adaptive",
		.help = "of the pages swapped out meanwhile, as it has paid" },
	.pages = adaptive_pages,
};
