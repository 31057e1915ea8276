// SPDX-License-Identifier: GPL-2.0
/*
 * turns: how long single pages of some devices take, beside a flood of another.
 *
 * usage: turns NAME read|write read|write FLOOD QUIET...
 *
 * The first says what the quiet devices do, one 4 KiB page at a time with a rest after
 * each; the second what the flood does: 128 KiB, 32 at a time; FLOOD may be "-".  One JSON
 * line for the median and one for the 99th percentile of all quiet pages go to standard
 * output, in cost's form: the clock is one of executed instructions (tests/vm/counting.py).
 *
 * Invariant: the flood runs from before the first page to after the last.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>

#include "pattern.h"
#include "prog.h"

#define PAGES	200		/* of each quiet device */
#define REST_NS	5000000
#define RAMP_NS	200000000
#define DEPTH	32
#define LARGE	(32 * PAT_BYTES)
#define QUIET_MAX	16

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

struct device {
	int fd;
	uint64_t bytes;
	void *buf;
};

static void open_device(struct device *d, const char *path)
{
	d->fd = open(path, O_RDWR | O_DIRECT);
	if (d->fd < 0)
		refuse("cannot open %s: %s", path, strerror(errno));
	d->bytes = lseek(d->fd, 0, SEEK_END);
	if (posix_memalign(&d->buf, PAT_BYTES, LARGE))
		refuse("no memory");
	memset(d->buf, 0x5a, LARGE);
}

static void transfer(const struct device *d, bool write, size_t len, uint64_t nth)
{
	off_t at = nth * len % (d->bytes / len * len);
	ssize_t n = write ? pwrite(d->fd, d->buf, len, at) : pread(d->fd, d->buf, len, at);

	if (n != (ssize_t)len)
		refuse("a transfer failed: %s", strerror(errno));
}

static void fill(const char *path)
{
	struct device d;

	open_device(&d, path);
	for (uint64_t i = 0; i < d.bytes / LARGE; i++)
		transfer(&d, true, LARGE, i);
}

static void flood(const char *path, bool write, uint64_t first)
{
	struct device d;

	open_device(&d, path);
	for (uint64_t i = first;; i += DEPTH)
		transfer(&d, write, LARGE, i);
}

static void quiet(const char *path, bool write, uint64_t seed, uint64_t *took)
{
	struct device d;

	open_device(&d, path);
	rest(seed * REST_NS / QUIET_MAX);
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		begin = now_ns();
		transfer(&d, write, PAT_BYTES, seed >> 33);
		took[i] = now_ns() - begin;
		rest(REST_NS);
	}
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void tell(const char *name, const char *what, uint64_t ns)
{
	printf("{\"work\": \"%s-%s\", \"pages\": 1, \"ns\": %llu}\n", name, what,
	       (unsigned long long)ns);
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		refuse("cannot fork: %s", strerror(errno));
	return pid;
}

int main(int argc, char **argv)
{
	bool mine = argc > 2 && !strcmp(argv[2], "write");
	bool others = argc > 3 && !strcmp(argv[3], "write");
	int nr = argc - 5, wrong = 0, status;
	bool with = argc > 4 && strcmp(argv[4], "-");
	pid_t flooding[DEPTH];
	uint64_t *took;

	if (nr < 1 || nr > QUIET_MAX)
		refuse("usage: turns NAME read|write read|write FLOOD QUIET...");
	took = mmap(NULL, nr * PAGES * sizeof(*took), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (took == MAP_FAILED)
		refuse("no memory");
	for (int i = 0; i < nr; i++)
		fill(argv[5 + i]);
	if (with)
		fill(argv[4]);
	for (int i = 0; with && i < DEPTH; i++) {
		flooding[i] = child();
		if (!flooding[i])
			flood(argv[4], others, i);
	}
	rest(RAMP_NS);
	for (int i = 0; i < nr; i++)
		if (!child()) {
			quiet(argv[5 + i], mine, i + 1, took + i * PAGES);
			exit(0);
		}
	for (int i = 0; i < nr; i++)
		wrong |= wait(&status) < 0 || status;
	for (int i = 0; with && i < DEPTH; i++) {
		wrong |= waitpid(flooding[i], &status, WNOHANG);
		kill(flooding[i], SIGKILL);
	}
	if (wrong)
		refuse("a child failed");
	qsort(took, nr * PAGES, sizeof(*took), by_size);
	tell(argv[1], "p50", took[nr * PAGES / 2]);
	tell(argv[1], "p99", took[nr * PAGES * 99 / 100]);
	return 0;
}
