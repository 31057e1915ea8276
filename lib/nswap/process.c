// SPDX-License-Identifier: GPL-2.0
/*
 * Which process is meant, and whether it still runs.
 *
 * Numbers of processes are used again, and those of containers are their own: a process is
 * known by its number, when it began, and whose number that is. What cannot be found out is
 * neither known to run nor known to be gone.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

/* In ticks since boot; 0 if that cannot be read. */
static uint64_t process_born(pid_t pid)
{
	unsigned long long born = 0;
	char path[32], line[512], *at;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	at = fgets(line, sizeof(line), stat) ? strrchr(line, ')') : NULL;
	fclose(stat);
	if (!at || sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %*s %*s %*s %llu", &born) != 1)
		return 0;
	return born;
}

void process_self(struct process *p)
{
	struct stat space;

	p->pid = getpid();
	p->born = process_born(p->pid);
	p->space = stat("/proc/self/ns/pid", &space) ? 0 : space.st_ino;
}

bool process_same(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && a->born == b->born && a->space == b->space;
}

/* Does it run, for certain? */
bool process_lives(const struct process *p)
{
	return p->born && p->space == lib.self.space && process_born(p->pid) == p->born;
}

/* Has it ended, for certain? */
bool process_gone(const struct process *p)
{
	uint64_t born;

	if (p->space != lib.self.space)
		return false;
	if (kill(p->pid, 0) && errno == ESRCH)
		return true;
	born = process_born(p->pid);
	return born && p->born && born != p->born;
}
