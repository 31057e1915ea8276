// SPDX-License-Identifier: GPL-2.0
/*
 * Which: adaptive. The one of the others whose pages were read from flash most
 * often per page; one wake-up in EXPLORE goes to each in turn, so that none is
 * judged by old results only.
 *
 * One page and one read are added to each count, which rates a policy with few
 * results as good, so each is tried at first.
 */
#include <linux/kernel.h>

#include "prefetch.h"

#define EXPLORE	8

static const struct nswap_which_ops *const others[] = {
	&nswap_which_lrs_ops,
	&nswap_which_mrs_ops,
	&nswap_which_rr_ops,
	&nswap_which_rand_ops,
};

/* does @a have more reads per page than @b? */
static bool adaptive_better(const struct nswap_prefetch_learned *l, u8 a, u8 b)
{
	return (l->hits[a] + 1) * (l->put[b] + 1) >
	       (l->hits[b] + 1) * (l->put[a] + 1);
}

static const struct nswap_which_ops *
adaptive_choose(const struct nswap_prefetch_view *view)
{
	const struct nswap_prefetch_learned *l = &view->learned;
	const struct nswap_which_ops *best = others[0];
	unsigned int i;

	if (l->wakeups % EXPLORE == 0)
		return others[l->wakeups / EXPLORE % ARRAY_SIZE(others)];
	for (i = 1; i < ARRAY_SIZE(others); i++)
		if (adaptive_better(l, others[i]->arm, best->arm))
			best = others[i];
	return best;
}

const struct nswap_which_ops nswap_which_adaptive_ops = {
	.is = { .name = "adaptive",
		.help = "the one of these whose pages are read most" },
	.choose = adaptive_choose,
};
