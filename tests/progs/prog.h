/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the test programs share: clock, numbers on the command line, counts of
 * bad pages, and a result file that readers always see whole.
 *
 * Invariant: a result file is written under another name and renamed, so a
 * reader polling for a state never meets half a line.
 */
#ifndef NSWAP_TEST_PROG_H
#define NSWAP_TEST_PROG_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pattern_text.h"

#define EXIT_WRONG	1	/* a page was wrong */
#define EXIT_USAGE	2	/* bad arguments, or the machine refused */
#define EXIT_FAILED	3	/* no wrong page, but reads or writes failed */

static inline double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static inline void nap_s(double s)
{
	struct timespec ts;

	if (s <= 0)
		return;
	ts.tv_sec = (time_t)s;
	ts.tv_nsec = (long)((s - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

__attribute__((noreturn, format(printf, 1, 2)))
static inline void refuse(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "error: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

static inline uint64_t arg_number(const char *name, const char *text,
				  uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-' || v < min || v > max)
		refuse("%s must be a number from %llu to %llu, not '%s'", name,
		       (unsigned long long)min, (unsigned long long)max, text);
	return v;
}

/* What pages are to be made of. */
static inline enum pat_data arg_data(const char *name, const char *text)
{
	for (int i = 0; pat_data_names[i]; i++)
		if (!strcmp(text, pat_data_names[i]))
			return i;
	refuse("%s is random, text or mixed, not '%s'", name, text);
}

/* Put @text into @path at once; without a path, nothing. */
static inline void result_file(const char *path, const char *text, size_t len)
{
	char tmp[4096];
	int fd;

	if (!path)
		return;
	if (snprintf(tmp, sizeof(tmp), "%s.new", path) >= (int)sizeof(tmp))
		refuse("the path of the result file is too long");
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) ||
	    rename(tmp, path))
		refuse("cannot write %s: %s", path, strerror(errno));
}

/* Bad pages by class, and the first few of them in words. */
struct bad_pages {
	uint64_t by_class[PAT_CLASSES];
	uint64_t wrong;
	unsigned int told;
};

#define BAD_PAGES_TOLD 16

static inline void bad_page(struct bad_pages *bad, const void *buf, uint64_t seed,
			    uint64_t page, uint32_t count, uint64_t pages)
{
	struct pat_verdict v = pat_classify(buf, seed, page, count, pages);

	bad->wrong++;
	bad->by_class[v.class]++;
	if (bad->told++ >= BAD_PAGES_TOLD)
		return;
	fprintf(stderr, "wrong page %llu (write %u): %s",
		(unsigned long long)page, count, pat_class_name[v.class]);
	if (v.class == PAT_STALE || v.class == PAT_NEWER || v.class == PAT_OTHER)
		fprintf(stderr, ", it is page %llu of write %u",
			(unsigned long long)v.page, v.count);
	fprintf(stderr, ", %u of %u words differ, first %u\n", v.wrong_words,
		PAT_WORDS, v.first_word);
}

/* The classes as JSON members, without braces. */
static inline void bad_pages_json(const struct bad_pages *bad, char *buf, size_t size)
{
	snprintf(buf, size,
		 "\"wrong_pages\": %llu, \"stale_pages\": %llu, \"newer_pages\": %llu, "
		 "\"other_pages\": %llu, \"foreign_pages\": %llu, \"zero_pages\": %llu, "
		 "\"torn_pages\": %llu",
		 (unsigned long long)bad->wrong,
		 (unsigned long long)bad->by_class[PAT_STALE],
		 (unsigned long long)bad->by_class[PAT_NEWER],
		 (unsigned long long)bad->by_class[PAT_OTHER],
		 (unsigned long long)bad->by_class[PAT_FOREIGN],
		 (unsigned long long)bad->by_class[PAT_ZEROS],
		 (unsigned long long)bad->by_class[PAT_TORN]);
}

#endif
