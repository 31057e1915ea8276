// SPDX-License-Identifier: GPL-2.0
/*
 * Which: random. Slots chosen by lot, one after the other: to go on from such a
 * slot to the next with a page would favour those behind a long stretch without.
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
