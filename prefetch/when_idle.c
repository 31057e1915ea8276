// SPDX-License-Identifier: GPL-2.0
/*
 * When: idle. No page went out or came in since the last wake-up, so prefetching
 * delays no page-in or page-out.
 *
 * Note: percent-out takes its share of what went out since the last wake-up,
 * which is nothing then; use percent-used with this one.
 */
#include "prefetch.h"

static bool idle_due(const struct nswap_prefetch_view *view)
{
	return !view->swap_outs && !view->swap_ins;
}

const struct nswap_when_ops nswap_when_idle_ops = {
	.is = { .name = "idle", .help = "while no page goes out or comes in" },
	.due = idle_due,
};
