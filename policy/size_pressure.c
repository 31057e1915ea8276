// SPDX-License-Identifier: GPL-2.0
/*
 * Size: pressure. Lend until there are signs of memory pressure, then give back.
 *
 * The signs: the machine swaps, it reads again what it has dropped, reclaim
 * asks this node for pages, or programs wait for memory (PSI, which a module
 * cannot read: nswapctl feeds it in). As with a congestion window, a sign costs
 * a quarter of what is lent, and without one lending grows by grow_pct of RAM a
 * second.
 *
 * No headroom is kept free for bursts; only what the kernel calls available, less
 * a 20th of RAM, is ever lent, so that lending itself causes no sign.
 */
#include "policy.h"

#define KEEP_PCT	5
#define PSI_LIMIT	500	/* 5 % of the time */
#define NOISE		8192	/* up to 1/8192 of RAM a second is no sign */

static bool pressure_felt(const struct nswap_size_view *v)
{
	u64 noise = v->total / NOISE * v->elapsed_ms;

	return v->shrinker_calls || v->psi >= PSI_LIMIT ||
	       v->swap_outs * 1000 > noise || v->refaults * 1000 > noise;
}

static u64 pressure_lend(const struct nswap_size_view *view)
{
	u64 there = view->available + view->allocated;
	u64 keep = nswap_size_percent(view, KEEP_PCT);
	u64 room = there > keep ? there - keep : 0;

	if (pressure_felt(view))
		room = min(room, view->target * 3 / 4);
	return nswap_size_bound(view, nswap_size_follow(view, room));
}

const struct nswap_size_ops nswap_size_pressure_ops = {
	.is = { .name = "pressure",
		.help = "grow until this machine swaps, refaults or waits, then give back" },
	.adaptive = true,
	.lend = pressure_lend,
};
