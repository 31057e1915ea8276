// SPDX-License-Identifier: GPL-2.0
/*
 * Size: owner. Lend while its owner does not use this machine.
 *
 * A. Acharya and S. Setia, "Availability and Utility of Idle Memory in Workstation
 * Clusters", SIGMETRICS 1999, and Dodo: the memory of a workstation
 * is recruited while its owner is away. What that means is decided by rules in user space
 * (nswapctl owner): a module sees neither keys nor sessions. While the owner is away it
 * lends as watermark does; else only what has to be lent in any case.
 */
#include "policy.h"

static u64 owner_lend(const struct nswap_size_view *view)
{
	return view->owner_away ? nswap_size_watermark_ops.lend(view) :
				  nswap_size_bound(view, 0);
}

const struct nswap_size_ops nswap_size_owner_ops = {
	.is = { .name = "owner",
		.help = "as watermark while its owner is away (nswapctl owner), else nothing" },
	.adaptive = true,
	.lend = owner_lend,
};
