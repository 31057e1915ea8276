// SPDX-License-Identifier: GPL-2.0
/*
 * Size: fixed. Always exactly what the user lends.
 *
 * The smallest size policy, and the one to copy for a new one.
 */
#include "policy.h"

static u64 fixed_lend(const struct nswap_size_view *view)
{
	return view->most;
}

const struct nswap_size_ops nswap_size_fixed_ops = {
	.is = { .name = "fixed",
		.help = "exactly what was lent, set aside at once" },
	.lend = fixed_lend,
};
