// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: two choices. The better one of two usable peers drawn at random.
 *
 * M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing",
 * IEEE TPDS 12(10), 2001: the longest queue is then exponentially closer to the
 * mean than with one random choice; and unlike with "the best of all", clients
 * that have the same old figures do not all choose the same peer. Better means
 * fewer of our pages under way to it, which is known exactly; among equals, more
 * free pages, which is an estimate.
 */
#include "place_queue.h"

/* position of the usable candidate that has @n usable ones before it */
static unsigned int nth_usable(const struct nswap_place_view *view,
			       unsigned int n)
{
	unsigned int i = 0;

	while (!nswap_place_usable(&view->peer[i]) || n--)
		i++;
	return i;
}

static int two_choices_pick(const struct nswap_place_view *view,
			    unsigned int pages)
{
	unsigned int i, one, other, usable = 0;

	for (i = 0; i < view->nr; i++)
		usable += nswap_place_usable(&view->peer[i]);
	if (!usable)
		return -1;
	one = (view->random & 0xffff) % usable;
	if (usable == 1)
		return nth_usable(view, one);
	other = (view->random >> 16) % (usable - 1);
	if (other >= one)
		other++;
	one = nth_usable(view, one);
	other = nth_usable(view, other);
	return nswap_queue_shorter(&view->peer[other], &view->peer[one]) ? other : one;
}

const struct nswap_place_ops nswap_place_two_choices_ops = {
	.is = { .name = "two-choices",
		.help = "of two random peers the one with fewer pages under way to it" },
	.pick = two_choices_pick,
	.as_good = nswap_queue_as_good,
};
