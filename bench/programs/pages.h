/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of which every page is known: f(seed, page, write count), as in
 * tests/progs/pattern.h, or in pattern_text.h if its data is set before it is filled.
 *
 * Invariants: count[] holds each page's last write count and is not swapped
 * where the program may lock memory. Every access compares the whole page
 * first; a wrong page is counted once and written anew.
 */
#ifndef NSWAP_BENCH_PAGES_H
#define NSWAP_BENCH_PAGES_H

#include <sys/mman.h>

#include "pattern_text.h"
#include "prog.h"
#include "work.h"

struct pages {
	unsigned char *mem;
	uint32_t *count;
	uint64_t n, seed;
	enum pat_data data;
	struct bad_pages bad;
};

static inline unsigned char *page_at(const struct pages *p, uint64_t page)
{
	return p->mem + page * PAT_BYTES;
}

static inline void page_write(struct pages *p, uint64_t page)
{
	p->count[page]++;
	pat_data_fill(p->data, page_at(p, page), p->seed, page, p->count[page]);
}

/* Compare one page, write it if asked or if it was wrong; how many were right. */
static inline uint64_t page_access(struct pages *p, uint64_t page, bool write)
{
	bool right = pat_data_same(p->data, page_at(p, page), p->seed, page, p->count[page]);

	if (!right) {
		bad_page(&p->bad, page_at(p, page), p->seed, page, p->count[page], p->n);
		work_wrong_page();
		write = true;
	}
	if (write)
		page_write(p, page);
	return right;
}

/* Map so many pages, write each once, then spoil as many as --damage says. */
static inline void pages_fill(struct pages *p, uint64_t n)
{
	uint64_t damage = work_damage < n ? work_damage : n;

	p->n = n;
	p->seed = work_seed;
	p->mem = work_map(n * PAT_BYTES, false);
	p->count = work_map(n * sizeof(*p->count), false);
	if (mlock(p->count, n * sizeof(*p->count)))
		fprintf(stderr, "note: the table of write counts is not locked\n");
	for (uint64_t i = 0; i < n; i++)
		page_write(p, i);
	for (uint64_t i = 0; i < damage; i++)
		page_at(p, i * (n / damage))[i % PAT_BYTES] ^= 1;
}

#endif
