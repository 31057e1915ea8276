/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of libnswap share.
 *
 * Locks, outermost first: cache (cache.c); a file's or an anonymous region's (lock.c); the
 * directory's (lock.c); the descriptor table's (desc.c). Between processes the first two but
 * one are record locks on the directory file, so they end with the process that holds them.
 *
 * What is true whenever the directory is not locked: regions of a file do not overlap; a
 * block's sum is 0 or of the very data that the file has there; a file's stamp is that of the
 * file after the library's last write, or the file was changed by others.
 */
#ifndef NSWAP_LIB_H
#define NSWAP_LIB_H

#include <nswap/nswap.h>
#include <stdbool.h>
#include <sys/stat.h>

#define NSWAP_API __attribute__((visibility("default")))

#define PAGE 4096u
#define RUN_PAGES 32u		/* of one request to the device */
#define EXTENTS 4
#define FILES 256u
#define PATH_BYTES 256
#define NO_REGION 0u		/* region 0 is not used */
#define NO_FILE 0u		/* file 0 is that of blocks without one */

/* -- the directory, as it is in its file: dir.c --------------------------------------- */

struct ident {			/* of a device; another one after it was deleted and added */
	char boot[40];
	uint64_t disk;		/* the disk's sequence number, or a file's inode */
	uint64_t made;		/* a file's time of birth */
	uint64_t pages;
};

struct process {		/* all zeros: not known */
	uint64_t born;			/* tells it from others of its number */
	int32_t pid;
	uint32_t space;			/* of its number: a namespace */
};

struct stamp {
	int64_t mtime_ns, ctime_ns, size;
};

struct dir_head {
	uint64_t magic;
	uint32_t version, dirty;	/* dirty: a holder of the lock may have died */
	struct ident ident;
	uint8_t key[16];		/* of the sums */
	uint8_t label[16];		/* what page 0 of the device has */
	uint32_t regions, buckets;
	uint32_t ready;			/* entries of regions that the file has room for */
	uint32_t free_region;		/* first of the unused */
	uint32_t hint;			/* page where the next search begins */
};

struct dir_file {
	uint64_t dev, ino;		/* ino 0: unused */
	struct stamp stamp;
	int64_t stamped_ns;		/* when the stamp was seen last */
	struct process writer;		/* the process that wrote last */
	int64_t tick_ns;		/* grain of its times */
	uint32_t nr_regions;
	uint32_t first;			/* list through next_of_file */
	uint64_t grain;			/* offsets and lengths are multiples of it */
	uint64_t longest;		/* region */
	char path[PATH_BYTES];
};

struct extent {
	uint32_t first, pages;
};

struct dir_region {
	uint32_t used;			/* the entry means something */
	uint32_t gen;			/* changes when it is freed */
	uint32_t file;
	uint32_t version;		/* changes with each write to it */
	uint32_t next_of_file, prev_of_file;
	uint32_t next_hash;		/* or the next unused one */
	uint32_t unused;
	struct process owner;		/* of blocks without a file */
	uint64_t offset, len;
	struct extent extent[EXTENTS];
};

/* -- the process's state: attach.c ---------------------------------------------------- */

struct lib {
	int dev;			/* -1: not attached */
	int dir;
	bool is_file;			/* the device is a regular file */
	bool ready;			/* attached: all of this may be used */
	struct process self;
	char device[PATH_BYTES];
	struct dir_head *head;		/* the mapped directory, and its parts */
	size_t map_bytes;
	uint32_t *bucket;
	struct dir_file *file;
	struct dir_region *region;
	uint64_t *bitmap;		/* a bit a page: used */
	uint64_t *sum;			/* of a page; 0: nothing is there */
	int64_t refuse_until;		/* monotonic ns: peers have no room */
	struct nswap_counts counts;
};

extern struct lib lib;

int lib_ready(void);			/* 0, or -1 with errno */
int64_t lib_now(int clock);
void lib_refuse(void);			/* peers have no room: a pause begins */
bool lib_refusing(void);

#define COUNT(name, n) __atomic_fetch_add(&lib.counts.name, (n), __ATOMIC_RELAXED)

/* -- locks: lock.c ------------------------------------------------------------------- */

int dir_lock(void);			/* 0, or -1 with errno */
void dir_unlock(void);
int object_lock(uint32_t object);
int object_try_lock(uint32_t object);	/* for one that has the directory's */
void object_unlock(uint32_t object);
void lock_forked(void);

