// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: opening, closing, losing them.
 *
 * A descriptor is good while its region has the generation it was opened with. A region is
 * freed under its object's lock and the directory's, by mclose, when a page of it cannot be
 * read or is not what was written, when another region takes its place, and with all of its
 * file's when others have changed the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib.h"

/* What the paper has mopen refuse; 0, or -1 with EINVAL. */
int region_args(size_t len, int fd, off_t offset, struct stat *st)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & (O_APPEND | O_PATH | O_DIRECT)) &&
	    len && offset >= 0 && len <= INT64_MAX && offset <= (off_t)(INT64_MAX - len) &&
	    !fstat(fd, st) && S_ISREG(st->st_mode))
		return 0;
	errno = EINVAL;
	return -1;
}

/*
 * May this byte be written, which is about to be, or read? A system call does it, and says if it
 * cannot: that of the C library might do that itself, and be no system call. The one that reads
 * takes a set of signals, and then does nothing with it, as there is no such thing to be done.
 */
static bool byte_ok(const char *at, bool into)
{
	const char *set = (const char *)((uintptr_t)at & ~(uintptr_t)7);
	long done = into ? syscall(SYS_getrandom, at, 1, GRND_NONBLOCK) :
			   syscall(SYS_rt_sigprocmask, ~0, set, NULL, 8);

	return done >= 0 || errno != EFAULT;
}

/* May each page of a buffer be written, or read? */
static bool pages_ok(const char *buf, size_t len, bool into)
{
	size_t at, next;

	for (at = 0; at < len; at = next) {
		next = at + PAGE - (uintptr_t)(buf + at) % PAGE;
		if (!byte_ok(buf + at, into))
			return false;
	}
	return true;
}

/* Can the buffer be used? Memory that the kernel cannot say that of, as a device's, is tried. */
static bool buffer_ok(const void *buf, size_t len, bool into)
{
	uintptr_t first = (uintptr_t)buf & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = (uintptr_t)buf + len;
	int error = errno, done;

	if (!buf || end < (uintptr_t)buf)
		return false;
	done = madvise((void *)first, end - first, into ? MADV_POPULATE_WRITE :
							 MADV_POPULATE_READ);
	if (done && (errno == ENOMEM || errno == EFAULT))
		return false;
	if (done && !pages_ok(buf, len, into))
		return false;
	errno = error;
	return true;
}

