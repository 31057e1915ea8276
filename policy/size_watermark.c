// SPDX-License-Identifier: GPL-2.0
/*
 * Size: watermark. What is free or easily reclaimed, minus a headroom.
 *
 * A. Acharya and S. Setia, "Availability and Utility of Idle Memory in
 * Workstation Clusters", SIGMETRICS 1999 (Dodo): lend idle memory but keep a
 * headroom, 15 % of RAM there, for the owner's next burst. Departures: what is
 * already lent counts as room, since it can be given back; and growth is
 * limited (headroom_pct, grow_pct), because pages that were taken in have to be
 * moved away again when the owner is back.
 */
#include "policy.h"

static u64 watermark_lend(const struct nswap_size_view *view)
{
	u64 there = view->available + view->allocated;
	u64 keep = nswap_size_percent(view, view->headroom_pct);
	u64 room = there > keep ? there - keep : 0;

	return nswap_size_bound(view, nswap_size_follow(view, room));
}

const struct nswap_size_ops nswap_size_watermark_ops = {
	.is = { .name = "watermark",
		.help = "what is free or easily reclaimed, less headroom_pct of RAM" },
	.adaptive = true,
	.lend = watermark_lend,
};
