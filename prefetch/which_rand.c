// SPDX-License-Identifier: GPL-2.0
/*
 * Which: random. Each slot is chosen at random: going on from a random slot to the
 * next one with a page would favour pages behind a long gap.
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
