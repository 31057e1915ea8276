/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libnswap: regions of files in peers' RAM, after the Dodo paper.
 *
 * A region is a part of a file, kept a second time on a droppable nswap device. The file
 * always has all that was written; a region that is lost is an error, never wrong data.
 * nswap/dodo.h has the paper's names for these calls. docs/libnswap.md says which call fails
 * how. All functions may be called by several threads at once; those that fail return -1 and
 * set errno.
 */
#ifndef NSWAP_NSWAP_H
#define NSWAP_NSWAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSWAP_LIB_API 0		/* of libnswap.so.0 */

/**
 * nswap_attach() - use a device from now on
 * @device: an nswap device (or, for tests, a regular file that is one hole); NULL: $NSWAP_DEVICE
 * @directory: the file that says which regions there are; NULL: $NSWAP_DIRECTORY, else
 *	/run/nswap/NAME.regions with the device's name
 *
 * The first call that needs the device does this by itself. Attached to the same device
 * already, nothing happens.
 *
 * Return: 0, or -1 with ENODEV (none named), EBUSY (another one is attached, or it is mounted,
 * swapped on or used with another directory), EEXIST (the device has other data on it, or the
 * directory's file is another's), EINVAL (too small, or of no kind that can be used), EIO (what
 * is on it cannot be read), or what opening the device or the directory gave.
 */
int nswap_attach(const char *device, const char *directory);

/* -- regions, Figure 3 of the paper ------------------------------------------------ */

/**
 * nswap_mopen() - open a region of a file, the one that is there or a new one
 * @len: bytes of it
 * @fd: the file, open for writing; it may be closed afterwards
 * @offset: where the region begins in the file
 *
 * A region that was left in peers' RAM for the same file, offset and length is found again,
 * if only this library has changed the file since. Other regions that overlap it are freed.
 *
 * Return: a descriptor, or -1 with ENOMEM (no memory, or no device) or EINVAL (a bad file, an
 * offset below 0, a length of 0).
 */
int nswap_mopen(size_t len, int fd, off_t offset);

/**
 * nswap_mread() - read from a region
 * @region: from nswap_mopen() or nswap_alloc()
 * @offset: where in the region
 * @buffer: gets the bytes
 * @len: how many; at the region's end fewer are read
 *
 * What nothing has been put into yet is read from the file, and put into the region.
 *
 * Return: bytes read, or -1 with ENOMEM (the region is not active: a bad descriptor, lost with
 * a peer, reclaimed, or the file was changed by others), EINVAL (an offset beyond the end, a bad
 * buffer), or what reading the file gave.
 */
ssize_t nswap_mread(int region, off_t offset, void *buffer, size_t len);

/**
 * nswap_mwrite() - write to the file and to a region
 * @region: from nswap_mopen() or nswap_alloc()
 * @offset: where in the region
 * @buffer: the bytes
 * @len: how many; at the region's end fewer are written
 *
 * Return: bytes written, or -1 with ENOMEM (not active, as above; the file may have been
 * written), EINVAL (as above), or what writing the file gave.
 */
ssize_t nswap_mwrite(int region, off_t offset, const void *buffer, size_t len);

/**
 * nswap_mclose() - free a region, for all that have it open
 * @region: its descriptor
 *
 * Return: 0, or -1 with EINVAL (a bad descriptor, or the region was lost or freed already; the
 * descriptor is gone in any case).
 */
int nswap_mclose(int region);

/**
 * nswap_mleave() - forget a descriptor and leave the region to whichever program opens it next
 * @region: its descriptor
 *
 * The end of a program does the same for all of its regions. The last one of a file that was just
 * written waits up to 25 ms, until a change of others would be seen by the file's times.
 *
 * Return: 0, or -1 with EINVAL (a bad descriptor).
 */
int nswap_mleave(int region);

/**
 * nswap_msync() - wait until all of a region is on the file's disk
 * @region: its descriptor; also one whose region is lost
 *
 * Return: 0, or -1 with EINVAL (a bad descriptor) or what fdatasync() gave.
 */
int nswap_msync(int region);

/* -- blocks without a file, from Nswap's future work -------------------------------- */

/**
 * nswap_alloc() - allocate blocks in peers' RAM, without a file
 * @len: bytes
 *
 * They read as zeros until written, with nswap_mread() and nswap_mwrite(), and are freed with
 * nswap_free() or when the process ends. Nothing but peers' RAM has what is written here, unless
 * nswap_place() brought it elsewhere: what is lost with a peer is lost.
 *
 * Return: a descriptor, or -1 with ENOMEM or EINVAL (a length of 0).
 */
int nswap_alloc(size_t len);

/**
 * nswap_free() - free blocks
 * @region: from nswap_alloc()
 *
 * Return: as nswap_mclose().
 */
int nswap_free(int region);

/* Where pages may be, of devices that have it. */
enum {
	NSWAP_PLACE_RAM,	/* of peers */
	NSWAP_PLACE_FLASH,
	NSWAP_PLACE_HOME,
};

