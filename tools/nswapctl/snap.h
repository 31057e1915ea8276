/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that is to be seen of a node, at one moment.
 */
#ifndef NSWAPCTL_SNAP_H
#define NSWAPCTL_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter.h"
#include "view.h"

struct snap {
	double at;		/* seconds of the monotonic clock */
	struct view_stat stat;
	struct view_swapped swapped;
	struct view_device *devices;
	size_t nr_devices;
	struct view_peer *peers;
	size_t nr_peers;
	struct view_owner *owners;
	size_t nr_owners;
	struct meter_step *steps;
	size_t nr_steps;
};

/* false, and nothing to drop, if there is no node or no module */
bool snap_take(struct snap *s);
void snap_drop(struct snap *s);

/*
 * What happened between two snaps. A node that came up in between began to
 * count again: then, and without @was, it is all since then.
 */
uint64_t snap_counted(const struct snap *s, const struct snap *was,
		      enum view_role role, const char *name);
/* pages of @op, "page-out" or "page-in", in all tiers */
struct meter_hist snap_latency(const struct snap *s, const struct snap *was,
			       const char *op);
/* pages that went out or came in, peers, flash and home together */
uint64_t snap_out(const struct snap *s, const struct snap *was);
uint64_t snap_in(const struct snap *s, const struct snap *was);
uint64_t snap_errors(const struct snap *s, const struct snap *was);

#endif
