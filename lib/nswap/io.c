// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of up to RUN_PAGES blocks between memory, device and file, and reading regions.
 *
 * A block's sum is cleared before its file data changes and set when the device has the new
 * data, under the object's lock all along: a program that dies in between leaves a block that
 * is read from the file. What the device gives is compared with the sum; if that is not what it should
 * be, and no write came between, the region is lost. Blocks without a file have no second
 * place: their readers take the object's lock too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define TRIES 1000

/* The blocks from this one on that are alike, at most so many. */
static void run_take(struct run *run, const struct dir_region *r, uint32_t block, uint32_t most)
{
	uint32_t i;

	run->block = block;
	run->blocks = 0;
	run->valid = lib.sum[region_page(r, block)];
	for (i = 0; i < most && i < RUN_PAGES; i++) {
		run->page[i] = region_page(r, block + i);
		run->sum[i] = lib.sum[run->page[i]];
		if (!run->sum[i] == run->valid)
			break;
		run->blocks++;
	}
}

/* Under the object's lock or not; 0, or -1 with ENOMEM. */
int run_plan(struct run *run, const struct desc *d, uint32_t block, uint32_t most, bool locked)
{
	const struct dir_region *r = locked ? region_look_locked(d) : region_look(d);

	if (!r)
		return -1;
	run_take(run, r, block, most);
	dir_unlock();
	return 0;
}

/* How many of a run's blocks, from this one on, are adjacent on the device. */
static uint32_t run_adjacent(const struct run *run, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < run->blocks && run->page[i + n] == run->page[i] + n)
		n++;
	return n;
}

/* Read a run from the device and verify it; 0, or -1. */
static int run_load(const struct run *run, char *buf)
{
	uint32_t i, n;

	for (i = 0; i < run->blocks; i += n) {
		n = run_adjacent(run, i);
		if (store_read(run->page[i], n, buf + (size_t)i * PAGE))
			return -1;
	}
	for (i = 0; i < run->blocks; i++) {
		if (page_sum(buf + (size_t)i * PAGE) != run->sum[i])
			return -1;
	}
	COUNT(remote_pages, run->blocks);
	return 0;
}

/* Note the sums of blocks of a run, which the device has; 0, or -1. */
static int run_note(struct run *run, const struct desc *d, uint32_t first, uint32_t blocks,
		    const char *buf)
{
	bool active;
	uint32_t i;

	for (i = first; i < first + blocks; i++)
		run->sum[i] = page_sum(buf + (size_t)i * PAGE);
	if (dir_lock())
		return -1;
	active = region_current(d);
	for (i = first; active && i < first + blocks; i++)
		lib.sum[run->page[i]] = run->sum[i];
	dir_unlock();
	COUNT(stored_pages, blocks);
	return active ? 0 : -1;
}

/* One by one what failed at once, so that each block without a file is the old or the new one. */
static void run_store_each(struct run *run, const struct desc *d, uint32_t first, uint32_t blocks,
			   const char *buf)
{
	uint32_t i;

	for (i = first; i < first + blocks; i++) {
		if (!store_write(run->page[i], 1, buf + (size_t)i * PAGE))
			run_note(run, d, i, 1, buf);
	}
}

/* Write a run to the device and note its sums, under the object's lock; 0, or -1. */
int run_store(struct run *run, const struct desc *d, const char *buf)
{
	uint32_t i, n;

	for (i = 0; i < run->blocks; i += n) {
		n = run_adjacent(run, i);
		if (store_write(run->page[i], n, buf + (size_t)i * PAGE)) {
			COUNT(store_failures, 1);
			lib_refuse();
			run_note(run, d, 0, i, buf);
			if (d->fd < 0)
				run_store_each(run, d, i, n, buf);
			return -1;
		}
	}
	return run_note(run, d, 0, run->blocks, buf);
}

/* Bytes of a run of blocks that belong to the region. */
size_t run_bytes(const struct desc *d, uint32_t block, uint32_t blocks)
{
	uint64_t at = (uint64_t)block * PAGE, len = (uint64_t)blocks * PAGE;

	return len < d->len - at ? len : d->len - at;
}

