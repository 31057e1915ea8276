// SPDX-License-Identifier: GPL-2.0
/*
 * The device that keeps regions: whole pages, past the page cache.
 *
 * Page 0 has a label with the name of the directory that the device's pages belong to. A new
 * directory takes a device only if that has a label of the library, or nothing that could be
 * anything else's, and if no process has it attached: each holds a shared lock (flock) on it.
 * Only nswap's devices are taken, and, for tests, regular files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define LABEL "libnswap regions\n"
#define EDGE_PAGES 256u		/* where file systems, swap, RAID and others have their labels */
#define CLAIM_TRIES 100		/* of 10 ms: tools that look at new devices lock them shortly */

struct label {
	char text[24];
	uint8_t name[16];
	uint8_t zero[PAGE - 40];
};

void *page_alloc(size_t pages)
{
	return aligned_alloc(PAGE, pages * PAGE);
}

static int store_fail(int fd, int error)
{
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

/* A disk of this kernel is known by boot and sequence number, which is never used twice. */
static int store_identify(int fd, struct ident *ident, const struct stat *st)
{
	uint64_t bytes = st->st_size;
	struct statx more = { 0 };
	FILE *boot;

	memset(ident, 0, sizeof(*ident));
	if (S_ISBLK(st->st_mode)) {
		if (ioctl(fd, BLKGETSIZE64, &bytes) || ioctl(fd, BLKGETDISKSEQ, &ident->disk))
			return -1;
		boot = fopen("/proc/sys/kernel/random/boot_id", "re");
		if (!boot)
			return -1;
		if (!fgets(ident->boot, sizeof(ident->boot), boot))
			ident->boot[0] = 0;
		fclose(boot);
	} else {
		ident->disk = st->st_ino;
		if (!statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more))
			ident->made = more.stx_btime.tv_sec * 1000000000ull +
				      more.stx_btime.tv_nsec;
	}
	ident->pages = bytes / PAGE;
	if (ident->pages < 2 || ident->pages > UINT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* The kernel's name of an nswap device, or a file's own; 0, or -1 with EINVAL. */
static int store_name(const char *path, const struct stat *st, char name[PATH_BYTES])
{
	char link[64], *full;
	unsigned int number;
	ssize_t len;
	int end = 0;

	if (S_ISREG(st->st_mode)) {
		full = realpath(path, NULL);
		snprintf(name, PATH_BYTES, "%s", full ? strrchr(full, '/') + 1 : "");
		free(full);
		return *name ? 0 : -1;
	}
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st->st_rdev),
		 minor(st->st_rdev));
	len = S_ISBLK(st->st_mode) ? readlink(link, name, PATH_BYTES - 1) : -1;
	name[len > 0 ? len : 0] = 0;
	full = strrchr(name, '/');
	full = full ? full + 1 : name;
	if (sscanf(full, "nswap%u%n", &number, &end) == 1 && !full[end]) {
		memmove(name, full, strlen(full) + 1);
		return 0;
	}
	errno = EINVAL;
	return -1;
}

/**
 * store_open() - open the device
 * @path: an nswap device that is not mounted or swapped on, or a regular file
 * @ident: gets what it is
 * @st: gets whose it is
 * @name: gets the name that it has whatever the path
 *
 * Return: the descriptor, or -1 with errno.
 */
int store_open(const char *path, struct ident *ident, struct stat *st, char name[PATH_BYTES])
{
	int fd, probe;

	probe = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (probe < 0 || fstat(probe, st))
		return store_fail(probe, errno);
	close(probe);
	if (store_name(path, st, name))
		return -1;
	if (S_ISBLK(st->st_mode)) {
		probe = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
		if (probe < 0)
			return -1;
		close(probe);
	}
	fd = open(path, O_RDWR | O_CLOEXEC | (S_ISBLK(st->st_mode) ? O_DIRECT : 0));
	if (fd < 0 || store_identify(fd, ident, st))
		return store_fail(fd, errno);
	return fd;
}

