/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profiler: how many pages are under way at once.
 */
#ifndef NSWAP_PROFILE_H
#define NSWAP_PROFILE_H

#include <linux/percpu.h>

#include "views.h"

struct nswap_meter;

/**
 * struct nswap_flow - pages given to a tier and pages back from it; one for each
 *	device and CPU, always counted
 * @started: by tier and READ or WRITE
 * @ended: likewise; the rest is under way
 */
struct nswap_flow {
	u64 started[NSWAP_TIERS][NSWAP_OPS];
	u64 ended[NSWAP_TIERS][NSWAP_OPS];
};

/**
 * struct nswap_degree - samples of how many pages are under way
 * @samples: how many samples
 * @busy: of these, with a page under way
 * @sum: of all samples
 * @most: largest
 * @bucket: as in struct nswap_hist
 */
struct nswap_degree {
	u64 samples;
	u64 busy;
	u64 sum;
	u64 most;
	u64 bucket[NSWAP_PROFILE_BUCKETS];
};

/**
 * struct nswap_degrees - these of every tier
 * @of: by tier and READ or WRITE
 */
struct nswap_degrees {
	struct nswap_degree of[NSWAP_TIERS][NSWAP_OPS];
};

void nswap_profile_init(struct nswap_meter *m);
void nswap_profile_start(struct nswap_node *node);
void nswap_profile_stop(struct nswap_node *node);

#endif
