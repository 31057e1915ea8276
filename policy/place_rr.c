// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: round-robin. Every usable peer in turn, however much it lends.
 *
 * The smallest placement policy, and the one to copy for a new one.
 * Invariant: a usable peer is passed over only for usable ones whose turn
 * comes first, so @view->nr decisions reach all of them.
 */
#include "policy.h"

static int rr_pick(const struct nswap_place_view *view, unsigned int pages)
{
	unsigned int start = nswap_place_after(view), i;

	for (i = 0; i < view->nr; i++) {
		unsigned int at = (start + i) % view->nr;

		if (nswap_place_usable(&view->peer[at]))
			return at;
	}
	return -1;
}

const struct nswap_place_ops nswap_place_rr_ops = {
	.is = { .name = "round-robin",
		.help = "every usable peer in turn" },
	.pick = rr_pick,
};
