// SPDX-License-Identifier: GPL-2.0
/*
 * Count: a percentage of the swap in use.
 */
#include "prefetch.h"

static u64 used_pages(const struct nswap_prefetch_view *view)
{
	return nswap_prefetch_percent(view->used, view->pct);
}

const struct nswap_count_ops nswap_count_used_ops = {
	.is = { .name = "percent-used",
		.help = "prefetch_pct of the swap in use" },
	.pages = used_pages,
};