/* A run's data from the file; zeros behind the region's end. */
int run_from_file(const struct desc *d, uint32_t block, uint32_t blocks, char *buf)
{
	size_t len = run_bytes(d, block, blocks);

	memset(buf + len, 0, (size_t)blocks * PAGE - len);
	return file_read(d->fd, buf, len, d->offset + (uint64_t)block * PAGE) < 0 ? -1 : 0;
}

/*
 * Read blocks that the device has not, from the file, and put them there. 1: done; 0: another
 * program did that; -1: errno. That peers have no room is no error: the file has the data.
 */
static int run_fill(struct run *run, const struct desc *d, char *buf)
{
	uint32_t blocks = run->blocks;
	struct look look;
	int done;

	if (region_lock(d))
		return -1;
	done = run_plan(run, d, run->block, blocks, true);
	if (!done && !run->valid && run->blocks == blocks) {
		done = run_from_file(d, run->block, blocks, buf) ? -1 : 1;
		file_look(d->fd, &look);
		if (done > 0 && !dir_lock()) {
			if (!file_same(d->file, &look))
				done = -1;
			dir_unlock();
			errno = ENOMEM;
		}
		if (done > 0 && !lib_refusing())
			run_store(run, d, buf);
	}
	region_unlock(d);
	return done;
}

/* Was nothing written since the run was planned? Then what was read is wrong. */
static int run_judge(const struct run *run, const struct desc *d)
{
	struct run now;

	if (run_plan(&now, d, run->block, run->blocks, false))
		return -1;
	if (now.valid != run->valid || now.blocks != run->blocks ||
	    memcmp(now.sum, run->sum, run->blocks * sizeof(*now.sum)))
		return 0;
	return -1;
}

/* Get blocks, at least one of so many; how many, or -1 with errno. */
int run_get(const struct desc *d, uint32_t block, uint32_t most, char *buf, bool fill)
{
	struct run run;
	int tries, done;

	for (tries = 0; tries < TRIES; tries++) {
		if (run_plan(&run, d, block, most, d->fd < 0))
			return -1;
		if (run.valid) {
			if (!run_load(&run, buf))
				return run.blocks;
			if (d->fd < 0 || run_judge(&run, d))
				break;
			continue;
		}
		if (d->fd < 0) {
			memset(buf, 0, (size_t)run.blocks * PAGE);
			return run.blocks;
		}
		if (!fill)
			return run_from_file(d, block, run.blocks, buf) ? -1 : (int)run.blocks;
		done = run_fill(&run, d, buf);
		if (done)
			return done < 0 ? -1 : (int)run.blocks;
	}
	errno = EBADMSG;
	return -1;
}

/* Blocks that a request touches, up to a run. */
uint32_t run_most(uint64_t at, size_t len)
{
	uint64_t blocks = (at % PAGE + len + PAGE - 1) / PAGE;

	return blocks < RUN_PAGES ? blocks : RUN_PAGES;
}

static ssize_t region_read_runs(const struct desc *d, uint64_t at, char *buf, size_t len,
				bool fill, char *run)
{
	size_t done = 0, n;
	int got;

	while (done < len) {
		got = run_get(d, at / PAGE, run_most(at, len - done), run, fill);
		if (got < 0)
			return -1;
		n = (size_t)got * PAGE - at % PAGE;
		if (n > len - done)
			n = len - done;
		memcpy(buf + done, run + at % PAGE, n);
		done += n;
		at += n;
	}
	return done;
}

/**
 * region_read() - read a part of a region
 * @d: the region
 * @at: where; inside of it
 * @buf: gets the data
 * @len: how much; inside of it
 * @fill: put what is read from the file on the device
 *
 * Return: @len, or -1 with ENOMEM (not active, or lost just now) or what reading the file gave.
 */
ssize_t region_read(const struct desc *d, uint64_t at, void *buf, size_t len, bool fill)
{
	char *run = page_alloc(run_most(at, len));
	ssize_t done;

	if (!run || (d->fd < 0 && region_lock(d))) {
		free(run);
		errno = ENOMEM;
		return -1;
	}
	done = region_read_runs(d, at, buf, len, fill, run);
	if (d->fd < 0)
		region_unlock(d);
	if (done < 0 && errno == EBADMSG)
		region_lost(d);
	free(run);
	return done;
}
