// SPDX-License-Identifier: GPL-2.0
/*
 * When: is this a moment to prefetch? The list at the end begins with what a node
 * starts with.
 */
#include "prefetch.h"

static bool always_due(const struct nswap_prefetch_view *view)
{
	return true;
}

static const struct nswap_when_ops when_always = {
	.is = { .name = "always", .help = "at every wake-up" },
	.due = always_due,
};

/*
 * Pages went out or came in since the last wake-up, so prefetched pages may be needed
 * soon; but prefetching competes with page-ins and page-outs under way.
 */
static bool swapping_due(const struct nswap_prefetch_view *view)
{
	return view->swap_outs || view->swap_ins;
}

static const struct nswap_when_ops when_swapping = {
	.is = { .name = "swapping", .help = "while pages go out or come in" },
	.due = swapping_due,
};

/*
 * No page went out or came in since the last wake-up, so prefetching delays none. To be
 * used with percent-used: percent-out takes its share of what went out, which is nothing.
 */
static bool idle_due(const struct nswap_prefetch_view *view)
{
	return !view->swap_outs && !view->swap_ins;
}

static const struct nswap_when_ops when_idle = {
	.is = { .name = "idle", .help = "while no page goes out or comes in" },
	.due = idle_due,
};

#define EXPLORE	32

/*
 * While swapping, as long as it pays; when it does not, still one wake-up in EXPLORE, to
 * notice when it does again.
 */
static bool adaptive_due(const struct nswap_prefetch_view *view)
{
	if (!view->swap_outs && !view->swap_ins)
		return false;
	return nswap_prefetch_pays(view) ||
	       view->learned.wakeups % EXPLORE == 0;
}

static const struct nswap_when_ops when_adaptive = {
	.is = { .name = "adaptive", .help = "while swapping, if it has paid" },
	.due = adaptive_due,
};

#define FULL_PCT	13	/* an eighth */

/*
 * Little room is left where pages are, so page-outs will soon go to a slower tier:
 * for ways that make room. Home is never full.
 */
static bool full_due(const struct nswap_prefetch_view *view)
{
	return view->free_pct < FULL_PCT;
}

static const struct nswap_when_ops when_full = {
	.is = { .name = "full", .help = "while there is little room where pages are" },
	.due = full_due,
};

const struct nswap_policy *const nswap_when_policies[] = {
	&when_always.is,
	&when_swapping.is,
	&when_idle.is,
	&when_adaptive.is,
	&when_full.is,
	NULL
};
