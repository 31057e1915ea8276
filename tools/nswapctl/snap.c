// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that is to be seen of a node, at one moment.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nl.h"
#include "snap.h"
#include "swaps.h"

/* pages of a swap device that are neither at a peer nor lost */
static uint64_t unbacked(const struct view_device *d, uint64_t used)
{
	return used > d->remote + d->lost ? used - d->remote - d->lost : 0;
}

void view_add_up(struct view_swapped *s, const struct view_device *devices,
		 size_t nr)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < nr; i++) {
		struct swaps_entry swap;

		s->size += devices[i].size;
		s->backed += devices[i].remote;
		s->lost += devices[i].lost;
		s->exposed += devices[i].exposed;
		s->old_key += devices[i].old_key;
		if (!swaps_find(devices[i].name, &swap))
			continue;
		s->used += swap.used_pages;
		s->unbacked += unbacked(&devices[i], swap.used_pages);
	}
}

bool snap_take(struct snap *s)
{
	struct view_node node;
	struct timespec t;

	memset(s, 0, sizeof(*s));
	if (ctl_connect())
		return false;
	if (!view_find_node(&node)) {
		ctl_disconnect();
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	s->at = t.tv_sec + t.tv_nsec / 1e9;
	view_get_stat(&s->stat);
	s->nr_devices = view_devices(&s->devices);
	s->nr_peers = view_peers(&s->peers);
	s->nr_owners = view_owners(&s->owners);
	s->nr_steps = meter_steps(&s->steps);
	view_add_up(&s->swapped, s->devices, s->nr_devices);
	return true;
}

void snap_drop(struct snap *s)
{
	free(s->devices);
	free(s->peers);
	free(s->owners);
	free(s->steps);
	memset(s, 0, sizeof(*s));
}

/* do the counters of both go on in one row? */
static bool goes_on(const struct snap *s, const struct snap *was)
{
	return was && s->stat.node.id == was->stat.node.id &&
	       s->stat.node.epoch == was->stat.node.epoch;
}

uint64_t snap_counted(const struct snap *s, const struct snap *was,
		      enum view_role role, const char *name)
{
	uint64_t n = view_count(&s->stat, role, name);

	return goes_on(s, was) ? n - view_count(&was->stat, role, name) : n;
}

static void add_hist(struct meter_hist *sum, const struct snap *s,
		     const char *op, int sign)
{
	unsigned int b;
	size_t i;

	for (i = 0; i < s->nr_steps; i++) {
		const struct meter_step *step = &s->steps[i];

		if (strcmp(step->step, "total") || strcmp(step->op, op))
			continue;
		for (b = 0; b < step->hist.nr; b++)
			sum->bucket[b] += sign * step->hist.bucket[b];
	}
}

struct meter_hist snap_latency(const struct snap *s, const struct snap *was,
			       const char *op)
{
	struct meter_hist h = { .nr = METER_BUCKETS }, before = h;
	unsigned int b;

	add_hist(&h, s, op, 1);
	if (!goes_on(s, was))
		return h;
	add_hist(&before, was, op, 1);
	for (b = 0; b < h.nr; b++)
		if (before.bucket[b] > h.bucket[b])
			return h;	/* measuring began again */
	add_hist(&h, was, op, -1);
	return h;
}

uint64_t snap_out(const struct snap *s, const struct snap *was)
{
	return snap_counted(s, was, VIEW_CLIENT, "pages_out") +
	       snap_counted(s, was, VIEW_CLIENT, "pages_flash_out") +
	       snap_counted(s, was, VIEW_CLIENT, "pages_home_out");
}

uint64_t snap_in(const struct snap *s, const struct snap *was)
{
	return snap_counted(s, was, VIEW_CLIENT, "pages_in") +
	       snap_counted(s, was, VIEW_CLIENT, "pages_flash_in") +
	       snap_counted(s, was, VIEW_CLIENT, "pages_home_in");
}

uint64_t snap_errors(const struct snap *s, const struct snap *was)
{
	return snap_counted(s, was, VIEW_CLIENT, "read_errors") +
	       snap_counted(s, was, VIEW_CLIENT, "write_errors");
}
