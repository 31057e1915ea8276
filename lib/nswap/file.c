// SPDX-License-Identifier: GPL-2.0
/*
 * Files that have regions, and whether others have changed them.
 *
 * The library takes a file's size and times after each of its own writes; when they are others
 * another program changed the file, and none of its regions is believed any more. Times
 * have the grain of the kernel's clock: a stamp that was looked at in the tick in which the
 * file was changed could miss a change behind it. Once the program that wrote last has ended it
 * is trusted only if it was looked at later too, which the end of a program sees to. Some file
 * systems have whole seconds or two, and in others the times are of a server's clock, which
 * says nothing about this machine's: there is no late enough then.
 *
 * Functions with a file's number are called under the directory's lock; file_stamp() and
 * file_drop() under the file's too. A look is taken before the directory is locked, since a
 * file's server that does not answer should stop none but those who use the file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define SECOND_NS 1000000000
#define TICK_NS 12000000	/* the longest of a kernel, and some more */
#define NO_TICK INT64_MAX	/* the clock is another's */

static int64_t stamp_ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

void stamp_of(const struct stat *st, struct stamp *stamp)
{
	stamp->mtime_ns = stamp_ns(&st->st_mtim);
	stamp->ctime_ns = stamp_ns(&st->st_ctim);
	stamp->size = st->st_size;
}

bool stamp_equal(const struct stamp *a, const struct stamp *b)
{
	return a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->size == b->size;
}

/* The file's number; NO_FILE if it is not known. */
uint32_t file_find(const struct stat *st)
{
	uint32_t i;

	for (i = 1; i < FILES; i++) {
		if (lib.file[i].ino == st->st_ino && lib.file[i].dev == st->st_dev &&
		    lib.file[i].nr_regions)
			return i;
	}
	return NO_FILE;
}

/* The grain of the times of a file that is opened. */
int64_t file_tick(int fd)
{
	static const uint32_t served[] = {
		0x00006969,	/* NFS */
		0x0000517b,	/* SMB */
		0xff534d42,	/* CIFS */
		0xfe534d42,	/* SMB 2 */
		0x00c36400,	/* Ceph */
		0x01021997,	/* 9P */
		0x5346414f,	/* AFS */
		0x6b414653,	/* AFS, the kernel's */
		0x73757245,	/* Coda */
		0x65735546,	/* FUSE */
		0x0bd00bd0,	/* Lustre */
		0x7461636f,	/* OCFS2 */
		0x01161970,	/* GFS2 */
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return NO_TICK;
	for (i = 0; i < sizeof(served) / sizeof(*served); i++) {
		if ((uint32_t)fs.f_type == served[i])
			return NO_TICK;
	}
	return TICK_NS;
}

/* A number for a file that has none; NO_FILE if there are too many files. */
uint32_t file_add(int fd, const struct look *look, int64_t tick)
{
	struct dir_file *f;
	char link[32];
	ssize_t len;
	uint32_t i;

	for (i = 1; i < FILES && lib.file[i].nr_regions; i++)
		;
	if (i == FILES)
		return NO_FILE;
	f = &lib.file[i];
	f->dev = look->st.st_dev;
	f->ino = look->st.st_ino;
	f->tick_ns = tick;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, f->path, sizeof(f->path) - 1);
	f->path[len > 0 ? len : 0] = 0;
	file_stamp(i, look);
	return i;
}

void file_look(int fd, struct look *look)
{
	look->ns = lib_now(CLOCK_REALTIME_COARSE);
	look->done = fd >= 0 && !fstat(fd, &look->st);
}

/* Was the file as the library left it? Then it was so at that time. */
bool file_same(uint32_t file, const struct look *look)
{
	struct dir_file *f = &lib.file[file];
	struct stamp now;

	if (file == NO_FILE)
		return true;
	if (!look->done)
		return false;
	stamp_of(&look->st, &now);
	if (f->dev != look->st.st_dev || f->ino != look->st.st_ino ||
	    !stamp_equal(&f->stamp, &now))
		return false;
	if (f->stamped_ns < look->ns)
		f->stamped_ns = look->ns;
	return true;
}

/* Was the last look so late that a change behind it has another time? */
static bool file_aged(uint32_t file)
{
	const struct dir_file *f = &lib.file[file];

	int64_t tick = f->tick_ns;

	if (tick == TICK_NS && f->stamp.ctime_ns % SECOND_NS == 0)
		tick += 2ll * SECOND_NS;
	return f->stamped_ns - f->stamp.ctime_ns > tick;
}

/* Would a change behind the last look have been seen? */
bool file_trusted(uint32_t file)
{
	const struct dir_file *f = &lib.file[file];

	return file_aged(file) || process_lives(&f->writer);
}

/*
 * Wait until a look is late enough, if it was this process that wrote last. Under no lock; a
 * wrong guess costs a wait, or that the regions are not found again.
 */
void file_settle(uint32_t file)
{
	const struct timespec part = { .tv_nsec = TICK_NS / 4 };
	const struct dir_file *f = &lib.file[file];
	int i;

	if (file == NO_FILE || !f->nr_regions || f->tick_ns == NO_TICK ||
	    !process_same(&f->writer, &lib.self))
		return;
	/* the clock, which has the grain too, may be a tick late itself */
	for (i = 0; i < 8 && lib_now(CLOCK_REALTIME_COARSE) - f->stamp.ctime_ns <= TICK_NS; i++)
		nanosleep(&part, NULL);
}

/* The file was as it should be. */
void file_stamp(uint32_t file, const struct look *look)
{
	struct dir_file *f = &lib.file[file];

	f->stamped_ns = look->ns;
	f->writer = lib.self;
	if (look->done)
		stamp_of(&look->st, &f->stamp);
	else
		f->stamp.size = -1;
}

/* All regions of a file are freed. */
void file_drop(uint32_t file)
{
	while (lib.file[file].first)
		region_free(lib.file[file].first);
}

/* All of it, with zeros for what is behind the file's end. */
ssize_t file_read(int fd, void *buf, size_t len, off_t at)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < len && got > 0) {
		got = pread(fd, (char *)buf + done, len - done, at + done);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			return -1;
		else
			done += got;
	}
	memset((char *)buf + done, 0, len - done);
	COUNT(file_bytes, done);
	return len;
}

/* As much as can be written, or -1 if that is nothing. */
ssize_t file_write(int fd, const void *buf, size_t len, off_t at)
{
	size_t done = 0;
	ssize_t put;

	while (done < len) {
		put = pwrite(fd, (const char *)buf + done, len - done, at + done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return done ? (ssize_t)done : -1;
		done += put;
	}
	return done;
}
