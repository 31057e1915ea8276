// SPDX-License-Identifier: GPL-2.0
/*
 * Which: round-robin. Every page the clock hand reaches.
 */
#include "prefetch.h"

static enum nswap_which_look rr_look(bool referenced)
{
	return NSWAP_WHICH_TAKE;
}

const struct nswap_which_ops nswap_which_rr_ops = {
	.is = { .name = "rr", .help = "in the order of slots, around" },
	.arm = 1,
	.look = rr_look,
};
