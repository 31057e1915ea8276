// SPDX-License-Identifier: GPL-2.0
/*
 * Which: should this slot's page be prefetched? The list at the end begins with what a
 * node starts with.
 */
#include <linux/kernel.h>

#include "prefetch.h"

/* every page the clock hand reaches */
static enum nswap_which_look any_look(bool referenced)
{
	return NSWAP_WHICH_TAKE;
}

static const struct nswap_which_ops which_rr = {
	.is = { .name = "rr", .help = "in the order of slots, around" },
	.arm = 1,
	.look = any_look,
};

/*
 * Each slot is chosen at random: going on from a random slot to the next one with a page
 * would favour pages behind a long gap.
 */
static const struct nswap_which_ops which_rand = {
	.is = { .name = "rand", .help = "chosen by lot" },
	.arm = 2,
	.scattered = true,
	.look = any_look,
};

/*
 * Least recently swapped, by the clock algorithm: a page that was swapped neither in nor out
 * since the hand last passed; below peers, one that was not paged in since then or since it came
 * there (pure/slot_map.c). The hand clears reference bits as it passes, so a page has one
 * round to be swapped again.
 */
static enum nswap_which_look lrs_look(bool referenced)
{
	return referenced ? NSWAP_WHICH_CLEAR : NSWAP_WHICH_TAKE;
}

static const struct nswap_which_ops which_lrs = {
	.is = { .name = "lrs", .help = "least recently swapped (clock)" },
	.arm = 3,
	.look = lrs_look,
};

/*
 * Most recently swapped: a page that was swapped in or out since another policy's hand passed;
 * below peers, one that was paged in since it came there. What clears the bit is that the
 * page comes to flash or home from a peer, so one that could not be brought is tried again. At
 * peers that makes it rr, but for pages that lrs has passed and copies that were evicted.
 */
static enum nswap_which_look mrs_look(bool referenced)
{
	return referenced ? NSWAP_WHICH_TAKE : NSWAP_WHICH_PASS;
}

static const struct nswap_which_ops which_mrs = {
	.is = { .name = "mrs", .help = "most recently swapped (clock)" },
	.arm = 4,
	.look = mrs_look,
};

#define EXPLORE	8

static const struct nswap_which_ops *const others[] = {
	&which_lrs,
	&which_mrs,
	&which_rr,
	&which_rand,
};

/*
 * Does @a have more reads per page than @b, or fewer where pages make room? One page
 * is added to each count, and one read where many are good, which rates a policy with few
 * results as good, so each is tried at first.
 */
static bool adaptive_better(const struct nswap_prefetch_view *view, u8 a, u8 b)
{
	const struct nswap_prefetch_learned *l = &view->learned;

	if (view->down)
		return l->hits[a] * (l->put[b] + 1) < l->hits[b] * (l->put[a] + 1);
	return (l->hits[a] + 1) * (l->put[b] + 1) >
	       (l->hits[b] + 1) * (l->put[a] + 1);
}

/* the best, but for those of some arms; NULL if that is none */
static const struct nswap_which_ops *
adaptive_best(const struct nswap_prefetch_view *view, u32 but)
{
	const struct nswap_which_ops *best = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!(but & 1u << others[i]->arm) &&
		    (!best || adaptive_better(view, others[i]->arm, best->arm)))
			best = others[i];
	return best;
}

/*
 * The one of the others whose pages were read most often per page where they were brought
 * to, or least often where they make room, but not one that found none when it was asked
 * last, as lrs does while its hand clears what has just been swapped; one wake-up in EXPLORE
 * goes to each in turn, so that none is judged by old results only.
 */
static const struct nswap_which_ops *
adaptive_choose(const struct nswap_prefetch_view *view)
{
	const struct nswap_prefetch_learned *l = &view->learned;

	if (l->wakeups % EXPLORE == 0)
		return others[l->wakeups / EXPLORE % ARRAY_SIZE(others)];
	return adaptive_best(view, l->barren) ?: adaptive_best(view, 0);
}

static const struct nswap_which_ops which_adaptive = {
	.is = { .name = "adaptive",
		.help = "the one of these that has paid most" },
	.choose = adaptive_choose,
};

const struct nswap_policy *const nswap_which_policies[] = {
	&which_rr.is,
	&which_rand.is,
	&which_lrs.is,
	&which_mrs.is,
	&which_adaptive.is,
	NULL
};
