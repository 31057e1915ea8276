/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the local cache share: cache.c has the calls, cached.c one region.
 */
#ifndef NSWAP_CACHE_H
#define NSWAP_CACHE_H

#include "lib.h"

struct cached {
	struct nswap_cached view;	/* the policy's; in the list while there is a buffer */
	char *buf;			/* all of the region, or NULL */
	size_t dirty_from, dirty_to;	/* not yet in the file */
	int fd;				/* of the file */
	uint32_t told;			/* failures to write it back */
	uint64_t offset;
	int m;				/* region on the device, or -1 */
	bool known;			/* the buffer is what the region had at this version */
	uint32_t version;
	struct stamp stamp;		/* of the file, when the buffer was what that had */
};

const struct nswap_policy *policy_get(int number);
void cache_dir_add(struct nswap_cache_dir *dir, struct nswap_cached *r);
void cache_dir_remove(struct nswap_cache_dir *dir, struct nswap_cached *r);

void cached_open(struct cached *c);
int cached_load(struct cached *c, bool read);
bool cached_fresh(struct cached *c);
int cached_flush(struct cached *c);
void cached_keep(struct cached *c);
ssize_t cached_read_around(struct cached *c, off_t at, void *buf, size_t len);
ssize_t cached_write_around(struct cached *c, off_t at, const void *buf, size_t len);

#endif
