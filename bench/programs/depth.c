// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that wait for their answers: runs of pages at random places of one or more block
 * devices, so many of them under way at each, and the next one only after an answer
 * (closed loop), at once or after a rest.
 *
 * One run fills the devices, others read them, as often as wanted, or one writes them. What a run of pages takes counts
 * from when it is asked for. A run that has written reads everything back in the end.
 *
 * The first page is never used: it is the header of swap space, which nswap keeps itself.
 *
 * Invariants: each of those under way has a thread, which sleeps in the kernel, and a part
 * of its device that no other thread reads or writes, so that what is there is known. Every
 * page read is compared whole, f(seed of its device, page, write count).
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>

#include "pages.h"
#include "samples.h"

#define CHUNK		32		/* pages of a write while filling, of a read after */
#define DEPTH_MOST	64

enum { READ, WRITE };

struct device {
	int fd;
	uint64_t seed;
	uint32_t *count;		/* of each page, how often it was written */
};

/* One of those under way. */
struct lane {
	struct device *dev;
	uint64_t first, nr;		/* its pages */
	uint64_t state;			/* of what is random */
	unsigned char *room;
	struct sample *samples;
	uint64_t answered, may_hold;
	uint64_t right, failed;
	struct bad_pages bad;
	pthread_t thread;
};

static const char *const ops[] = { "read", "write", NULL };
static uint64_t mb = 8, op, run_pages = 1, depth = 1, rest_ns, ms = 1000, fill;
static const char *device_names = "", *samples_file;
static struct device devices[DEVICES];
static unsigned int nr_devices;
static struct lane *lanes;
static uint64_t pages, begin;		/* of a device; ns of when the first may ask */

static void know_devices(void)
{
	int fd[DEVICES];

	nr_devices = open_devices(device_names, mb, fd);
	for (unsigned int i = 0; i < nr_devices; i++) {
		struct device *d = &devices[i];

		d->fd = fd[i];
		d->seed = work_seed + i;
		d->count = work_map(pages * sizeof(*d->count), false);
		for (uint64_t page = 1; page < pages; page++)
			d->count[page] = 1;
	}
}

/* so many pages of a device from @first on, from or to @room; false if that failed */
static bool transfer(struct device *d, bool write, unsigned char *room, uint64_t first,
		     uint64_t n)
{
	off_t at = (off_t)(first * PAT_BYTES);
	size_t bytes = n * PAT_BYTES;

	return (write ? pwrite(d->fd, room, bytes, at) : pread(d->fd, room, bytes, at)) ==
	       (ssize_t)bytes;
}

/* --damage spoils the first pages */
static void fill_device(struct device *d)
{
	unsigned char *room = work_map(CHUNK * PAT_BYTES, false);

	for (uint64_t first = 1; first < pages; first += CHUNK) {
		uint64_t n = pages - first < CHUNK ? pages - first : CHUNK;

		for (uint64_t i = 0; i < n; i++) {
			pat_fill(room + i * PAT_BYTES, d->seed, first + i, 1);
			if (first + i - 1 < work_damage)
				room[i * PAT_BYTES] ^= 1;
		}
		if (!transfer(d, true, room, first, n))
			work_refuse("a page could not be written: %s", strerror(errno));
	}
	work_accessed(pages - 1);
	munmap(room, CHUNK * PAT_BYTES);
}

static void compare(struct lane *l, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		unsigned char *page = l->room + i * PAT_BYTES;
		uint32_t count = l->dev->count[first + i];

		if (pat_same(page, l->dev->seed, first + i, count)) {
			l->right++;
			continue;
		}
		bad_page(&l->bad, page, l->dev->seed, first + i, count, pages);
		work_wrong_page();
	}
}

static void record(struct lane *l, uint64_t asked, uint64_t now)
{
	if (l->answered == l->may_hold) {
		l->may_hold = 2 * l->may_hold + 1024;
		l->samples = realloc(l->samples, l->may_hold * sizeof(*l->samples));
		if (!l->samples)
			work_refuse("not enough memory");
	}
	l->samples[l->answered++] = (struct sample) { .due = asked - begin,
						      .took = now - asked };
}

/* one run of pages; what was written is known to be there only if that did not fail */
static void ask(struct lane *l, uint64_t first)
{
	bool done, write = op == WRITE;
	uint64_t asked;

	for (uint64_t i = 0; i < run_pages; i++)
		if (write)
			pat_fill(l->room + i * PAT_BYTES, l->dev->seed, first + i,
				 l->dev->count[first + i] + 1);
		else	/* nothing of an earlier read is left to be taken for this one's */
			memset(l->room + i * PAT_BYTES, 0, PAT_BYTES);
	asked = now_ns();
	done = transfer(l->dev, write, l->room, first, run_pages);
	record(l, asked, now_ns());
	l->failed += !done;
	if (!write && done)
		compare(l, first, run_pages);
	for (uint64_t i = 0; write && done && i < run_pages; i++)
		l->dev->count[first + i]++;
}

