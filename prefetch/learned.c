// SPDX-License-Identifier: GPL-2.0
/*
 * What the adaptive policies learn from: reads from flash for each page that
 * was brought there, and the read times of both tiers.
 *
 * Invariants: plain arithmetic on the arguments. Counters are halved when they
 * have grown to MOST, so old events count less and less and nothing overflows.
 */
#include "prefetch.h"

#define MOST		8192	/* pages put, all policies together */
#define ENOUGH		64	/* fewer are not significant */
#define WORTH		16	/* it pays with at least one read per so many pages */
#define SLOWER		4	/* flash may take a quarter longer than peers */

/* pages brought to flash and reads of them, of all policies together */
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
 * @put: result: pages brought to flash
 * @hits: result: reads of them there
 *
 * A program that goes over its memory in a loop reaches a page that was brought to
 * flash only after all the others.
 *
 * Context: any.
 * Return: true if enough pages were brought to flash, and as many pages came in
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

/**
 * nswap_prefetch_pays() - is prefetching worthwhile?
 * @view: snapshot
 *
 * Flash that is a little slower than the peers still pays: both are then read in
 * parallel. And its estimate is a recent time, perhaps of a single read.
 *
 * Context: any.
 * Return: false if flash is known to be slower than the peers by more than a quarter,
 * or prefetched pages are known to be hardly ever read there.
 */
bool nswap_prefetch_pays(const struct nswap_prefetch_view *view)
{
	u64 put, hits;

	if (view->ram_us &&
	    view->flash_us > view->ram_us + view->ram_us / SLOWER)
		return false;
	return !nswap_prefetch_known(view, &put, &hits) || hits * WORTH >= put;
}