/* -- the directory: dir.c, space.c, table.c ----------------------------------------- */

int dir_open(const char *path, const struct ident *ident, const struct stat *owner);
void dir_close(void);
void dir_rebuild(void);
bool dir_grow(void);
uint64_t page_sum(const void *page);

/* Under the directory's lock, all of them. */
bool space_take(struct dir_region *r, uint32_t pages);
void space_give(const struct dir_region *r);
void space_mark(const struct dir_region *r);
uint32_t region_page(const struct dir_region *r, uint32_t block);
uint32_t region_blocks(const struct dir_region *r);
uint32_t region_find(uint32_t file, uint64_t offset, uint64_t len);
uint32_t region_overlap(uint32_t file, uint64_t offset, uint64_t len);
uint32_t region_add(uint32_t file, uint64_t offset, uint64_t len);
void region_link(uint32_t region);
void region_free(uint32_t region);
void region_free_blocks(bool gone(const struct dir_region *r));
void region_reap(void);

/* -- processes: process.c -------------------------------------------------------------- */

void process_self(struct process *p);
bool process_same(const struct process *a, const struct process *b);
bool process_lives(const struct process *p);
bool process_gone(const struct process *p);

/* -- files: file.c ------------------------------------------------------------------- */

struct look {			/* at a file */
	struct stat st;
	int64_t ns;			/* before it, by the clock of files' times */
	bool done;
};

void stamp_of(const struct stat *st, struct stamp *stamp);
bool stamp_equal(const struct stamp *a, const struct stamp *b);
uint32_t file_find(const struct stat *st);
int64_t file_tick(int fd);
uint32_t file_add(int fd, const struct look *look, int64_t tick);
void file_look(int fd, struct look *look);
bool file_same(uint32_t file, const struct look *look);
bool file_trusted(uint32_t file);
void file_settle(uint32_t file);
void file_stamp(uint32_t file, const struct look *look);
void file_drop(uint32_t file);
ssize_t file_read(int fd, void *buf, size_t len, off_t at);
ssize_t file_write(int fd, const void *buf, size_t len, off_t at);

/* -- the device: store.c ------------------------------------------------------------ */

int store_open(const char *path, struct ident *ident, struct stat *st, char name[PATH_BYTES]);
int store_label(bool fresh);
int store_read(uint32_t page, uint32_t pages, void *buf);
int store_write(uint32_t page, uint32_t pages, const void *buf);
void store_discard(uint32_t page, uint32_t pages);
void *page_alloc(size_t pages);

/* -- descriptors: desc.c ------------------------------------------------------------- */

struct desc {
	uint32_t region, gen;
	uint32_t file;
	int fd;				/* own copy; -1: blocks without a file */
	uint64_t offset, len;
	uint32_t told;			/* failures of fdatasync() on fd */
};

int held_get(int fd, const struct stat *st, uint32_t *told);
int held_sync(int fd, uint32_t *told);
bool held_last(int fd);
void held_put(int fd);
int desc_add(const struct desc *d);
bool desc_get(int number, struct desc *d);
bool desc_take(int number, struct desc *d);	/* and it is gone */
void desc_fork(void);
void desc_forked(void);
int desc_next(int number);
int desc_sync(int number);

/* -- regions: region.c, io.c ---------------------------------------------------------- */

int region_args(size_t len, int fd, off_t offset, struct stat *st);
ssize_t region_clip(uint64_t size, off_t offset, const void *buf, size_t len, bool into);
struct dir_region *region_current(const struct desc *d);
struct dir_region *region_look(const struct desc *d);	/* takes the directory's lock */
struct dir_region *region_look_locked(const struct desc *d);
int region_lock(const struct desc *d);
void region_unlock(const struct desc *d);
void region_lost(const struct desc *d);
int region_version(const struct desc *d, uint32_t *version);
ssize_t region_read(const struct desc *d, uint64_t at, void *buf, size_t len, bool fill);
ssize_t region_write(const struct desc *d, uint64_t at, const void *buf, size_t len,
		     uint32_t *version);
int region_keep(const struct desc *d, uint32_t version, const void *buf);
ssize_t region_write_file(int fd, const void *buf, size_t len, off_t at);

/* -- the local cache: cache.c -------------------------------------------------------- */

void cache_fork(void);
void cache_forked(bool child);
void cache_exit(void);

#endif
