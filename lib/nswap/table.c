// SPDX-License-Identifier: GPL-2.0
/*
 * The regions of the directory, found by file and offset.
 *
 * An entry is written before it is linked and unlinked before it is unused, and its word
 * `used` decides; all lists can be made again from the entries. A region that is freed has
 * another generation from then on, which ends all descriptors of it. All functions are called
 * under the directory's lock; those that free a region, under its object's too, so that a
 * write to its pages is never under way.
 */
#include <string.h>

#include "lib.h"

static uint32_t *region_bucket(uint32_t file, uint64_t offset)
{
	uint64_t mixed = (offset + file) * 0x9e3779b97f4a7c15ull;

	return &lib.bucket[(mixed ^ mixed >> 32) % lib.head->buckets];
}

static uint32_t region_at(uint32_t file, uint64_t offset)
{
	uint32_t i;

	for (i = *region_bucket(file, offset); i; i = lib.region[i].next_hash) {
		if (lib.region[i].file == file && lib.region[i].offset == offset)
			return i;
	}
	return NO_REGION;
}

/* The region that is just there and so long, or NO_REGION. */
uint32_t region_find(uint32_t file, uint64_t offset, uint64_t len)
{
	uint32_t i = region_at(file, offset);

	return i && lib.region[i].len == len ? i : NO_REGION;
}

static bool region_meets(uint32_t i, uint64_t offset, uint64_t len)
{
	const struct dir_region *r = &lib.region[i];

	return r->offset < offset + len && offset < r->offset + r->len;
}

/*
 * The first region of a file that has a byte of the range, or NO_REGION. Where regions are
 * parts of equal size few places can have one; else all of the file's are looked at.
 */
uint32_t region_overlap(uint32_t file, uint64_t offset, uint64_t len)
{
	const struct dir_file *f = &lib.file[file];
	uint64_t at, places;
	uint32_t i;

	if (!f->nr_regions)
		return NO_REGION;
	at = offset > f->longest ? offset - f->longest : 0;
	at -= at % f->grain;
	places = (offset + len - at) / f->grain + 1;
	if (places > f->nr_regions) {
		for (i = f->first; i; i = lib.region[i].next_of_file) {
			if (region_meets(i, offset, len))
				return i;
		}
		return NO_REGION;
	}
	for (; at < offset + len; at += f->grain) {
		i = region_at(file, at);
		if (i && region_meets(i, offset, len))
			return i;
	}
	return NO_REGION;
}

static uint64_t grain_of(uint64_t grain, uint64_t number)
{
	uint64_t rest;

	while (number) {
		rest = grain % number;
		grain = number;
		number = rest;
	}
	return grain;
}

/* Put a region that is in use into its lists. */
void region_link(uint32_t region)
{
	struct dir_region *r = &lib.region[region];
	struct dir_file *f = &lib.file[r->file];
	uint32_t *bucket = region_bucket(r->file, r->offset);

	r->next_hash = 0;
	if (r->file != NO_FILE) {
		r->next_hash = *bucket;
		*bucket = region;
	}
	r->prev_of_file = 0;
	r->next_of_file = f->first;
	if (f->first)
		lib.region[f->first].prev_of_file = region;
	f->first = region;
	if (!f->nr_regions++)
		f->grain = f->longest = 0;
	f->grain = grain_of(grain_of(r->len, f->grain), r->offset);
	if (r->len > f->longest)
		f->longest = r->len;
}

static void region_unlink(uint32_t region)
{
	struct dir_region *r = &lib.region[region];
	struct dir_file *f = &lib.file[r->file];
	uint32_t *link = region_bucket(r->file, r->offset);

	while (r->file != NO_FILE && *link) {
		if (*link == region) {
			*link = r->next_hash;
			break;
		}
		link = &lib.region[*link].next_hash;
	}
	if (r->prev_of_file)
		lib.region[r->prev_of_file].next_of_file = r->next_of_file;
	else
		f->first = r->next_of_file;
	if (r->next_of_file)
		lib.region[r->next_of_file].prev_of_file = r->prev_of_file;
	f->nr_regions--;
}

/* Make a region, less than the device, which has nothing yet; NO_REGION if there is no room. */
uint32_t region_add(uint32_t file, uint64_t offset, uint64_t len)
{
	struct dir_region *r;
	uint32_t i;

	if (!lib.head->free_region && !dir_grow())
		return NO_REGION;
	i = lib.head->free_region;
	r = &lib.region[i];
	r->file = file;
	r->offset = offset;
	r->len = len;
	r->owner = file == NO_FILE ? lib.self : (struct process){ 0 };
	r->version++;
	if (!space_take(r, region_blocks(r)))
		return NO_REGION;
	lib.head->free_region = r->next_hash;
	__atomic_store_n(&r->used, 1, __ATOMIC_SEQ_CST);
	region_link(i);
	return i;
}

void region_free(uint32_t region)
{
	struct dir_region *r = &lib.region[region];

	r->gen++;
	region_unlink(region);
	space_give(r);
	__atomic_store_n(&r->used, 0, __ATOMIC_SEQ_CST);
	r->next_hash = lib.head->free_region;
	lib.head->free_region = region;
}

/*
 * Free the blocks without a file for which gone() says so, but those that another thread, or a
 * child of the process that had them, is just at work on.
 */
void region_free_blocks(bool gone(const struct dir_region *r))
{
	uint32_t i, next;

	for (i = lib.file[NO_FILE].first; i; i = next) {
		const struct dir_region *r = &lib.region[i];

		next = r->next_of_file;
		if (!gone(r) || object_try_lock(FILES + i))
			continue;
		region_free(i);
		object_unlock(FILES + i);
	}
}

static bool blocks_left(const struct dir_region *r)
{
	return process_gone(&r->owner);
}

/* Free what processes that are gone have left behind. */
void region_reap(void)
{
	region_free_blocks(blocks_left);
}
