// SPDX-License-Identifier: GPL-2.0
/*
 * Count: how many pages? The list at the end begins with what a node starts with.
 */
#include "prefetch.h"

/* of what went out since the last wake-up; the paper's experiments use 10 % */
static u64 out_pages(const struct nswap_prefetch_view *view)
{
	return nswap_prefetch_percent(view->swap_outs, view->pct);
}

static const struct nswap_count_ops count_out = {
	.is = { .name = "percent-out",
		.help = "prefetch_pct of the pages swapped out meanwhile" },
	.pages = out_pages,
};

static u64 used_pages(const struct nswap_prefetch_view *view)
{
	return nswap_prefetch_percent(view->used, view->pct);
}

static const struct nswap_count_ops count_used = {
	.is = { .name = "percent-used",
		.help = "prefetch_pct of the swap in use" },
	.pages = used_pages,
};

#define PER_HIT	100
#define LOWEST	1ull
#define HIGHEST	50ull

/*
 * Of what went out since the last wake-up: the hit rate, reads of 100 prefetched pages
 * where they were brought to, but at most HIGHEST; then both tiers have about the same
 * load. When prefetching does not pay, LOWEST percent, to notice when it does again. While
 * too little is known, and for pages that make room, the user's percentage.
 */
static u64 adaptive_pages(const struct nswap_prefetch_view *view)
{
	u64 put, hits, pct = LOWEST;

	if (nswap_prefetch_pays(view))
		pct = view->down ||
		      !nswap_prefetch_known(view, &put, &hits) ? view->pct :
		      clamp(PER_HIT * hits / put, LOWEST, HIGHEST);
	return nswap_prefetch_percent(view->swap_outs, pct);
}

static const struct nswap_count_ops count_adaptive = {
	.is = { .name = "adaptive",
		.help = "of the pages swapped out meanwhile, as it has paid" },
	.pages = adaptive_pages,
};

const struct nswap_policy *const nswap_count_policies[] = {
	&count_out.is,
	&count_used.is,
	&count_adaptive.is,
	NULL
};