/* Lock it, LOCK_SH for as long as it is attached; 0, or an errno. */
static int store_claim(int how)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int tries;

	for (tries = 0; tries < CLAIM_TRIES; tries++) {
		if (!flock(lib.dev, how | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return errno;
		nanosleep(&pause, NULL);
	}
	return EBUSY;
}

/* Are these pages zeros? 0, EEXIST, or what it was that failed. */
static int store_zeros(uint32_t first, uint32_t pages)
{
	char *buf = page_alloc(pages);
	int error = ENOMEM;

	if (buf && store_read(first, pages, buf))
		error = EIO;
	else if (buf)
		error = *buf || memcmp(buf, buf + 1, (size_t)pages * PAGE - 1) ? EEXIST : 0;
	free(buf);
	return error;
}

/* Has it nothing that could be of any other use? 0, or an errno. A file must be one hole. */
static int store_empty(void)
{
	uint32_t all = lib.head->ident.pages, edge = all < EDGE_PAGES ? all : EDGE_PAGES;
	int error;

	if (lib.is_file)
		return lseek(lib.dev, 0, SEEK_DATA) < 0 && errno == ENXIO ? 0 : EEXIST;
	error = store_zeros(0, edge);
	return error ? error : store_zeros(all - edge, edge);
}

/* May a page 0 that has this be labelled? 0, or an errno. */
static int label_judge(const struct label *page, const struct label *want, bool fresh)
{
	static const struct label zero;

	if (!memcmp(page, &zero, sizeof(zero)))
		return fresh ? store_empty() : 0;
	if (fresh && !memcmp(page->text, want->text, sizeof(page->text)))
		return 0;
	return EEXIST;
}

/* See that page 0 has the label; 0, or an errno. */
static int label_put(struct label *page, const struct label *want, bool fresh)
{
	int error = fresh ? EIO : 0;

	if (!store_read(0, 1, page)) {
		if (!memcmp(page, want, sizeof(*want)))
			return 0;
		error = label_judge(page, want, fresh);
	}
	if (error)
		return error;
	if (fresh)
		store_discard(0, lib.head->ident.pages);
	store_write(0, 1, want);
	return 0;
}

/**
 * store_label() - see that the device is this directory's, and stays it
 * @fresh: the directory is new: it takes a device that has nothing on it, or what a
 *	directory that is gone has left there, if no process has it attached
 *
 * A label that was lost with a peer is written again.
 *
 * Return: 0, or -1 with EEXIST, EBUSY (attached with another directory), EIO (what is on it
 * cannot be read) or ENOMEM.
 */
int store_label(bool fresh)
{
	struct label *page = page_alloc(1), *want = page_alloc(1);
	int error = ENOMEM;

	if (page && want) {
		memset(want, 0, sizeof(*want));
		strcpy(want->text, LABEL);
		memcpy(want->name, lib.head->label, sizeof(want->name));
		error = store_claim(fresh ? LOCK_EX : LOCK_SH);
		if (!error)
			error = label_put(page, want, fresh);
		if (!error && fresh)
			error = store_claim(LOCK_SH);
	}
	free(page);
	free(want);
	errno = error;
	return error ? -1 : 0;
}

/* Adjacent pages in one request; 0, or -1. */
int store_read(uint32_t page, uint32_t pages, void *buf)
{
	ssize_t got = pread(lib.dev, buf, (size_t)pages * PAGE, (off_t)page * PAGE);

	return got == (ssize_t)pages * PAGE ? 0 : -1;
}

int store_write(uint32_t page, uint32_t pages, const void *buf)
{
	ssize_t put = pwrite(lib.dev, buf, (size_t)pages * PAGE, (off_t)page * PAGE);

	return put == (ssize_t)pages * PAGE ? 0 : -1;
}

/* Peers get their RAM back. What fails here is overwritten by the next region. */
void store_discard(uint32_t page, uint32_t pages)
{
	uint64_t range[2] = { (uint64_t)page * PAGE, (uint64_t)pages * PAGE };

	if (lib.is_file)
		fallocate(lib.dev, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, range[0], range[1]);
	else
		ioctl(lib.dev, BLKDISCARD, range);
}
