/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs share that ask block devices for pages and note how long each took: time in
 * nanoseconds, opening the devices, and the file of --samples.
 *
 * Invariant: who waits for an instant sleeps in the kernel.
 */
#ifndef NSWAP_BENCH_SAMPLES_H
#define NSWAP_BENCH_SAMPLES_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "prog.h"
#include "work.h"

#define SECOND		1000000000ULL
#define DEVICES		64
#define LEAD_NS		10000000ULL	/* from the start to the first instant */

/* One answer, as it is written to --samples. */
struct sample {
	uint64_t due;			/* or asked for: ns since the first may have been */
	uint64_t took;
};

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

static inline void sleep_until(uint64_t when)
{
	struct timespec ts = { .tv_sec = (time_t)(when / SECOND),
			       .tv_nsec = (long)(when % SECOND) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* the next number between 0 and 1, neither of them */
static inline double uniform(uint64_t *state)
{
	return ((double)(pat_random(state) >> 11) + 0.5) / (double)(1ULL << 53);
}

/* Open the devices of --devices, each of so many MiB at least; how many there are. */
static inline unsigned int open_devices(const char *list, uint64_t mb, int fd[DEVICES])
{
	char *names = strdup(list), *save = NULL;
	unsigned int nr = 0;

	for (char *name = strtok_r(names, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		if (nr == DEVICES)
			work_refuse("more than %d devices", DEVICES);
		fd[nr] = open(name, O_RDWR | O_DIRECT);
		if (fd[nr] < 0)
			work_refuse("cannot open '%s': %s", name, strerror(errno));
		if (lseek(fd[nr], 0, SEEK_END) < (off_t)(mb * WORK_MB))
			work_refuse("'%s' is smaller than %llu MiB", name,
				    (unsigned long long)mb);
		nr++;
	}
	free(names);
	if (!nr)
		work_refuse("--devices names none");
	return nr;
}

/* Write the file of --samples: @of each of @n lanes gives its answers and how many. */
static inline void keep_samples(const char *path, uint64_t n,
				const struct sample *(*of)(uint64_t lane, uint64_t *answered))
{
	FILE *f = fopen(path, "w");
	bool bad = !f;

	for (uint64_t i = 0; f && i < n; i++) {
		uint64_t answered;
		const struct sample *samples = of(i, &answered);

		bad |= fwrite(samples, sizeof(*samples), answered, f) != answered;
	}
	if (bad || fclose(f))
		work_refuse("cannot write %s: %s", path, strerror(errno));
}

#endif
