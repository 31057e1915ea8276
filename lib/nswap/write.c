// SPDX-License-Identifier: GPL-2.0
/*
 * Writing regions and their files.
 *
 * All of it is done under the object's lock: the blocks' sums are cleared, the file is written
 * and its stamp taken, the device gets the blocks, their sums are set.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* What a block has before a part of it is written: 0, or -1 with errno. */
static int block_before(const struct desc *d, uint32_t block, char *buf)
{
	if (d->fd >= 0)
		return run_from_file(d, block, 1, buf);
	return run_get(d, block, 1, buf, false) == 1 ? 0 : -1;
}

/*
 * Make the new data of a run of blocks: of the caller's bytes, and of the file's, which has
 * them already, at both ends. How many blocks; fewer if the next one cannot be made.
 */
static int run_compose(const struct desc *d, uint64_t at, const char *data, size_t len, char *buf)
{
	uint32_t block = at / PAGE, blocks = run_most(at, len), i;

	for (i = 0; i < blocks; i++) {
		uint64_t start = (uint64_t)(block + i) * PAGE;
		uint64_t from = start > at ? start : at;
		uint64_t to = start + PAGE < at + len ? start + PAGE : at + len;
		char *page = buf + (size_t)i * PAGE;

		if (to - from < PAGE && block_before(d, block + i, page))
			break;
		memcpy(page + from - start, data + (from - at), to - from);
	}
	return i ? (int)i : -1;
}

/* Put what was written on the device; 0, or -1. A block that cannot be read stays out. */
static int region_store(const struct desc *d, uint64_t at, const char *data, size_t len)
{
	char *buf = page_alloc(run_most(at, len));
	struct run run = { .blocks = 0 };
	int n, failed = !buf;

	while (len && !failed) {
		uint64_t next;

		n = run_compose(d, at, data, len, buf);
		if (n > 0) {
			const struct dir_region *r = &lib.region[d->region];

			run.blocks = n;
			for (int i = 0; i < n; i++)
				run.page[i] = region_page(r, at / PAGE + i);
			failed = run_store(&run, d, buf);
		} else if (d->fd < 0) {
			failed = 1;
		} else {
			n = 1;
		}
		next = (at / PAGE + n) * PAGE;
		if (next > at + len)
			next = at + len;
		data += next - at;
		len -= next - at;
		at = next;
	}
	free(buf);
	return failed ? -1 : 0;
}

/* The device's blocks of a range are no longer what the file has. */
static int region_stale(const struct desc *d, uint64_t at, size_t len, uint32_t *version)
{
	struct dir_region *r = &lib.region[d->region];
	uint32_t block;

	if (dir_lock())
		return -1;
	r->version++;
	if (version && *version == r->version - 1)
		*version = r->version;
	for (block = at / PAGE; d->fd >= 0 && block <= (at + len - 1) / PAGE; block++)
		lib.sum[region_page(r, block)] = 0;
	dir_unlock();
	return 0;
}

/* Write a file that has regions; if it was as it should be it is so again. */
static ssize_t file_write_stamped(uint32_t file, int fd, const void *buf, size_t len, off_t at,
				  bool same)
{
	ssize_t put = file_write(fd, buf, len, at);
	int error = errno;
	struct look look;

	file_look(fd, &look);
	if (same && !dir_lock()) {
		file_stamp(file, &look);
		dir_unlock();
	}
	errno = error;
	return put;
}

/**
 * region_write() - write a part of a region, and its file
 * @d: the region
 * @at: where; inside of it
 * @buf: the data
 * @len: how much, 1 at least; inside of it
 * @version: the region's that the caller knows, which becomes that of this write, if no other
 *	write came between; or NULL
 *
 * Return: bytes written, or -1 with ENOMEM (not active, or lost just now, or blocks without a
 * file that the device did not take: they and others have what they had, or are lost) or what
 * writing the file gave.
 */
ssize_t region_write(const struct desc *d, uint64_t at, const void *buf, size_t len,
		     uint32_t *version)
{
	ssize_t put = len;
	bool failed = false;

	if (region_lock(d))
		return -1;
	if (region_stale(d, at, len, version)) {
		put = -1;
		errno = ENOMEM;
	} else {
		if (d->fd >= 0)
			put = file_write_stamped(d->file, d->fd, buf, len, d->offset + at,
						 true);
		failed = put > 0 && region_store(d, at, buf, put);
	}
	region_unlock(d);
	if (!failed)
		return put;
	if (d->fd >= 0)
		region_lost(d);
	errno = ENOMEM;
	return -1;
}

/**
 * region_keep() - put a region's data on the device, where that has not got it
 * @d: the region
 * @version: its version when the data was read or written
 * @buf: all of it
 *
 * Return: 0, or -1 if that is not possible: peers have no room, or it was written since.
 */
int region_keep(const struct desc *d, uint32_t version, const void *buf)
{
	char *data = page_alloc(RUN_PAGES);
	uint32_t block = 0, blocks = (d->len + PAGE - 1) / PAGE;
	struct run run;
	int failed = !data || lib_refusing() || region_lock(d);
	bool locked = !failed;

	if (!failed) {
		failed = dir_lock();
		if (!failed) {
			failed = lib.region[d->region].version != version;
			dir_unlock();
		}
	}
	for (; !failed && block < blocks; block += run.blocks) {
		failed = run_plan(&run, d, block, blocks - block, true);
		if (!failed && !run.valid) {
			size_t len = run_bytes(d, block, run.blocks);

			memcpy(data, (const char *)buf + (size_t)block * PAGE, len);
			memset(data + len, 0, (size_t)run.blocks * PAGE - len);
			failed = run_store(&run, d, data);
		}
	}
	if (locked)
		region_unlock(d);
	free(data);
	return failed ? -1 : 0;
}

/**
 * region_write_file() - write a file without a region
 * @fd: the file
 * @buf: the data
 * @len: how much
 * @at: where
 *
 * Regions that others have there are freed.
 *
 * Return: as pwrite(), or -1 with errno.
 */
ssize_t region_write_file(int fd, const void *buf, size_t len, off_t at)
{
	uint32_t file, i;
	bool same = false;
	struct look look;
	ssize_t put;

	if (!__atomic_load_n(&lib.ready, __ATOMIC_ACQUIRE))
		return file_write(fd, buf, len, at);
	file_look(fd, &look);
	if (!look.done || dir_lock())
		return file_write(fd, buf, len, at);
	file = file_find(&look.st);
	dir_unlock();
	if (file == NO_FILE || object_lock(file))
		return file_write(fd, buf, len, at);
	file_look(fd, &look);
	if (!dir_lock()) {
		same = file_same(file, &look);
		while (same && (i = region_overlap(file, at, len)))
			region_free(i);
		dir_unlock();
	}
	put = file_write_stamped(file, fd, buf, len, at, same);
	object_unlock(file);
	return put;
}
