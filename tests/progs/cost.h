/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The works of cost.c, and what they share: clock, memory, what is told.
 *
 * Invariant: nothing here is called inside a window that is timed, but for the
 * clock at its ends.
 */
#ifndef NSWAP_TEST_COST_H
#define NSWAP_TEST_COST_H

#include <linux/aio_abi.h>
#include <sys/mman.h>

#include "prog.h"

#define SEED		9
#define REPS		3

/* What is done with a device. */
struct work {
	const char *name;
	bool write;
	bool in_order;
	unsigned int unit;	/* pages a request */
	unsigned int depth;
	uint64_t pages;		/* a repetition */
	bool submitted;		/* by io_submit(), which does not wait, also one at a time */
};

static const struct work works[] = {
	{ "read-4k-d1", false, false, 1, 1, 1536 },
	{ "write-4k-d1", true, false, 1, 1, 1536 },
	{ "read-4k-d32", false, false, 1, 32, 2048 },
	{ "write-4k-d32", true, false, 1, 32, 2048 },
	{ "read-32k-d1", false, false, 8, 1, 4096 },
	{ "write-32k-d1", true, false, 8, 1, 4096 },
	{ "read-128k-d8", false, true, 32, 8, 6144 },
	{ "write-128k-d8", true, true, 32, 8, 6144 },
	{ "write-4k-aio", true, false, 1, 1, 1536, .submitted = true },
};

#define PAGES_MAX	6144	/* the most that a work moves in a repetition */

/* A device, or a part of one, that is read and written. */
struct disk {
	int fd;
	uint64_t pages;
	uint32_t *count;	/* writes of each page so far */
	unsigned char *buf;	/* PAGES_MAX pages */
	off_t *where;		/* of each request of a repetition */
	enum pat_data data;
	bool flush;		/* what was written is flushed within the repetition */
	aio_context_t aio;
	struct bad_pages bad;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* An instruction without effect, by which a profiler knows a window: vm/profile.c. */
static inline void mark(void)
{
#ifdef __x86_64__
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0xde, 0xc0, 0xed, 0x5e" ::: "memory");
#endif
}

/* A window that is timed begins. */
static uint64_t window_begin(void)
{
	mark();
	return now_ns();
}

/* It ends: how long it was, in ns. */
static uint64_t window_end(uint64_t begun)
{
	uint64_t took = now_ns() - begun;

	mark();
	return took;
}

/* Nanoseconds without anything to do so far: the clock leaps over them. */
static uint64_t idle_ns(void)
{
	unsigned long long v = 0;
	char line[256];
	FILE *f = fopen("/proc/timer_list", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " .idle_sleeptime : %llu", &v) == 1)
			break;
	if (f)
		fclose(f);
	return v;
}

/* Memory that is there, in pages of 4 KiB. */
static void *populated(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED || madvise(mem, bytes, MADV_NOHUGEPAGE))
		refuse("cannot map %zu bytes: %s", bytes, strerror(errno));
	memset(mem, 1, bytes);
	return mem;
}

static void transfer(struct disk *d, bool write, void *buf, size_t len, off_t at)
{
	ssize_t n = write ? pwrite(d->fd, buf, len, at) :
			    pread(d->fd, buf, len, at);

	if (n != (ssize_t)len)
		refuse("cannot %s %zu bytes at %lld: %s", write ? "write" : "read",
		       len, (long long)at, n < 0 ? strerror(errno) : "cut short");
}

static void tell(const char *work, unsigned int rep, uint64_t pages, uint64_t ns,
		 uint64_t idle)
{
	printf("{\"work\": \"%s\", \"rep\": %u, \"pages\": %llu, \"ns\": %llu, "
	       "\"idle_ns\": %llu}\n", work, rep, (unsigned long long)pages,
	       (unsigned long long)ns, (unsigned long long)idle);
	fflush(stdout);
}

static int verdict(const struct bad_pages *bad, const char *when)
{
	if (!bad->wrong)
		return 0;
	fprintf(stderr, "error: %s: %llu pages were wrong\n", when,
		(unsigned long long)bad->wrong);
	return EXIT_WRONG;
}

#endif
