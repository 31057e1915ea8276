// SPDX-License-Identifier: GPL-2.0
/*
 * Which: least recently swapped, by the clock algorithm. A page that was not
 * paged in since the hand last passed is taken; the hand clears reference bits
 * as it passes, so a page has one round to be paged in again.
 */
#include "prefetch.h"

static enum nswap_which_look lrs_look(bool referenced)
{
	return referenced ? NSWAP_WHICH_CLEAR : NSWAP_WHICH_TAKE;
}

const struct nswap_which_ops nswap_which_lrs_ops = {
	.is = { .name = "lrs", .help = "least recently swapped in (clock)" },
	.arm = 3,
	.look = lrs_look,
};
