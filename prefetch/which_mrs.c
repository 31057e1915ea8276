// SPDX-License-Identifier: GPL-2.0
/*
 * Which: most recently swapped. A page that has been paged in since it was
 * written, or since another policy's hand has passed.
 *
 * The bit is not cleared: the page is not looked at again while flash has it,
 * and a rewrite clears it.
 */
#include "prefetch.h"

static enum nswap_which_look mrs_look(bool referenced)
{
	return referenced ? NSWAP_WHICH_TAKE : NSWAP_WHICH_PASS;
}

const struct nswap_which_ops nswap_which_mrs_ops = {
	.is = { .name = "mrs", .help = "most recently swapped in (clock)" },
	.arm = 4,
	.look = mrs_look,
};
