/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster as one table: what this node and each of its peers say of themselves.
 */
#ifndef NSWAPCTL_CLUSTER_H
#define NSWAPCTL_CLUSTER_H

#include "view.h"

/**
 * struct cluster_total - a total of a node
 * @attr: where netlink has it
 * @key: in JSON
 */
struct cluster_total {
	int attr;
	const char *key;
};

enum {
	CLUSTER_LENT, CLUSTER_HELD, CLUSTER_FREE, CLUSTER_OWNERS, CLUSTER_DEVICES,
	CLUSTER_SIZE, CLUSTER_REMOTE, CLUSTER_FLASH, CLUSTER_HOME, CLUSTER_EXPOSED,
	CLUSTER_LOST, CLUSTER_OUT, CLUSTER_IN, CLUSTER_TOTALS
};

extern const struct cluster_total cluster_totals[CLUSTER_TOTALS];

struct cluster_member {
	bool self;
	struct view_peer peer;	/* of the node itself: id, epoch, address and state */
	char software[32];	/* "" if it has told nothing */
	char why[96];		/* likewise why */
	bool told[CLUSTER_TOTALS];
	uint64_t total[CLUSTER_TOTALS];
	bool rated;		/* the same node told totals the time before, too: */
	double out, in;		/* pages a second since then */
};

/* what was found out at one time, the node itself first, then by address */
struct cluster {
	double at;		/* seconds of the monotonic clock when they were asked */
	struct cluster_member *member;
	size_t nr;
};

/*
 * Of this node and all its peers. @interval: seconds between two looks, with what happened
 * in between, 0 for one look; @times: so many, 0 until interrupted. Returns the exit code.
 */
int cluster_show(double interval, uint64_t times);

/* @seconds: that rates are of, 0 without */
void cluster_print(const struct cluster *c, double seconds);

#endif
