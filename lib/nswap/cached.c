// SPDX-License-Identifier: GPL-2.0
/*
 * One region of the local cache: its buffer, its region on the device, its file.
 *
 * A region on the device that is lost is opened again when there is a reason to, and the file
 * has the data meanwhile, so losses show only in the time that things take. A buffer is put on
 * the device only if the region was not written since it was filled. All functions are
 * called under the cache's lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "cache.h"

/* Have a region on the device if possible. */
void cached_open(struct cached *c)
{
	if (c->m < 0 && !lib_refusing())
		c->m = nswap_mopen(c->view.len, c->fd, c->offset);
}

static bool cached_desc(const struct cached *c, struct desc *d)
{
	return c->m >= 0 && desc_get(c->m, d);
}

static void cached_lost(struct cached *c)
{
	nswap_mclose(c->m);
	c->m = -1;
	c->known = false;
}

/* Read a part from the device, or from the file; 0, or -1 with what reading it gave. */
static int cached_get(struct cached *c, uint64_t at, void *buf, size_t len, bool fill)
{
	struct desc d;

	if (cached_desc(c, &d)) {
		if (region_read(&d, at, buf, len, fill) >= 0)
			return 0;
		if (errno != ENOMEM)
			return -1;
		cached_lost(c);
	}
	return file_read(c->fd, buf, len, c->offset + at) < 0 ? -1 : 0;
}

/* What the file is now; false if that cannot be told. */
static bool cached_look(const struct cached *c, struct stamp *stamp)
{
	struct stat st;

	if (fstat(c->fd, &st))
		return false;
	stamp_of(&st, stamp);
	return true;
}

/* Is the file as it was? */
static bool cached_same(const struct cached *c)
{
	struct stamp now;

	return cached_look(c, &now) && stamp_equal(&now, &c->stamp);
}

/* Write a part to the file, and to the device if that has the region; as pwrite(). */
static ssize_t cached_put(struct cached *c, uint64_t at, const void *buf, size_t len)
{
	struct desc d;
	ssize_t put;
	bool same;

	if (cached_desc(c, &d)) {
		put = region_write(&d, at, buf, len, &c->version);
		if (put >= 0 || errno != ENOMEM)
			return put;
		cached_lost(c);
	}
	same = cached_same(c);
	put = region_write_file(c->fd, buf, len, c->offset + at);
	if (same && !cached_look(c, &c->stamp))
		c->stamp.size = -1;
	return put;
}

/* Give a region a buffer, with its data unless all of it is to be written now. */
int cached_load(struct cached *c, bool read)
{
	struct desc d;

	cached_open(c);
	c->buf = malloc(c->view.len);
	if (!c->buf)
		return -1;
	if (!cached_look(c, &c->stamp))
		c->stamp.size = -1;
	c->known = cached_desc(c, &d) && !region_version(&d, &c->version);
	if (read && cached_get(c, 0, c->buf, c->view.len, false)) {
		free(c->buf);
		c->buf = NULL;
		return -1;
	}
	return 0;
}

/*
 * Is the buffer what the region has, or the file if there is none? One that was changed here is
 * what they will have.
 */
bool cached_fresh(struct cached *c)
{
	uint32_t version;
	struct desc d;

	if (c->view.dirty)
		return true;
	if (!c->known || !cached_desc(c, &d))
		return cached_same(c);
	if (region_version(&d, &version)) {
		cached_lost(c);
		return false;
	}
	return version == c->version;
}

/* Write what was changed; 0, or -1 with errno. */
int cached_flush(struct cached *c)
{
	ssize_t put;

	while (c->dirty_from < c->dirty_to) {
		put = cached_put(c, c->dirty_from, c->buf + c->dirty_from,
				 c->dirty_to - c->dirty_from);
		if (put < 0)
			return -1;
		c->dirty_from += put;
	}
	c->view.dirty = 0;
	return 0;
}

/* Have the device hold what the buffer has, if it can. */
void cached_keep(struct cached *c)
{
	struct desc d;

	if (c->buf && !c->view.dirty && c->known && cached_desc(c, &d))
		region_keep(&d, c->version, c->buf);
}

/* Read or write a region that has no buffer. */
ssize_t cached_read_around(struct cached *c, off_t at, void *buf, size_t len)
{
	cached_open(c);
	return cached_get(c, at, buf, len, true) ? -1 : (ssize_t)len;
}

ssize_t cached_write_around(struct cached *c, off_t at, const void *buf, size_t len)
{
	cached_open(c);
	return cached_put(c, at, buf, len);
}
