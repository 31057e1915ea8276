/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Draining: moving everything off this node, with progress.
 */
#ifndef NSWAPCTL_DRAIN_H
#define NSWAPCTL_DRAIN_H

#include <stdint.h>

struct drained {
	uint64_t held;		/* pages at first */
	uint64_t left;		/* pages that could not move */
	double seconds;
};

/* refuses, and changes nothing, if no peer has room at all */
struct drained drain_node(void);

#endif
