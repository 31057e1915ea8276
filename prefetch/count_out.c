// SPDX-License-Identifier: GPL-2.0
/*
 * Count: a percentage of what went out since the last wake-up. The paper's
 * experiments use 10 %.
 */
#include "prefetch.h"

static u64 out_pages(const struct nswap_prefetch_view *view)
{
	return nswap_prefetch_percent(view->swap_outs, view->pct);
}

const struct nswap_count_ops nswap_count_out_ops = {
	.is = { .name = "percent-out",
		.help = "prefetch_pct of the pages swapped out meanwhile" },
	.pages = out_pages,
};
