// SPDX-License-Identifier: GPL-2.0
/*
 * The cluster as a table of 80 columns. An address that is longer than its column, as those
 * of IPv6 are, has a line of its own, and its figures stand in the next one.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cluster.h"

#define NODE_COLS	15	/* of an IPv4 address */

/* sizes have up to four characters, and a blank in front of them */
static const struct column {
	const char *title;
	int width;
	int total[2];		/* that are added up, -1 for none */
} columns[] = {
	{ "LENDS", 6, { CLUSTER_LENT, -1 } },
	{ "HOLDS", 6, { CLUSTER_HELD, -1 } },
	{ "FREE", 5, { CLUSTER_FREE, -1 } },
	{ "PEERS", 6, { CLUSTER_REMOTE, -1 } },
	{ "DISK", 5, { CLUSTER_FLASH, CLUSTER_HOME } },
	{ "EXPOSED", 8, { CLUSTER_EXPOSED, -1 } },
	{ "LOST", 5, { CLUSTER_LOST, -1 } },
};

#define NR_COLUMNS	(sizeof(columns) / sizeof(*columns))

static void print_pages(bool known, double pages, int width)
{
	char text[8];

	printf(" %*s", width - 1, known ? text_short(pages * PAGE_BYTES, text) : "-");
}

static void print_figures(const struct cluster_member *m, double seconds)
{
	const struct column *c;

	for (c = columns; c < columns + NR_COLUMNS; c++) {
		uint64_t pages = m->total[c->total[0]];

		if (c->total[1] >= 0)
			pages += m->total[c->total[1]];
		print_pages(m->told[c->total[0]], pages, c->width);
	}
	print_pages(seconds ? m->rated : m->told[CLUSTER_OUT],
		    seconds ? m->out : m->total[CLUSTER_OUT], 6);
	print_pages(seconds ? m->rated : m->told[CLUSTER_IN],
		    seconds ? m->in : m->total[CLUSTER_IN], 6);
}

/* the port only if it is not that of the node itself */
static const char *name_of(const struct cluster_member *m, uint16_t port, char buf[ADDR_TEXT])
{
	return m->peer.addr.port == port ? text_ip(&m->peer.addr, buf) :
					   text_addr(&m->peer.addr, buf);
}

static void print_member(const struct cluster_member *m, uint16_t port, double seconds)
{
	char addr[ADDR_TEXT];
	const char *name = name_of(m, port, addr);

	if (strlen(name) > NODE_COLS) {
		printf("%s\n", name);
		name = "";
	}
	printf("%-*s %-10s", NODE_COLS, name, view_peer_state(&m->peer));
	if (*m->software)
		print_figures(m, seconds);
	else
		printf("  %s", m->why);
	printf("\n");
}

static void print_head(double seconds)
{
	const struct column *c;
	time_t now = time(NULL);
	char text[32];

	if (seconds) {
		strftime(text, sizeof(text), "%F %T", localtime(&now));
		printf("\n%s, of %.1f s\n", text, seconds);
	}
	printf("%-*s %-10s", NODE_COLS, "NODE", "STATE");
	for (c = columns; c < columns + NR_COLUMNS; c++)
		printf(" %*s", c->width - 1, c->title);
	printf(" %5s %5s\n", seconds ? "OUT/s" : "OUT", seconds ? "IN/s" : "IN");
}

static void add_member(struct cluster_member *sum, const struct cluster_member *m)
{
	size_t i;

	for (i = 0; i < CLUSTER_TOTALS; i++) {
		sum->told[i] |= m->told[i];
		sum->total[i] += m->total[i];
	}
	sum->rated |= m->rated;
	sum->out += m->out;
	sum->in += m->in;
}

/* whose module is another version than this node's */
static void print_versions(const struct cluster *c, uint16_t port)
{
	char addr[ADDR_TEXT];
	size_t i;

	for (i = 1; i < c->nr; i++)
		if (*c->member[i].software &&
		    strcmp(c->member[i].software, c->member[0].software))
			printf("%s has version %s, this node %s\n",
			       name_of(&c->member[i], port, addr), c->member[i].software,
			       c->member[0].software);
}

void cluster_print(const struct cluster *c, double seconds)
{
	struct cluster_member sum = {};
	uint16_t port = c->nr ? c->member[0].peer.addr.port : 0;
	size_t i, told = 0;
	char nr[32];

	print_head(seconds);
	for (i = 0; i < c->nr; i++) {
		print_member(&c->member[i], port, seconds);
		told += *c->member[i].software != 0;
		add_member(&sum, &c->member[i]);
	}
	snprintf(nr, sizeof(nr), "%zu of %zu", told, c->nr);
	printf("%-*s %-10s", NODE_COLS, "together", nr);
	print_figures(&sum, seconds);
	printf("\n");
	print_versions(c, port);
}
