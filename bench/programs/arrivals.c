// SPDX-License-Identifier: GPL-2.0
/*
 * Page-ins that come when they come: single pages at random places of one or more block
 * devices, at instants of a Poisson process that waits for no answer (open loop), so
 * that what queues is seen.
 *
 * One run fills the devices, another one reads them. What a page-in takes counts from the
 * instant it was due, wherever it waited: here, for a tag of the device, or further down.
 *
 * The first page is never read: it is the header of swap space, which nswap keeps itself.
 *
 * Invariants: each device has a thread that asks and one that takes answers, and neither
 * turns: both sleep in the kernel. The instants depend on the seed alone, not on what is
 * answered when. Every page read is compared whole, f(seed of its device, page, write
 * count), before its room is used again.
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "pages.h"
#include "samples.h"

#define CHUNK		32		/* pages of a write while filling */
#define WRITES		2		/* of each page, so that an older one is known */
#define TAKEN		64		/* answers taken at once */

struct place {
	struct iocb iocb;		/* aio_data: its place's number */
	uint64_t due, page;
	unsigned char *room;
};

struct lane {
	int fd;
	uint64_t seed, state;		/* of its pages, of what is random */
	aio_context_t aio;
	struct place *places;
	sem_t free;			/* so many are */
	pthread_mutex_t lock;		/* of the list of those that are */
	unsigned int *list, listed;
	struct sample *samples;
	uint64_t wanted, answered, failed, right;
	struct bad_pages bad;
	pthread_t asks, takes;
};

static uint64_t mb = 8, rate = 1000, ms = 1000, under_way = 1024, fill;
static const char *devices = "", *samples_file;
static struct lane lanes[DEVICES];
static unsigned int nr;
static uint64_t pages, begin;		/* of a device; ns of the first instant */

/* The next instant of a device and the page that is wanted then; false after the last. */
static bool next_instant(uint64_t *state, double *at, uint64_t *page)
{
	*at -= log(uniform(state)) * (double)SECOND * nr / (double)rate;
	*page = 1 + pat_below(state, pages - 1);
	return *at < (double)ms * 1e6;
}

static void know_devices(void)
{
	int fd[DEVICES];

	nr = open_devices(devices, mb, fd);
	for (unsigned int i = 0; i < nr; i++) {
		lanes[i].fd = fd[i];
		lanes[i].seed = work_seed + i;
		lanes[i].state = pat_mix(work_seed * DEVICES + i);
	}
}

/* Write every page of a device WRITES times; --damage spoils the first that are read. */
static void fill_device(struct lane *l)
{
	unsigned char *room = work_map(CHUNK * PAT_BYTES, false);

	for (uint32_t count = 1; count <= WRITES; count++) {
		for (uint64_t first = 0; first < pages; first += CHUNK) {
			uint64_t n = pages - first < CHUNK ? pages - first : CHUNK;

			for (uint64_t i = 0; i < n; i++) {
				pat_fill(room + i * PAT_BYTES, l->seed, first + i, count);
				if (count == WRITES && first + i - 1 < work_damage)
					room[i * PAT_BYTES] ^= 1;
			}
			if (pwrite(l->fd, room, n * PAT_BYTES,
				   (off_t)(first * PAT_BYTES)) !=
			    (ssize_t)(n * PAT_BYTES))
				work_refuse("a page could not be written: %s",
					    strerror(errno));
		}
	}
	work_accessed(WRITES * pages);
	munmap(room, CHUNK * PAT_BYTES);
}

static void prepare(struct lane *l)
{
	uint64_t page, state = l->state;
	double at = 0;

	while (next_instant(&state, &at, &page))
		l->wanted++;
	l->samples = work_map(l->wanted * sizeof(*l->samples) + 1, false);
	l->places = work_map(under_way * sizeof(*l->places), false);
	l->list = work_map(under_way * sizeof(*l->list), false);
	for (unsigned int i = 0; i < under_way; i++) {
		l->places[i].room = work_map(PAT_BYTES, false);
		l->list[l->listed++] = i;
	}
	sem_init(&l->free, 0, (unsigned int)under_way);
	pthread_mutex_init(&l->lock, NULL);
	if (syscall(SYS_io_setup, (unsigned int)under_way, &l->aio))
		work_refuse("cannot have %llu requests under way: %s",
			    (unsigned long long)under_way, strerror(errno));
}

