// SPDX-License-Identifier: GPL-2.0
/*
 * The directory: a file that all programs that use the device have mapped.
 *
 * It says which regions there are, where they are on the device, and what their data must be.
 * It is believed as long as the device is the one it was made for; else another file takes its
 * place. Its magic number is written first, as that of one half made, and last; a file without
 * one is not the library's and is left alone. Whatever is touched in the mapping has its room in
 * the file before, since a file system that is full would be a signal there: that of entries of
 * regions comes piece by piece.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib.h"

#define MAGIC 0x69646e6177736e01ull
#define MAGIC_HALF 0x69646e6177736e00ull
#define VERSION 2
#define GROW 1024u		/* regions */

struct layout {
	uint32_t regions, buckets;
	size_t file, bucket, region, bitmap, sum, end;
};

static struct layout dir_layout(uint64_t pages)
{
	struct layout l;

	l.regions = pages / 2 + 2;
	l.buckets = l.regions;
	l.file = PAGE;
	l.bucket = l.file + FILES * sizeof(struct dir_file);
	l.region = l.bucket + l.buckets * sizeof(uint32_t);
	l.region += -l.region % 8;
	l.bitmap = l.region + l.regions * sizeof(struct dir_region);
	l.sum = l.bitmap + (pages / 64 + 1) * sizeof(uint64_t);
	l.end = l.sum + pages * sizeof(uint64_t);
	l.end += -l.end % PAGE;
	return l;
}

uint64_t page_sum(const void *page)
{
	uint64_t sum;

	crypto_shorthash((unsigned char *)&sum, page, PAGE, lib.head->key);
	return sum ? sum : 1;
}

static void dir_clear_lists(void)
{
	uint32_t i;

	memset(lib.bucket, 0, lib.head->buckets * sizeof(*lib.bucket));
	memset(lib.bitmap, 0, (lib.head->ident.pages / 64 + 1) * sizeof(*lib.bitmap));
	lib.bitmap[0] = 1;
	lib.head->free_region = 0;
	lib.head->hint = 1;
	for (i = 0; i < FILES; i++) {
		lib.file[i].nr_regions = 0;
		lib.file[i].first = 0;
	}
}

/* Put these entries into the lists, in order. */
static void dir_list(uint32_t first, uint32_t end)
{
	uint32_t i;

	for (i = end - 1; i >= first; i--) {
		struct dir_region *r = &lib.region[i];

		if (r->used) {
			space_mark(r);
			region_link(i);
		} else {
			r->next_hash = lib.head->free_region;
			lib.head->free_region = i;
		}
	}
}

/* Make all lists again from the entries; one that was being freed stays unused. */
void dir_rebuild(void)
{
	dir_clear_lists();
	dir_list(1, lib.head->ready);
}

/* Room for more regions; false if there is none. Under the directory's lock. */
bool dir_grow(void)
{
	uint32_t first = lib.head->ready, end = first + GROW;
	size_t at = (uint8_t *)&lib.region[first] - (uint8_t *)lib.head;

	if (end > lib.head->regions)
		end = lib.head->regions;
	if (first == end || posix_fallocate(lib.dir, at, (end - first) * sizeof(*lib.region)))
		return false;
	lib.head->ready = end;
	dir_list(first, end);
	return true;
}

static int dir_map(const struct layout *l)
{
	uint8_t *at = mmap(NULL, l->end, PROT_READ | PROT_WRITE, MAP_SHARED, lib.dir, 0);

	if (at == MAP_FAILED)
		return -1;
	lib.map_bytes = l->end;
	lib.head = (void *)at;
	lib.file = (void *)(at + l->file);
	lib.bucket = (void *)(at + l->bucket);
	lib.region = (void *)(at + l->region);
	lib.bitmap = (void *)(at + l->bitmap);
	lib.sum = (void *)(at + l->sum);
	return 0;
}

