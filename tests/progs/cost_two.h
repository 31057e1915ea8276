/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Works of cost.c: two tasks, on a processor each, read or write one 4 KiB page at a time,
 * each in its half of the device. How long that takes says nothing; which memory both
 * processors use is what is looked at (tests/vm/lines.py).
 *
 * Invariant: the module's threads stay where they are put before the first window, so a
 * thread's stack is not used on both.
 */
#ifndef NSWAP_TEST_COST_TWO_H
#define NSWAP_TEST_COST_TWO_H

#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>

#include "cost.h"

#define TWO_PAGES	768	/* of each task in a repetition */

struct two_half {
	struct disk d;		/* its pages are the half's, its buffer has TWO_PAGES */
	uint64_t first;		/* page of the device */
	bool write;
};

static void two_stay(pid_t pid, unsigned int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one))
		refuse("cannot put task %d on processor %u: %s", pid, cpu, strerror(errno));
}

/* Each thread of the module on a processor, in turn. */
static void two_place_threads(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int nr = 0;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtoul(entry->d_name, NULL, 10);
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = pid ? fopen(path, "r") : NULL;
		if (f && fgets(name, sizeof(name), f) && !strncmp(name, "nswap/", 6))
			two_stay(pid, nr++ % 2);
		if (f)
			fclose(f);
	}
	if (!nr)
		refuse("the module has no threads");
	closedir(proc);
}

static uint64_t two_page(const struct two_half *h, unsigned int rep, uint64_t i)
{
	struct pat_order order = pat_order_new(h->d.pages, SEED + rep);

	return h->first + pat_order_at(&order, i);
}

static void two_prepare(struct two_half *h, unsigned int rep)
{
	memset(h->d.buf, 0, TWO_PAGES * PAT_BYTES);
	for (uint64_t i = 0; h->write && i < TWO_PAGES; i++) {
		uint64_t page = two_page(h, rep, i);

		pat_fill(h->d.buf + i * PAT_BYTES, SEED, page, ++h->d.count[page - h->first]);
	}
}

static void two_run(struct two_half *h, unsigned int rep, bool write)
{
	for (uint64_t i = 0; i < TWO_PAGES; i++)
		transfer(&h->d, write, h->d.buf + i * PAT_BYTES, PAT_BYTES,
			 (off_t)(two_page(h, rep, i) * PAT_BYTES));
}

static void two_compare(struct two_half *h, unsigned int rep)
{
	if (h->write)
		two_run(h, rep, false);
	for (uint64_t i = 0; i < TWO_PAGES; i++) {
		uint64_t page = two_page(h, rep, i);
		uint32_t count = h->d.count[page - h->first];
		unsigned char *buf = h->d.buf + i * PAT_BYTES;

		if (!pat_same(buf, SEED, page, count))
			bad_page(&h->d.bad, buf, SEED, page, count, 2 * h->d.pages);
	}
}

/* Go on when both tasks are here; neither sleeps, since each has a processor. */
static void two_meet(unsigned int *came)
{
	unsigned int nr = __atomic_add_fetch(came, 1, __ATOMIC_ACQ_REL);

	while (__atomic_load_n(came, __ATOMIC_ACQUIRE) < nr + nr % 2)
		sched_yield();
}

/* One task; the one with a name tells of its windows. Repetition 0 is there to get warm. */
static int two_task(struct two_half *h, unsigned int *came, const char *name)
{
	two_stay(0, !name);
	for (unsigned int rep = 0; rep <= REPS; rep++) {
		uint64_t start = 0, took = 0;

		two_prepare(h, rep);
		two_meet(came);
		if (name)
			start = window_begin();
		two_run(h, rep, h->write);
		two_meet(came);
		if (name)
			took = window_end(start);
		two_compare(h, rep);
		if (name && rep)
			tell(name, rep, 2 * TWO_PAGES, took, 0);
		two_meet(came);
	}
	return verdict(&h->d.bad, name ? name : "the other task");
}

static void two_fill(struct two_half *h)
{
	for (uint64_t i = 0; i < h->d.pages; i++) {
		pat_fill(h->d.buf, SEED, h->first + i, ++h->d.count[i]);
		transfer(&h->d, true, h->d.buf, PAT_BYTES, (off_t)((h->first + i) * PAT_BYTES));
	}
}

/* Two tasks on a device: "two-read" or "two-write". Returns the exit code. */
static int two(const char *name, const char *path, uint64_t mb)
{
	struct two_half half[2];
	unsigned int *came;
	int status, code;
	pid_t other;

	came = mmap(NULL, sizeof(*came), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (came == MAP_FAILED)
		refuse("no memory: %s", strerror(errno));
	for (unsigned int i = 0; i < 2; i++) {
		half[i] = (struct two_half){
			.write = !strcmp(name, "two-write"), .first = i * (mb << 7),
			.d = {
				.fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC),
				.pages = mb << 7,
				.buf = populated(TWO_PAGES * PAT_BYTES),
				.count = populated((mb << 7) * sizeof(uint32_t)),
			},
		};
		if (half[i].d.fd < 0)
			refuse("cannot open %s: %s", path, strerror(errno));
		memset(half[i].d.count, 0, (mb << 7) * sizeof(uint32_t));
		two_fill(&half[i]);
	}
	two_place_threads();
	other = fork();
	if (other < 0)
		refuse("cannot fork: %s", strerror(errno));
	if (!other)
		exit(two_task(&half[1], came, NULL));
	code = two_task(&half[0], came, name);
	if (waitpid(other, &status, 0) != other || !WIFEXITED(status))
		refuse("the second task ended by itself");
	return code ? code : WEXITSTATUS(status);
}

#endif
