// SPDX-License-Identifier: GPL-2.0
/*
 * The synthetic programs of the Dodo paper: requests of one size that read a
 * data set larger than memory.
 *
 * sequential reads it in order; random anywhere; hotcold turns to the hot fifth
 * of the data set in four of five requests, at random within either part.
 * There the data set is a file behind a cache in memory, here it is memory.
 *
 * Invariants: a request begins at a multiple of its size and never leaves the
 * part it was for.
 */
#include "pages.h"

enum { SEQUENTIAL, HOTCOLD, RANDOM };

static const char *const names[] = { "sequential", "hotcold", "random", NULL };

static uint64_t mb = 64, pattern, request_kb = 8, requests;
static struct pages memory;

/* The first page of request number i of n places. */
static uint64_t place_of(uint64_t i, uint64_t places, uint64_t *state)
{
	uint64_t hot = places / 5;

	switch (pattern) {
	case SEQUENTIAL:
		return i % places;
	case HOTCOLD:
		if (pat_below(state, 5) < 4)
			return pat_below(state, hot);
		return hot + pat_below(state, places - hot);
	default:
		return pat_below(state, places);
	}
}

static const struct work_flag flags[] = {
	{ .name = "pattern", .number = &pattern, .words = names,
	  .help = "NAME     sequential (default), hotcold or random" },
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 24,
	  .help = "N             the data set (default 64)" },
	{ .name = "request-kb", .number = &request_kb, .min = 4, .max = 128,
	  .help = "N     size of a request, a multiple of 4 (default 8)" },
	{ .name = "requests", .number = &requests, .max = 1 << 30,
	  .help = "N       how many (default: as many as the data set holds, twice)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "dodo",
	.does = "Fills a data set and then reads it in requests, comparing every page whole.",
	.unit = "one request",
	.flags = flags,
};

int main(int argc, char **argv)
{
	uint64_t pages, places, state, right = 0;

	work_start(argc, argv, &about);
	if (request_kb % 4)
		work_refuse("--request-kb must be a multiple of 4, not %llu",
			    (unsigned long long)request_kb);
	pages = request_kb / 4;
	places = mb * WORK_MB / PAT_BYTES / pages;
	if (!requests)
		requests = 2 * places;
	state = pat_mix(work_seed);
	pages_fill(&memory, mb * WORK_MB / PAT_BYTES);
	work_measure();
	for (uint64_t i = 0; i < requests; i++) {
		uint64_t first = place_of(i, places, &state) * pages;

		for (uint64_t k = 0; k < pages; k++)
			right += page_access(&memory, first + k, false);
		work_compute(1);
	}
	work_accessed(requests * pages);
	work_check();
	for (uint64_t i = 0; i < memory.n; i++)
		right += page_access(&memory, i, false);
	work_verified(right);
	work_member("\"workload\": \"%s\"", names[pattern]);
	work_member("\"mb\": %llu, \"request_kb\": %llu, \"requests\": %llu",
		    (unsigned long long)mb, (unsigned long long)request_kb,
		    (unsigned long long)requests);
	return work_end();
}