/* How much of a request lies in a region of this size, or -1 with EINVAL. */
ssize_t region_clip(uint64_t size, off_t offset, const void *buf, size_t len, bool into)
{
	if (offset < 0 || (uint64_t)offset >= size || len > SSIZE_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (len > size - offset)
		len = size - offset;
	if (len && !buffer_ok(buf, len, into)) {
		errno = EINVAL;
		return -1;
	}
	return len;
}

/* The lock that a region's data is under. */
static uint32_t desc_object(const struct desc *d)
{
	return d->file == NO_FILE ? FILES + d->region : d->file;
}

/* Is it the region that was opened? Under the directory's lock. */
struct dir_region *region_current(const struct desc *d)
{
	struct dir_region *r = &lib.region[d->region];

	return r->used && r->gen == d->gen ? r : NULL;
}

/* Was a file changed by others? Then its regions go. Under both locks. */
static void region_check_file(const struct desc *d, const struct look *look)
{
	if (!region_current(d) || file_same(d->file, look))
		return;
	COUNT(changed_files, 1);
	file_drop(d->file);
}

/* As region_look(), for one that has the object's lock. */
struct dir_region *region_look_locked(const struct desc *d)
{
	struct dir_region *r = NULL;
	struct look look;

	file_look(d->fd, &look);
	if (!dir_lock()) {
		region_check_file(d, &look);
		r = region_current(d);
		if (!r)
			dir_unlock();
	}
	if (!r)
		errno = ENOMEM;
	return r;
}

/*
 * Lock the directory and look at a region; NULL with ENOMEM if it is not active, and the
 * directory is not locked then. A file that differs may just be written by the library, which
 * is known once its lock is free.
 */
struct dir_region *region_look(const struct desc *d)
{
	struct dir_region *r;
	struct look look;

	file_look(d->fd, &look);
	if (dir_lock()) {
		errno = ENOMEM;
		return NULL;
	}
	r = region_current(d);
	if (r && file_same(d->file, &look))
		return r;
	dir_unlock();
	if (!r || object_lock(desc_object(d))) {
		errno = ENOMEM;
		return NULL;
	}
	r = region_look_locked(d);
	object_unlock(desc_object(d));
	return r;
}

/* Lock a region's data and see that it is active; 0, or -1 with ENOMEM. */
int region_lock(const struct desc *d)
{
	if (!object_lock(desc_object(d))) {
		if (region_look_locked(d)) {
			dir_unlock();
			return 0;
		}
		object_unlock(desc_object(d));
	}
	errno = ENOMEM;
	return -1;
}

void region_unlock(const struct desc *d)
{
	int error = errno;

	object_unlock(desc_object(d));
	errno = error;
}

/* What a region had is gone: it is freed, under no lock; errno is ENOMEM. */
void region_lost(const struct desc *d)
{
	if (!object_lock(desc_object(d))) {
		if (!dir_lock()) {
			if (region_current(d)) {
				COUNT(lost_regions, 1);
				region_free(d->region);
			}
			dir_unlock();
		}
		object_unlock(desc_object(d));
	}
	errno = ENOMEM;
}

/* Which writes a region has seen; 0, or -1 with ENOMEM. */
int region_version(const struct desc *d, uint32_t *version)
{
	const struct dir_region *r = region_look(d);

	if (!r)
		return -1;
	*version = r->version;
	dir_unlock();
	return 0;
}

/* The region for a file's range, found or made, under both locks; NO_REGION: no room. */
static uint32_t region_get(const struct desc *d)
{
	uint32_t i = region_find(d->file, d->offset, d->len);

	if (i) {
		COUNT(found_regions, 1);
		return i;
	}
	if (lib_refusing() || (d->len - 1) / PAGE + 1 >= lib.head->ident.pages)
		return NO_REGION;
	while (d->file != NO_FILE && (i = region_overlap(d->file, d->offset, d->len)))
		region_free(i);
	i = region_add(d->file, d->offset, d->len);
	if (!i) {
		region_reap();
		i = region_add(d->file, d->offset, d->len);
	}
	return i;
}

/*
 * The number of a file, under the directory's lock. A new one keeps its number only while it
 * has regions, so the caller makes one before the lock is free.
 */
static uint32_t region_file(int fd, const struct look *look, int64_t tick)
{
	uint32_t file = file_find(&look->st);

	return file ? file : file_add(fd, look, tick);
}

/* Fill in a descriptor's region; 0, or -1 with ENOMEM. */
static int region_open(struct desc *d)
{
	int64_t tick = file_tick(d->fd);
	uint32_t file, again;
	struct look look;

	do {
		file_look(d->fd, &look);
		if (!look.done || dir_lock())
			return -1;
		file = region_file(d->fd, &look, tick);
		dir_unlock();
		if (!file || object_lock(file))
			return -1;
		file_look(d->fd, &look);
		if (!look.done || dir_lock()) {
			object_unlock(file);
			return -1;
		}
		again = region_file(d->fd, &look, tick);
		if (again == file) {
			/* in this order: a look makes the stamp a later one */
			if (!file_trusted(file) || !file_same(file, &look))
				file_drop(file);
			if (!lib.file[file].nr_regions)
				file_stamp(file, &look);
			d->file = file;
			d->region = region_get(d);
			d->gen = lib.region[d->region].gen;
		}
		dir_unlock();
		object_unlock(file);
	} while (again != file);
	return d->region ? 0 : -1;
}

NSWAP_API int nswap_mopen(size_t len, int fd, off_t offset)
{
	struct desc d = { .offset = offset, .len = len };
	struct stat st;
	int number = -1;

	if (region_args(len, fd, offset, &st))
		return -1;
	if (!lib_ready()) {
		d.fd = held_get(fd, &st, &d.told);
		if (d.fd >= 0 && !region_open(&d))
			number = desc_add(&d);
		if (number < 0 && d.fd >= 0)
			held_put(d.fd);
	}
	if (number < 0)
		errno = ENOMEM;
	return number;
}

NSWAP_API int nswap_alloc(size_t len)
{
	struct desc d = { .fd = -1, .len = len };
	int number = -1;

	if (!len || len > INT64_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (!lib_ready() && !dir_lock()) {
		d.region = region_get(&d);
		d.gen = lib.region[d.region].gen;
		dir_unlock();
		if (d.region)
			number = desc_add(&d);
	}
	if (number < 0)
		errno = ENOMEM;
	return number;
}

/*
 * A descriptor that was taken lets its file go, when no call is writing it. The last of a file
 * looks at it once more, late enough that the next program can trust what it saw.
 */
static void region_put(const struct desc *d)
{
	struct look look;
	bool locked;

	if (held_last(d->fd))
		file_settle(d->file);
	locked = !object_lock(d->file);
	file_look(d->fd, &look);
	if (locked && !dir_lock()) {
		file_same(d->file, &look);
		dir_unlock();
	}
	held_put(d->fd);
	if (locked)
		object_unlock(d->file);
}

static int region_close(int number, bool file)
{
	struct desc d;
	bool active;

	if (!desc_get(number, &d) || (d.fd >= 0) != file || !desc_take(number, &d)) {
		errno = EINVAL;
		return -1;
	}
	active = !object_lock(desc_object(&d));
	if (active) {
		active = region_look_locked(&d);
		if (active) {
			region_free(d.region);
			dir_unlock();
		}
		object_unlock(desc_object(&d));
	}
	if (d.fd >= 0)
		region_put(&d);
	errno = EINVAL;
	return active ? 0 : -1;
}

NSWAP_API int nswap_mclose(int region)
{
	return region_close(region, true);
}

NSWAP_API int nswap_free(int region)
{
	return region_close(region, false);
}

NSWAP_API int nswap_mleave(int region)
{
	struct desc d;

	if (!desc_get(region, &d) || d.fd < 0 || !desc_take(region, &d)) {
		errno = EINVAL;
		return -1;
	}
	region_put(&d);
	return 0;
}

NSWAP_API int nswap_msync(int region)
{
	return desc_sync(region);
}
