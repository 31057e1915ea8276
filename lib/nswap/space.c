// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages of the device are used: a bit each, first fit from where the last search ended.
 *
 * A region gets one run of pages if there is one, else up to EXTENTS runs. Page 0 is the
 * label's. All functions are called under the directory's lock.
 */
#include <string.h>

#include "lib.h"

static bool space_used(uint32_t page)
{
	return lib.bitmap[page / 64] >> (page % 64) & 1;
}

static void space_set(const struct extent *e, bool used)
{
	uint32_t page;

	for (page = e->first; page < e->first + e->pages; page++) {
		uint64_t bit = 1ull << (page % 64);

		if (used)
			lib.bitmap[page / 64] |= bit;
		else
			lib.bitmap[page / 64] &= ~bit;
	}
}

/* The first run of up to @most free pages at or behind @from, before @end. */
static struct extent space_run(uint32_t from, uint32_t end, uint32_t most)
{
	struct extent e = { .first = from };

	while (e.first < end && space_used(e.first)) {
		if (e.first % 64 == 0 && lib.bitmap[e.first / 64] == UINT64_MAX)
			e.first += 64;
		else
			e.first++;
	}
	while (e.pages < most && e.first + e.pages < end && !space_used(e.first + e.pages))
		e.pages++;
	return e;
}

/* One run of that many pages between these two; false if there is none. */
static bool space_whole(uint32_t from, uint32_t end, uint32_t pages, struct extent *e)
{
	for (*e = space_run(from, end, pages); e->first < end;
	     *e = space_run(e->first + e->pages, end, pages)) {
		if (e->pages == pages)
			return true;
	}
	return false;
}

static bool space_pieces(uint32_t end, uint32_t pages, struct extent *e)
{
	uint32_t from = 1;
	int i;

	for (i = 0; i < EXTENTS && pages; i++) {
		e[i] = space_run(from, end, pages);
		pages -= e[i].pages;
		from = e[i].first + e[i].pages;
	}
	return !pages;
}

/* Give a region that many pages; false if there are not enough. */
bool space_take(struct dir_region *r, uint32_t pages)
{
	uint32_t end = lib.head->ident.pages, hint = lib.head->hint;

	memset(r->extent, 0, sizeof(r->extent));
	if (!space_whole(hint ? hint : 1, end, pages, r->extent) &&
	    !space_whole(1, end, pages, r->extent)) {
		memset(r->extent, 0, sizeof(r->extent));
		if (!space_pieces(end, pages, r->extent))
			return false;
	}
	space_mark(r);
	lib.head->hint = r->extent[0].first + r->extent[0].pages;
	return true;
}

void space_mark(const struct dir_region *r)
{
	int i;

	for (i = 0; i < EXTENTS; i++)
		space_set(&r->extent[i], true);
}

/* Take a region's pages back: nothing is known of them any more, and peers get their RAM. */
void space_give(const struct dir_region *r)
{
	int i;

	for (i = 0; i < EXTENTS; i++) {
		const struct extent *e = &r->extent[i];

		if (!e->pages)
			continue;
		memset(lib.sum + e->first, 0, e->pages * sizeof(*lib.sum));
		store_discard(e->first, e->pages);
		space_set(e, false);
	}
}

/* Where a block of a region is. */
uint32_t region_page(const struct dir_region *r, uint32_t block)
{
	int i;

	for (i = 0; i < EXTENTS - 1 && block >= r->extent[i].pages; i++)
		block -= r->extent[i].pages;
	return r->extent[i].first + block;
}

uint32_t region_blocks(const struct dir_region *r)
{
	return (r->len + PAGE - 1) / PAGE;
}