/* A new directory, all zeros, for this device. */
static int dir_make(const struct ident *ident, const struct layout *l, const struct stat *owner)
{
	const uint64_t half = MAGIC_HALF;
	bool grouped;

	if (pwrite(lib.dir, &half, sizeof(half), 0) != sizeof(half))
		return -1;
	grouped = !fchown(lib.dir, -1, owner->st_gid);
	if (!grouped && !geteuid())
		return -1;
	if (fchmod(lib.dir, (grouped ? owner->st_mode & 0060 : 0) | 0600) ||
	    ftruncate(lib.dir, l->end))
		return -1;
	errno = posix_fallocate(lib.dir, 0, l->region + sizeof(struct dir_region));
	if (!errno)
		errno = posix_fallocate(lib.dir, l->bitmap, l->end - l->bitmap);
	if (errno || dir_map(l))
		return -1;
	lib.head->version = VERSION;
	lib.head->ident = *ident;
	lib.head->regions = l->regions;
	lib.head->buckets = l->buckets;
	lib.head->ready = 1;
	if (getrandom(lib.head->key, sizeof(lib.head->key), 0) < 0 ||
	    getrandom(lib.head->label, sizeof(lib.head->label), 0) < 0)
		return -1;
	dir_rebuild();
	if (store_label(true))
		return -1;
	__atomic_store_n(&lib.head->magic, MAGIC, __ATOMIC_SEQ_CST);
	return 0;
}

static bool dir_is_of(const struct ident *ident, const struct layout *l)
{
	struct dir_head head;

	return pread(lib.dir, &head, sizeof(head), 0) == sizeof(head) && head.magic == MAGIC &&
	       head.version == VERSION && !memcmp(&head.ident, ident, sizeof(*ident)) &&
	       lseek(lib.dir, 0, SEEK_END) == (off_t)l->end;
}

/* Was it made by the library, for whichever device? */
static bool dir_is_ours(void)
{
	uint64_t magic;

	return pread(lib.dir, &magic, sizeof(magic), 0) == sizeof(magic) &&
	       (magic == MAGIC || magic == MAGIC_HALF);
}

/* Has the file been replaced by another program since it was opened? */
static bool dir_replaced(const char *path)
{
	struct stat mine, there;

	return fstat(lib.dir, &mine) || stat(path, &there) || mine.st_ino != there.st_ino ||
	       mine.st_dev != there.st_dev;
}

/* 0: done; 1: once more; -1: errno. The lock is that of the file that is open. */
static int dir_try(const char *path, const struct ident *ident, const struct stat *owner)
{
	struct layout l = dir_layout(ident->pages);
	struct stat st;

	if (dir_replaced(path))
		return 1;
	if (dir_is_of(ident, &l)) {
		if (dir_map(&l))
			return -1;
		if (lib.head->dirty)
			dir_rebuild();
		return store_label(false);
	}
	if (fstat(lib.dir, &st))
		return -1;
	if (!st.st_size)
		return dir_make(ident, &l, owner);
	if (!dir_is_ours()) {
		errno = EEXIST;
		return -1;
	}
	return unlink(path) ? -1 : 1;
}

/**
 * dir_open() - open the device's directory, or make it
 * @path: its file
 * @ident: the device that it must be of
 * @owner: whose group and rights a new one gets
 *
 * Return: 0, or -1 with errno.
 */
int dir_open(const char *path, const struct ident *ident, const struct stat *owner)
{
	char folder[PATH_BYTES];
	int done, error;

	strncpy(folder, path, sizeof(folder) - 1);
	folder[sizeof(folder) - 1] = 0;
	mkdir(dirname(folder), 0755);
	do {
		lib.dir = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lib.dir < 0)
			return -1;
		done = dir_lock();
		if (!done) {
			done = dir_try(path, ident, owner);
			error = errno;
			dir_unlock();
			errno = error;
		}
		if (done) {
			error = errno;
			dir_close();
			errno = error;
		}
	} while (done > 0);
	return done;
}

void dir_close(void)
{
	if (lib.head)
		munmap(lib.head, lib.map_bytes);
	lib.head = NULL;
	if (lib.dir >= 0)
		close(lib.dir);
	lib.dir = -1;
}
