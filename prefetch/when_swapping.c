// SPDX-License-Identifier: GPL-2.0
/*
 * When: swapping. Pages went out or came in since the last wake-up, so
 * prefetched pages may be needed soon; but prefetching competes with page-ins
 * and page-outs under way.
 */
#include "prefetch.h"

static bool swapping_due(const struct nswap_prefetch_view *view)
{
	return view->swap_outs || view->swap_ins;
}

const struct nswap_when_ops nswap_when_swapping_ops = {
	.is = { .name = "swapping", .help = "while pages go out or come in" },
	.due = swapping_due,
};
