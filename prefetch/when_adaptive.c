// SPDX-License-Identifier: GPL-2.0
/*
 * When: adaptive. While swapping, as long as it pays; when it does not, still one
 * wake-up in EXPLORE, to notice when it does again.
 */
#include "prefetch.h"

#define EXPLORE	32

static bool adaptive_due(const struct nswap_prefetch_view *view)
{
	if (!view->swap_outs && !view->swap_ins)
		return false;
	return nswap_prefetch_pays(view) ||
	       view->learned.wakeups % EXPLORE == 0;
}

const struct nswap_when_ops nswap_when_adaptive_ops = {
	.is = { .name = "adaptive", .help = "while swapping, if it has paid" },
	.due = adaptive_due,
};
