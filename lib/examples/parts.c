// SPDX-License-Identifier: GPL-2.0
/*
 * Files in requests, with libnswap or without.
 */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nswap/dodo.h>

static uint64_t requests, lost_requests;

void fail(const char *what)
{
	fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
	exit(1);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static int word_of(const char *value, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++) {
		if (!strcmp(value, words[i]))
			return i;
	}
	fprintf(stderr, "error: no such word: %s\n", value);
	exit(2);
}

/* Was it one of these options? */
int parts_option(struct parts_options *o, const char *name, const char *value)
{
	static const char *const accesses[] = { "file", "region", "cached", NULL };
	static const char *const policies[] = { "lru", "mru", "first-in", NULL };
	static const char *const writes[] = { "back", "through", NULL };

	if (!strcmp(name, "--access"))
		o->access = word_of(value, accesses);
	else if (!strcmp(name, "--policy"))
		o->policy = word_of(value, policies);
	else if (!strcmp(name, "--write"))
		o->write = word_of(value, writes);
	else if (!strcmp(name, "--request-kb"))
		o->request = strtoul(value, NULL, 10) << 10;
	else if (!strcmp(name, "--cache-mb"))
		o->cache = strtoul(value, NULL, 10) << 20;
	else if (!strcmp(name, "--compute-ns"))
		o->compute_ns = strtoull(value, NULL, 10);
	else
		return 0;
	return 1;
}

void parts_help(void)
{
	puts("  --access WORD    file (default), region or cached\n"
	     "  --request-kb N   size of requests, and of regions (default 32)\n"
	     "  --policy WORD    of the local cache: lru, mru, first-in (default)\n"
	     "  --write WORD     back (default) or through\n"
	     "  --cache-mb N     memory of the local cache\n"
	     "  --compute-ns N   sleep so long after each request\n"
	     "The device is that of NSWAP_DEVICE.");
}

void parts_begin(const struct parts_options *o)
{
	if (!o->request || o->request % 4096) {
		fprintf(stderr, "error: --request-kb must be a multiple of 4\n");
		exit(2);
	}
	if (o->access != ACCESS_CACHED)
		return;
	if (csetPolicy(o->policy) || nswap_cset_write(o->write) ||
	    (o->cache && nswap_cset_size(o->cache)))
		fail("the local cache");
}

static size_t part_bytes(const struct parts *p, uint64_t part)
{
	uint64_t left = p->bytes - part * p->options->request;

	return left < p->options->request ? left : p->options->request;
}

static void part_open(struct parts *p, uint64_t part)
{
	off_t at = part * p->options->request;

	if (p->options->access == ACCESS_CACHED)
		p->region[part] = copen(part_bytes(p, part), p->fd, at);
	else if (p->options->access == ACCESS_REGION)
		p->region[part] = mopen(part_bytes(p, part), p->fd, at);
}

void parts_open(struct parts *p, const struct parts_options *o, const char *path, uint64_t bytes)
{
	uint64_t i;

	memset(p, 0, sizeof(*p));
	p->options = o;
	p->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (p->fd < 0)
		fail(path);
	p->bytes = bytes ? bytes : (uint64_t)lseek(p->fd, 0, SEEK_END);
	p->parts = (p->bytes + o->request - 1) / o->request;
	p->region = malloc(p->parts * sizeof(*p->region));
	if (!p->region)
		fail("memory");
	for (i = 0; i < p->parts; i++) {
		p->region[i] = -1;
		part_open(p, i);
	}
}

/* The file has all of it. */
static ssize_t part_from_file(struct parts *p, uint64_t at, void *buf, size_t len)
{
	return pread(p->fd, buf, len, at);
}

static void part_lost(struct parts *p, uint64_t part)
{
	if (p->region[part] >= 0) {
		lost_requests++;
		mclose(p->region[part]);
	}
	p->region[part] = -1;
}

