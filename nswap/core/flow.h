/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages in flight: the counters and samples of each device.
 */
#ifndef NSWAP_FLOW_H
#define NSWAP_FLOW_H

#include "base/views.h"

/**
 * struct nswap_flow - pages given to a tier and pages completed; one for each
 *	device and CPU, always counted
 * @started: by tier and READ or WRITE
 * @ended: likewise; the difference is in flight
 * @asked: pages that the kernel asked for, by READ or WRITE
 */
struct nswap_flow {
	u64 started[NSWAP_TIERS][NSWAP_OPS];
	u64 ended[NSWAP_TIERS][NSWAP_OPS];
	u64 asked[NSWAP_OPS];
};

/**
 * struct nswap_degree - samples of how many pages are in flight
 * @samples: number of samples
 * @busy: of these, with a page in flight
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
 * struct nswap_degrees - samples of every tier
 * @of: by tier and READ or WRITE
 */
struct nswap_degrees {
	struct nswap_degree of[NSWAP_TIERS][NSWAP_OPS];
};

#endif