/**
 * nswap_place() - bring the pages of blocks, or of a region, to a tier of the device
 * @region: from nswap_alloc() or nswap_mopen()
 * @tier: NSWAP_PLACE_RAM and so on
 *
 * They are read and written as before, meanwhile too. What is placed at home, on the device's
 * own disk, is readable when every peer is dead, and stays there until it is written again,
 * placed elsewhere or prefetched. It is no file: when this machine reboots, or the process
 * ends, blocks are gone from home too. Sleeps until all has been tried.
 *
 * Return: how many pages are elsewhere, because they changed meanwhile, there is no room, or
 * something does not answer; 0 if what was written is all there. -1 with ENOMEM (not active, as
 * above), EINVAL (no tier), ENODEV (the device has no such tier), EOPNOTSUPP (parity protects
 * it), EINTR (a signal came, and pages may have moved) or EIO (the device is being deleted).
 */
ssize_t nswap_place(int region, int tier);

/* -- regions behind a cache in local memory, Figure 4 -------------------------------- */

/* Replacement policies; nswap_policy_add() has numbers for more. */
enum {
	NSWAP_LRU,
	NSWAP_MRU,
	NSWAP_FIRST_IN,		/* what is in the cache stays there */
};

/* When what is written goes to the file. */
enum {
	NSWAP_WRITE_BACK,	/* when it leaves the cache, is synced or closed */
	NSWAP_WRITE_THROUGH,	/* at once */
};

/* A region in the local cache, as policies see it. */
struct nswap_cached {
	struct nswap_cached *next, *prev;
	size_t len;
	int region;		/* descriptor */
	int dirty;		/* not all of it is in the file */
	uint64_t reads, writes;	/* since it is in the cache */
	void *priv;		/* the policy's; NULL at first */
};

/* The local cache, in the order in which regions came or nswap_cache_last() put them. */
struct nswap_cache_dir {
	struct nswap_cached *first, *last;
	size_t used, size;	/* bytes */
};

/* A replacement policy. Its functions are called one at a time and may not call the library
 * but for nswap_cache_last().
 */
struct nswap_policy {
	const char *name;
	/* (optional) the region, which is in the cache, is read or written */
	void (*on_read)(struct nswap_cache_dir *dir, struct nswap_cached *region);
	void (*on_write)(struct nswap_cache_dir *dir, struct nswap_cached *region);
	/* (required) which region to put out next; NULL: none, the newcomer stays out */
	struct nswap_cached *(*reclaim)(struct nswap_cache_dir *dir);
	/* (optional) the region leaves the cache */
	void (*gone)(struct nswap_cached *region);
};

/* Put a region of the cache's list last. */
void nswap_cache_last(struct nswap_cache_dir *dir, struct nswap_cached *region);

/**
 * nswap_policy_add() - make a policy known
 * @policy: must stay where it is
 *
 * Return: its number for nswap_cset_policy(), or -1 with EINVAL (no name or no reclaim) or
 * ENOSPC (16 policies at most).
 */
int nswap_policy_add(const struct nswap_policy *policy);

/* Choose the policy by number; 0, or -1 with EINVAL. LRU unless told otherwise. */
int nswap_cset_policy(int policy);

/* NSWAP_WRITE_BACK (the default) or NSWAP_WRITE_THROUGH; 0, or -1 with EINVAL. */
int nswap_cset_write(int mode);

/**
 * nswap_cset_size() - how much local memory the cache may use
 * @bytes: default $NSWAP_CACHE (as 64M), else 80 MiB, the paper's
 *
 * Return: 0, or -1 with what putting regions out gave.
 */
int nswap_cset_size(size_t bytes);

/* As the calls with m, behind the cache. A region that is lost is read from its file, so
 * ENOMEM here is of local memory or a bad descriptor.
 */
int nswap_copen(size_t len, int fd, off_t offset);
ssize_t nswap_cread(int region, off_t offset, void *buffer, size_t len);
ssize_t nswap_cwrite(int region, off_t offset, const void *buffer, size_t len);
int nswap_cclose(int region);
/* Blocks until the region is in peers' RAM, if they have room, and on disk. */
int nswap_csync(int region);
/* As nswap_mleave(); what is in the local cache is put into peers' RAM before. */
int nswap_cleave(int region);

/* -- what there is ------------------------------------------------------------------ */

/* What the library did in this process. */
struct nswap_counts {
	uint64_t remote_pages;	/* read from the device, verified */
	uint64_t stored_pages;	/* written to the device */
	uint64_t file_bytes;	/* read from files */
	uint64_t local_hits;	/* cread that found its region in the cache */
	uint64_t local_misses;
	uint64_t lost_regions;	/* unreadable or with a wrong checksum */
	uint64_t changed_files;	/* changed by others */
	uint64_t found_regions;	/* found again by mopen */
	uint64_t store_failures;
};

void nswap_counts(struct nswap_counts *counts);

/* A region in the directory. */
struct nswap_region_info {
	uint64_t offset, len;
	uint64_t valid_bytes;	/* that peers' RAM has, as far as is known */
	uint64_t dev, ino;	/* of the file; 0: blocks without one */
	int pid;		/* of blocks without a file */
	char path[256];		/* of the file when it was opened; may be cut off */
};

/**
 * nswap_regions() - walk through the directory
 * @each: is called for each region; returns 0 to go on, 1 to free the region and go on, -1 to
 *	stop. It may not call the library.
 * @arg: for it
 *
 * Return: how many regions it was called for, or -1 with what nswap_attach() gives.
 */
int nswap_regions(int (*each)(const struct nswap_region_info *info, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
