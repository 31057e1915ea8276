/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A work of cost.c: all pages that a lender holds move to the other one, since it lends
 * nothing any more. The nodes are those of cost.sh: 1 is in the namespace b, 2 in c.
 *
 * Invariant: the window begins when the lender is seen to lend nothing and ends when it
 * holds nothing; a look is a hundredth of the instructions between two looks.
 */
#ifndef NSWAP_TEST_COST_MOVE_H
#define NSWAP_TEST_COST_MOVE_H

#include "cost.h"

#define MOVE_LOOK	0.002	/* seconds between two looks */
#define MOVE_SETTLE	3	/* seconds in which the others hear of the room */
#define MOVE_LIMIT	60

/* A figure of a lender in /proc/nswap/size. */
static uint64_t move_figure(unsigned int node, const char *column)
{
	char head[256], line[256], *names = head, *values = line, *name, *value;
	FILE *f = fopen("/proc/nswap/size", "r");

	if (!f || !fgets(head, sizeof(head), f))
		refuse("cannot read /proc/nswap/size: %s", strerror(errno));
	do {
		if (!fgets(line, sizeof(line), f))
			refuse("node %u is not in /proc/nswap/size", node);
	} while (strtoul(line, NULL, 10) != node);
	fclose(f);
	do {
		name = strsep(&names, "\n ");
		value = strsep(&values, "\n ");
		if (!name || !value)
			refuse("/proc/nswap/size has no column '%s'", column);
	} while (strcmp(name, column));
	return strtoull(value, NULL, 10);
}

static void move_wait(unsigned int node, const char *column)
{
	double until = now_s() + MOVE_LIMIT;

	while (move_figure(node, column)) {
		if (now_s() > until)
			refuse("node %u still has %s", node, column);
		nap_s(MOVE_LOOK);
	}
}

static void move_lend(unsigned int node, const char *pages, const char *end)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "/iproute2/ip netns exec %c nswapctl lend %s > /dev/null%s",
		 "bc"[node - 1], pages, end);
	/* of one that is not waited for, move_wait() sees whether it succeeded */
	if (system(command))
		refuse("failed: %s", command);
}

/* One repetition; rep 0 is not told, since half of the pages are at their place then. */
static void move_repeat(const char *name, unsigned int rep, uint64_t mb)
{
	unsigned int from = 1 + rep % 2;
	uint64_t pages, idle, start, took;
	char room[32];

	snprintf(room, sizeof(room), "%lluM", (unsigned long long)mb + 16);
	move_lend(3 - from, room, "");
	nap_s(MOVE_SETTLE);
	move_lend(from, "0", " &");
	move_wait(from, "lent");
	pages = move_figure(from, "held");
	idle = idle_ns();
	start = window_begin();
	move_wait(from, "held");
	took = window_end(start);
	idle = idle_ns() - idle;
	if (rep)
		tell(name, rep, pages, took - idle, idle);
}

/* Returns false if that is no such work. */
static bool moved(const char *name, uint64_t mb)
{
	if (strcmp(name, "move"))
		return false;
	for (unsigned int rep = 0; rep <= REPS; rep++)
		move_repeat(name, rep, mb);
	return true;
}

#endif
