// SPDX-License-Identifier: GPL-2.0
/*
 * What the adaptive policies learn from: reads of each page where it was brought
 * to, and the read times of both tiers.
 *
 * Invariants: plain arithmetic on the arguments. Counters are halved when they
 * have grown to MOST, so old events count less and less and nothing overflows.
 */
#include "prefetch.h"

#define MOST		8192	/* pages put, all policies together */
#define ENOUGH		64	/* fewer are not significant */
#define WORTH		16	/* it pays with at least one read per so many pages */
#define SLOWER		4	/* reads there may take a quarter longer */

/* pages brought there and reads of them, of all policies together */
static void learned_total(const struct nswap_prefetch_learned *l, u64 *put, u64 *hits)
{
	unsigned int i;

	*put = 0;
	*hits = 0;
	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++) {
		*put += l->put[i];
		*hits += l->hits[i];
	}
}

/**
 * nswap_prefetch_known() - get the results so far, and whether they are significant
 * @view: snapshot
 * @put: result: pages brought there
 * @hits: result: reads of them there
 *
 * A program that goes over its memory in a loop reaches a page that was brought
 * elsewhere only after all the others.
 *
 * Context: any.
 * Return: true if enough pages were brought there, and as many pages came in
 * meanwhile as are in use, so each had its turn.
 */
bool nswap_prefetch_known(const struct nswap_prefetch_view *view, u64 *put,
			  u64 *hits)
{
	learned_total(&view->learned, put, hits);
	return *put >= ENOUGH && view->learned.ins >= view->used;
}

/* record the results of a wake-up; any context; the caller serialises access to @l */
void nswap_prefetch_note(struct nswap_prefetch_learned *l, u8 arm, u64 put,
			 u64 ins, const u64 hits[NSWAP_PREFETCH_ARMS])
{
	u64 all_put, all_hits;
	unsigned int i;

	l->wakeups++;
	l->put[arm] += put;
	l->ins += ins;
	for (i = 0; i < NSWAP_PREFETCH_ARMS; i++)
		l->hits[i] += hits[i];
	learned_total(l, &all_put, &all_hits);
	while (all_put > MOST || all_hits > MOST * 64) {
		for (i = 0; i < NSWAP_PREFETCH_ARMS; i++) {
			l->put[i] /= 2;
			l->hits[i] /= 2;
		}
		l->ins /= 2;
		learned_total(l, &all_put, &all_hits);
	}
}

/* a wake-up that wanted pages has found @put of them; any context; serialised likewise */
void nswap_prefetch_tried(struct nswap_prefetch_learned *l, u8 arm, u64 put)
{
	if (put)
		l->barren &= ~(1u << arm);
	else
		l->barren |= 1u << arm;
}

/**
 * nswap_prefetch_pays() - is prefetching worthwhile?
 * @view: snapshot
 *
 * A tier that is a little slower still pays: both are then read in parallel. And its
 * estimate is a recent time, perhaps of a single read. Pages that make room (@down) are
 * not to be read: if they often are, the wrong ones go.
 *
 * Context: any.
 * Return: false if the tier is known to be slower than the one they leave by more than
 * a quarter, or prefetched pages are known to be hardly ever read there; of pages that
 * make room, if they are known to be read there.
 */
bool nswap_prefetch_pays(const struct nswap_prefetch_view *view)
{
	u64 put, hits;

	if (view->down)
		return !nswap_prefetch_known(view, &put, &hits) ||
		       hits * WORTH <= put;
	if (view->from_us &&
	    view->to_us > view->from_us + view->from_us / SLOWER)
		return false;
	return !nswap_prefetch_known(view, &put, &hits) || hits * WORTH >= put;
}