static void ask(struct lane *l, uint64_t due, uint64_t page)
{
	struct iocb *iocb;
	struct place *p;
	unsigned int at;

	while (sem_wait(&l->free))
		;
	pthread_mutex_lock(&l->lock);
	at = l->list[--l->listed];
	pthread_mutex_unlock(&l->lock);
	p = &l->places[at];
	p->due = due;
	p->page = page;
	/* nothing of an earlier read is left to be taken for this one's */
	memset(p->room, 0, PAT_BYTES);
	p->iocb = (struct iocb) {
		.aio_data = at, .aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)l->fd, .aio_buf = (uint64_t)(uintptr_t)p->room,
		.aio_nbytes = PAT_BYTES, .aio_offset = (int64_t)(p->page * PAT_BYTES),
	};
	iocb = &p->iocb;
	if (syscall(SYS_io_submit, l->aio, 1L, &iocb) != 1)
		work_refuse("a page could not be asked for: %s", strerror(errno));
}

static void *asks(void *arg)
{
	struct lane *l = arg;
	uint64_t page;
	double at = 0;

	while (next_instant(&l->state, &at, &page)) {
		sleep_until(begin + (uint64_t)at);
		ask(l, begin + (uint64_t)at, page);
	}
	return NULL;
}

static void take(struct lane *l, const struct io_event *event, uint64_t now)
{
	struct place *p = &l->places[event->data];

	l->samples[l->answered++] = (struct sample) {
		.due = p->due - begin, .took = now - p->due };
	if (event->res != PAT_BYTES)
		l->failed++;
	else if (pat_same(p->room, l->seed, p->page, WRITES))
		l->right++;
	else {
		bad_page(&l->bad, p->room, l->seed, p->page, WRITES, pages);
		work_wrong_page();
	}
	pthread_mutex_lock(&l->lock);
	l->list[l->listed++] = (unsigned int)event->data;
	pthread_mutex_unlock(&l->lock);
	sem_post(&l->free);
}

static void *takes(void *arg)
{
	struct io_event events[TAKEN];
	struct lane *l = arg;

	while (l->answered < l->wanted) {
		long got = syscall(SYS_io_getevents, l->aio, 1L, (long)TAKEN, events, NULL);
		uint64_t now = now_ns();

		if (got < 0 && errno != EINTR)
			work_refuse("no answer can be taken: %s", strerror(errno));
		for (long i = 0; i < got; i++)
			take(l, &events[i], now);
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*what)(void *), struct lane *l)
{
	if (pthread_create(thread, NULL, what, l))
		work_refuse("cannot start a thread");
}

static void read_devices(void)
{
	for (unsigned int i = 0; i < nr; i++)
		prepare(&lanes[i]);
	work_measure();
	begin = now_ns() + LEAD_NS;
	for (unsigned int i = 0; i < nr; i++) {
		start(&lanes[i].takes, takes, &lanes[i]);
		start(&lanes[i].asks, asks, &lanes[i]);
	}
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(lanes[i].asks, NULL);
		pthread_join(lanes[i].takes, NULL);
	}
	work_check();
}

static const struct sample *samples_of(uint64_t lane, uint64_t *answered)
{
	*answered = lanes[lane].answered;
	return lanes[lane].samples;
}

static const struct work_flag flags[] = {
	{ .name = "devices", .text = &devices,
	  .help = "LIST     block devices, with commas between" },
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 20,
	  .help = "N             of each of them (default 8)" },
	{ .name = "fill", .number = &fill, .max = 1,
	  .help = "1           write them, and read nothing (default 0)" },
	{ .name = "rate", .number = &rate, .min = 1, .max = 100000000,
	  .help = "N           pages a second that are due, of all (default 1000)" },
	{ .name = "ms", .number = &ms, .min = 1, .max = 1000000,
	  .help = "N             milliseconds in which they are (default 1000)" },
	{ .name = "under-way", .number = &under_way, .min = 1, .max = 65536,
	  .help = "N      at most, of a device; more wait here (default 1024)" },
	{ .name = "samples", .text = &samples_file,
	  .help = "FILE     write there for each when it was due and how long it took,\n"
		  "                    two numbers of 8 bytes in nanoseconds" },
	{ 0 }
};

static const struct work_about about = {
	.name = "arrivals",
	.does = "Reads single pages at random places of block devices, at instants of a Poisson\n"
		"process whatever is answered when, comparing every page whole.",
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
		for (unsigned int i = 0; i < nr; i++)
			fill_device(&lanes[i]);
	} else {
		read_devices();
	}
	for (unsigned int i = 0; i < nr; i++) {
		right += lanes[i].right;
		failed += lanes[i].failed;
		answered += lanes[i].answered;
	}
	if (samples_file && !fill)
		keep_samples(samples_file, nr, samples_of);
	work_accessed(answered);
	work_verified(right);
	work_member("\"devices\": %u, \"mb\": %llu, \"rate\": %llu, \"ms\": %llu", nr,
		    (unsigned long long)mb, (unsigned long long)rate,
		    (unsigned long long)ms);
	work_member("\"answered\": %llu, \"failed\": %llu", (unsigned long long)answered,
		    (unsigned long long)failed);
	if (failed)
		work_wrong_result("%llu pages could not be read",
				  (unsigned long long)failed);
	return work_end();
}
