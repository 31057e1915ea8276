// SPDX-License-Identifier: GPL-2.0
/*
 * The device that keeps regions: whole pages, past the page cache.
 *
 * Page 0 has a label with the name of the directory that the device's pages belong to, so two
 * directories never share a device, and what was put there by others is not overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib.h"

#define LABEL "libnswap regions\n"

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

/**
 * store_open() - open the device
 * @path: a block device that is not mounted or swapped on, or a regular file
 * @ident: gets what it is
 * @st: gets whose it is
 *
 * Return: the descriptor, or -1 with errno.
 */
int store_open(const char *path, struct ident *ident, struct stat *st)
{
	int fd, probe;

	probe = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (probe < 0 || fstat(probe, st))
		return store_fail(probe, errno);
	close(probe);
	if (!S_ISBLK(st->st_mode) && !S_ISREG(st->st_mode))
		return store_fail(-1, EINVAL);
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

/* What page 0 has: 0 if it may be labelled, EEXIST if it is another's. */
static int label_judge(const struct label *page, const struct label *want, bool fresh)
{
	static const struct label zero;

	if (!memcmp(page, &zero, sizeof(zero)))
		return 0;
	if (fresh && !memcmp(page->text, want->text, sizeof(page->text)))
		return 0;
	return EEXIST;
}

/**
 * store_label() - see that the device is this directory's
 * @fresh: the directory is new: it takes a device that has nothing on it, or what a
 *	directory that is gone has left there
 *
 * A label that was lost with a peer is written again.
 *
 * Return: 0, or -1 with EEXIST or ENOMEM.
 */
int store_label(bool fresh)
{
	struct label *page = page_alloc(1), *want = page_alloc(1);
	int error = ENOMEM;

	if (page && want) {
		memset(want, 0, sizeof(*want));
		strcpy(want->text, LABEL);
		memcpy(want->name, lib.head->label, sizeof(want->name));
		error = 0;
		if (store_read(0, 1, page) || memcmp(page, want, sizeof(*want))) {
			if (!store_read(0, 1, page))
				error = label_judge(page, want, fresh);
			if (!error && fresh)
				store_discard(0, lib.head->ident.pages);
			if (!error)
				store_write(0, 1, want);
		}
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
