// SPDX-License-Identifier: GPL-2.0
/*
 * Which: random. The next page from a slot chosen by lot on, and anew for each
 * page.
 */
#include "prefetch.h"

static enum nswap_which_look rand_look(bool referenced)
{
	return NSWAP_WHICH_TAKE;
}

const struct nswap_which_ops nswap_which_rand_ops = {
	.is = { .name = "rand", .help = "chosen by lot" },
	.arm = 2,
	.scattered = true,
	.look = rand_look,
};
