/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Draining: moving everything off this node, with progress.
 */
#ifndef NSWAPCTL_DRAIN_H
#define NSWAPCTL_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct drained {
	uint64_t lent;		/* pages lent at first */
	uint64_t held;		/* pages held at first */
	uint64_t left;		/* pages that could not move */
	uint64_t home;		/* pages that went to their owners' homes */
	double seconds;
};

/*
 * Without @to_home it refuses, and changes nothing, if no peer has room at all.
 * With it pages may end at their owners' homes; if not one could move the node
 * lends what it lent before.
 */
struct drained drain_node(bool to_home);

#endif
