// SPDX-License-Identifier: GPL-2.0
/*
 * When: always. At every wake-up.
 *
 * The smallest "when" policy, and the one to copy for a new one.
 */
#include "prefetch.h"

static bool always_due(const struct nswap_prefetch_view *view)
{
	return true;
}

const struct nswap_when_ops nswap_when_always_ops = {
	.is = { .name = "always", .help = "at every wake-up" },
	.due = always_due,
};
