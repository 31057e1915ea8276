/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is read and written in requests, each of which is a region of its own: in the
 * file alone, in regions, or in regions behind the local cache. A program that uses it need not
 * know which; a region that is lost is read from the file and opened again.
 */
#ifndef NSWAP_PARTS_H
#define NSWAP_PARTS_H

#include <stddef.h>
#include <stdint.h>

enum access { ACCESS_FILE, ACCESS_REGION, ACCESS_CACHED };

struct parts_options {
	enum access access;
	size_t request;		/* bytes */
	int policy, write;	/* of the local cache */
	size_t cache;		/* its bytes; 0: the library's own choice */
	uint64_t compute_ns;	/* slept after each request */
};

struct parts {
	const struct parts_options *options;
	int fd;
	uint64_t bytes, parts;
	int *region;		/* descriptors, -1: not open */
};

/*
 * Options that all programs have: --access, --request-kb, --policy, --write, --cache-mb,
 * --compute-ns.
 */
int parts_option(struct parts_options *o, const char *name, const char *value);
void parts_help(void);
void parts_begin(const struct parts_options *o);

void parts_open(struct parts *p, const struct parts_options *o, const char *path, uint64_t bytes);
void parts_read(struct parts *p, uint64_t at, void *buf, size_t len);
void parts_write(struct parts *p, uint64_t at, const void *buf, size_t len);
/* Free the regions, or leave them to the next program. */
void parts_close(struct parts *p, int leave);
/* Members of the result: requests, what the library did. */
void parts_print(void);

void fail(const char *what);
double seconds(void);
uint64_t mixed(uint64_t x);

#endif
