// SPDX-License-Identifier: GPL-2.0
/*
 * WL1 to WL4, the memory-bound programs of the Nswap2L paper.
 *
 * WL1 writes all its memory in order and then reads it in order, again and
 * again: the best case for a disk. WL2 does both at random places; each sweep
 * takes every page once, so that it is WL1's work in another order. WL3 and WL4
 * are the two beside a second process that writes and reads a file for as long.
 *
 * Invariants: the second process rests a little after each chunk, for a file in
 * RAM takes no time, and under virtual time it would never end.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "pages.h"

#define CHUNK_PAGES	256
#define CHUNK_BYTES	(CHUNK_PAGES * PAT_BYTES)

static const char *const names[] = { "WL1", "WL2", "WL3", "WL4", NULL };

static uint64_t mb = 64, iterations = 1, workload, file_mb = 64, rest_us = 1000;
static uint64_t mixed, data;
static const char *file_path;
static struct pages memory;

/* Of both processes. */
static struct shared {
	atomic_int over;
	atomic_uint_fast64_t file_pages;
} *shared;

static void sweep(uint64_t number, bool shuffled, bool write)
{
	struct pat_order order = pat_order_new(memory.n, work_seed + number);
	uint64_t right = 0;

	for (uint64_t i = 0; i < memory.n; i++) {
		right += page_access(&memory, shuffled ? pat_order_at(&order, i) : i,
				     write);
		work_compute(1);
	}
	work_accessed(memory.n);
	work_verified(right);
}

/* Write or read one chunk of the file and let it go from the page cache. */
static void chunk(int fd, unsigned char *buf, uint64_t at, uint32_t count, bool write)
{
	off_t place = (off_t)(at * CHUNK_BYTES);
	ssize_t got;

	for (uint64_t i = 0; write && i < CHUNK_PAGES; i++)
		pat_fill(buf + i * PAT_BYTES, ~work_seed, at * CHUNK_PAGES + i, count);
	/* User-mode Linux does not note that a system call writes to a page that was
	 * swapped in to be read, and loses it: write to each page first.
	 */
	for (uint64_t i = 0; !write && i < CHUNK_PAGES; i++)
		*(volatile unsigned char *)(buf + i * PAT_BYTES) = 0;
	got = write ? pwrite(fd, buf, CHUNK_BYTES, place) :
		      pread(fd, buf, CHUNK_BYTES, place);
	if (got != CHUNK_BYTES || (write && fdatasync(fd)))
		work_refuse("cannot %s %s: %s", write ? "write" : "read", file_path,
			    strerror(errno));
	for (uint64_t i = 0; !write && i < CHUNK_PAGES; i++)
		if (!pat_same(buf + i * PAT_BYTES, ~work_seed, at * CHUNK_PAGES + i, count))
			work_wrong_result("page %llu of the file",
					  (unsigned long long)(at * CHUNK_PAGES + i));
	posix_fadvise(fd, place, CHUNK_BYTES, POSIX_FADV_DONTNEED);
	atomic_fetch_add(&shared->file_pages, CHUNK_PAGES);
	nap_s((double)rest_us / 1e6);
}

/* The second process. */
static void use_file(void)
{
	uint64_t chunks = file_mb * WORK_MB / CHUNK_BYTES;
	unsigned char *buf = work_map(CHUNK_BYTES, false);
	int fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		work_refuse("cannot open %s: %s", file_path, strerror(errno));
	unlink(file_path);
	for (uint32_t count = 1; !atomic_load(&shared->over); count++) {
		for (uint64_t i = 0; i < chunks && !atomic_load(&shared->over); i++)
			chunk(fd, buf, i, count, true);
		for (uint64_t i = 0; i < chunks && !atomic_load(&shared->over); i++)
			chunk(fd, buf, i, count, false);
	}
}

static pid_t start_file(void)
{
	pid_t pid;

	/* It would keep a copy of each page that changes from here on. */
	madvise(memory.mem, memory.n * PAT_BYTES, MADV_DONTFORK);
	pid = fork();
	if (pid < 0)
		work_refuse("cannot start a process: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_file();
	fflush(NULL);
	_exit(0);
}

static void end_file(pid_t pid)
{
	int status = 0;

	atomic_store(&shared->over, 1);
	if (pid && waitpid(pid, &status, 0) == pid && status)
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED);
}

static const struct work_flag flags[] = {
	{ .name = "workload", .number = &workload, .words = names,
	  .help = "NAME    WL1 (default), WL2, WL3 or WL4" },
	{ .name = "mb", .number = &mb, .min = 1, .max = 1 << 24,
	  .help = "N             memory (default 64)" },
	{ .name = "iterations", .number = &iterations, .min = 1, .max = 1 << 20,
	  .help = "N     of writing everything and reading everything (default 1)" },
	{ .name = "data", .number = &data, .words = pat_data_names,
	  .help = "NAME        of pages: random (default), text, or mixed: of half of them" },
	{ .name = "mixed", .number = &mixed, .max = 1,
	  .help = "1          first write at random, so that the swap is in no order" },
	{ .name = "file", .text = &file_path,
	  .help = "PATH        WL3, WL4: the second process's file; removed at once" },
	{ .name = "file-mb", .number = &file_mb, .min = 1, .max = 1 << 24,
	  .help = "N        and its size (default 64)" },
	{ .name = "file-rest-us", .number = &rest_us, .min = 1, .max = 1000000,
	  .help = "N   it rests so long after each MiB (default 1000)" },
	{ 0 }
};

static const struct work_about about = {
	.name = "wl",
	.does = "Writes and reads memory, in order (WL1) or at random (WL2), alone or beside\n"
		"a process that writes and reads a file (WL3, WL4). Every access compares\n"
		"the whole page.",
	.unit = "one page accessed",
	.flags = flags,
};

int main(int argc, char **argv)
{
	bool shuffled;
	pid_t pid = 0;

	work_start(argc, argv, &about);
	if (workload >= 2 && !file_path)
		work_refuse("%s wants --file, see --help", names[workload]);
	shared = work_map(sizeof(*shared), true);
	shuffled = workload & 1;
	memory.data = data;
	pages_fill(&memory, mb * WORK_MB / PAT_BYTES);
	if (mixed)
		sweep(2 * iterations, true, true);
	work_measure();
	if (workload >= 2)
		pid = start_file();
	for (uint64_t i = 0; i < iterations; i++) {
		sweep(2 * i, shuffled, true);
		sweep(2 * i + 1, shuffled, false);
	}
	work_check();
	end_file(pid);
	work_member("\"workload\": \"%s\"", names[workload]);
	work_member("\"mb\": %llu", (unsigned long long)mb);
	work_member("\"data\": \"%s\"", pat_data_names[data]);
	work_member("\"file_pages\": %llu", (unsigned long long)shared->file_pages);
	return work_end();
}