static ssize_t part_read(struct parts *p, uint64_t part, size_t in, char *buf, size_t len)
{
	uint64_t at = part * p->options->request + in;
	ssize_t got = -1;

	requests++;
	if (p->options->access == ACCESS_CACHED)
		return cread(p->region[part], in, buf, len);
	if (p->options->access == ACCESS_FILE)
		return part_from_file(p, at, buf, len);
	if (p->region[part] < 0)
		part_open(p, part);
	if (p->region[part] >= 0)
		got = mread(p->region[part], in, buf, len);
	if (got < 0 && errno == ENOMEM) {
		part_lost(p, part);
		got = part_from_file(p, at, buf, len);
	}
	return got;
}

static ssize_t part_write(struct parts *p, uint64_t part, size_t in, const char *buf, size_t len)
{
	uint64_t at = part * p->options->request + in;
	ssize_t put = -1;

	requests++;
	if (p->options->access == ACCESS_CACHED)
		return cwrite(p->region[part], in, buf, len);
	if (p->options->access == ACCESS_REGION) {
		if (p->region[part] < 0)
			part_open(p, part);
		if (p->region[part] >= 0)
			put = mwrite(p->region[part], in, buf, len);
		if (put >= 0 || errno != ENOMEM)
			return put;
		part_lost(p, part);
	}
	return pwrite(p->fd, buf, len, at);
}

static void parts_compute(const struct parts *p)
{
	struct timespec nap = {
		.tv_sec = p->options->compute_ns / 1000000000,
		.tv_nsec = p->options->compute_ns % 1000000000,
	};

	if (p->options->compute_ns)
		nanosleep(&nap, NULL);
}

static void parts_each(struct parts *p, uint64_t at, char *buf, size_t len, int write)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		uint64_t part = (at + done) / p->options->request;
		size_t in = (at + done) % p->options->request;
		size_t most = part_bytes(p, part) - in;

		if (most > len - done)
			most = len - done;
		n = write ? part_write(p, part, in, buf + done, most) :
			    part_read(p, part, in, buf + done, most);
		if (n <= 0)
			fail(write ? "writing" : "reading");
		parts_compute(p);
		done += n;
	}
}

void parts_read(struct parts *p, uint64_t at, void *buf, size_t len)
{
	parts_each(p, at, buf, len, 0);
}

void parts_write(struct parts *p, uint64_t at, const void *buf, size_t len)
{
	parts_each(p, at, (char *)buf, len, 1);
}

void parts_close(struct parts *p, int leave)
{
	uint64_t i;

	for (i = 0; i < p->parts; i++) {
		if (p->region[i] < 0)
			continue;
		if (p->options->access == ACCESS_CACHED) {
			if (leave ? nswap_cleave(p->region[i]) : cclose(p->region[i]))
				fail("closing a region");
		} else if (leave) {
			nswap_mleave(p->region[i]);
		} else {
			mclose(p->region[i]);
		}
	}
	free(p->region);
	close(p->fd);
}

void parts_print(void)
{
	struct nswap_counts c;

	nswap_counts(&c);
	printf("\"requests\": %llu, \"lost_requests\": %llu, \"remote_pages\": %llu, "
	       "\"stored_pages\": %llu, \"local_hits\": %llu, \"local_misses\": %llu, "
	       "\"lost_regions\": %llu, \"found_regions\": %llu, \"store_failures\": %llu, "
	       "\"changed_files\": %llu, \"file_bytes\": %llu",
	       (unsigned long long)requests, (unsigned long long)lost_requests,
	       (unsigned long long)c.remote_pages, (unsigned long long)c.stored_pages,
	       (unsigned long long)c.local_hits, (unsigned long long)c.local_misses,
	       (unsigned long long)c.lost_regions, (unsigned long long)c.found_regions,
	       (unsigned long long)c.store_failures, (unsigned long long)c.changed_files, (unsigned long long)c.file_bytes);
}