static void *asks(void *arg)
{
	uint64_t end = begin + ms * 1000000;
	struct lane *l = arg;
	uint64_t at = begin;

	for (;;) {
		if (rest_ns)
			at += (uint64_t)(-log(uniform(&l->state)) * (double)rest_ns);
		if (at >= end)
			return NULL;
		sleep_until(at);
		ask(l, l->first + pat_below(&l->state, l->nr - run_pages + 1));
		at = now_ns();
	}
}

/* all of its pages are as they were written last */
static void *looks(void *arg)
{
	struct lane *l = arg;

	for (uint64_t i = 0; i < l->nr; i += CHUNK) {
		uint64_t n = l->nr - i < CHUNK ? l->nr - i : CHUNK;

		memset(l->room, 0, CHUNK * PAT_BYTES);
		if (transfer(l->dev, false, l->room, l->first + i, n))
			compare(l, l->first + i, n);
		else
			l->failed++;
	}
	return NULL;
}

static void all(void *(*what)(void *))
{
	uint64_t n = nr_devices * depth;

	for (uint64_t i = 0; i < n; i++)
		if (pthread_create(&lanes[i].thread, NULL, what, &lanes[i]))
			work_refuse("cannot start a thread");
	for (uint64_t i = 0; i < n; i++)
		pthread_join(lanes[i].thread, NULL);
}

static void prepare(void)
{
	uint64_t each = (pages - 1) / depth;

	if (each < run_pages)
		work_refuse("a device has no %llu pages for each of %llu runs",
			    (unsigned long long)run_pages, (unsigned long long)depth);
	lanes = work_map(nr_devices * depth * sizeof(*lanes), false);
	for (uint64_t i = 0; i < nr_devices * depth; i++) {
		lanes[i] = (struct lane) {
			.dev = &devices[i / depth], .first = 1 + i % depth * each, .nr = each,
			.state = pat_mix(work_seed * DEVICES * DEPTH_MOST + i),
			.room = work_map((run_pages > CHUNK ? run_pages : CHUNK) * PAT_BYTES,
					 false),
		};
	}
}

static void use_devices(void)
{
	prepare();
	work_measure();
	begin = now_ns() + LEAD_NS;
	all(asks);
	work_check();
	if (op == WRITE)
		all(looks);
}

static const struct sample *samples_of(uint64_t lane, uint64_t *answered)
{
	*answered = lanes[lane].answered;
	return lanes[lane].samples;
}

static const struct work_flag flags[] = {
	{ .name = "devices", .text = &device_names,
	  .help = "LIST     block devices, with commas between" },
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 20,
	  .help = "N             of each of them (default 8)" },
	{ .name = "fill", .number = &fill, .max = 1,
	  .help = "1           write them, and nothing else (default 0)" },
	{ .name = "op", .number = &op, .words = ops,
	  .help = "WORD          read or write (default read)" },
	{ .name = "pages", .number = &run_pages, .min = 1, .max = 256,
	  .help = "N          of a run (default 1)" },
	{ .name = "depth", .number = &depth, .min = 1, .max = DEPTH_MOST,
	  .help = "N          runs under way at each device (default 1)" },
	{ .name = "rest-ns", .number = &rest_ns, .max = 1000000000,
	  .help = "N        mean of an exponential rest before each run (default 0)" },
	{ .name = "ms", .number = &ms, .min = 1, .max = 1000000,
	  .help = "N             milliseconds in which they are asked for (default 1000)" },
	{ .name = "samples", .text = &samples_file,
	  .help = "FILE     write there for each when it was asked for and how long it\n"
		  "                    took, two numbers of 8 bytes in nanoseconds" },
	{ 0 }
};

static const struct work_about about = {
	.name = "depth",
	.does = "Reads or writes runs of pages at random places of block devices, so many under way\n"
		"at each, comparing every page whole.",
	.unit = "not used here",
	.flags = flags,
};

int main(int argc, char **argv)
{
	uint64_t right = 0, failed = 0, answered = 0;

	work_start(argc, argv, &about);
	pages = mb * WORK_MB / PAT_BYTES;
	know_devices();
	if (fill) {
		for (unsigned int i = 0; i < nr_devices; i++)
			fill_device(&devices[i]);
	} else {
		use_devices();
	}
	for (uint64_t i = 0; lanes && i < nr_devices * depth; i++) {
		right += lanes[i].right;
		failed += lanes[i].failed;
		answered += lanes[i].answered;
	}
	if (samples_file && !fill)
		keep_samples(samples_file, nr_devices * depth, samples_of);
	work_accessed(answered * run_pages);
	work_verified(right);
	work_member("\"devices\": %u, \"mb\": %llu, \"ms\": %llu", nr_devices,
		    (unsigned long long)mb, (unsigned long long)ms);
	work_member("\"answered\": %llu, \"failed\": %llu", (unsigned long long)answered,
		    (unsigned long long)failed);
	if (failed)
		work_wrong_result("%llu runs of pages failed", (unsigned long long)failed);
	return work_end();
}
