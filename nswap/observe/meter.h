/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurements of page-outs and page-ins: latency of each step, how many are in
 * flight, and the slot trace.
 */
#ifndef NSWAP_METER_H
#define NSWAP_METER_H

#include <linux/percpu.h>

#include "base/timestamp.h"
#include "core/flow.h"
#include "core/request.h"

/**
 * struct nswap_latency - latency of steps; one per CPU, and sums
 * @hist: by tier, READ or WRITE, and enum nswap_step; a page is one value
 */
struct nswap_latency {
	struct nswap_hist hist[NSWAP_TIERS][NSWAP_OPS][NSWAP_STEPS];
};

/**
 * struct nswap_meter - measurements of a node
 * @node: node
 * @latency: NULL until first measured, then kept
 * @base: sum of @latency when measuring began; under the node's @control
 * @latency_on: measure
 * @trace: NULL until first traced, then kept
 * @trace_on: trace
 * @profile: takes samples while there is a device
 * @degree_lock: protects @degree and those of devices; inside nothing; process
 *	context only
 * @degree: of all devices together
 */
struct nswap_meter {
	struct nswap_node *node;
	struct nswap_latency __percpu *latency;
	struct nswap_latency *base;
	bool latency_on;
	struct nswap_slot_trace *trace;
	bool trace_on;
	struct delayed_work profile;
	spinlock_t degree_lock;
	struct nswap_degrees degree;
};

int nswap_meter_init(struct nswap_node *node);
void nswap_meter_exit(struct nswap_node *node);
int nswap_meter_apply(struct nswap_node *node);
void nswap_meter_begin(struct nswap_op *op);
void nswap_meter_end(struct nswap_op *op, unsigned long again);

/* a request came from the block layer; process, page-out path; does not sleep */
static inline void nswap_meter_came(struct nswap_io *io)
{
	io->came = nswap_stamp();
}

/* The dispatcher begins with the next slots; process, page-out path; does not sleep. */
static inline void nswap_meter_turn(struct nswap_io *io)
{
	io->turn = nswap_stamp();
}

/* asks the peer to report how long it took, if latency is measured */
static inline __le16 nswap_meter_flags(const struct nswap_io *io,
				       u64 features)
{
	return cpu_to_le16(io->came && features & NSWAP_HAS_TIMED ?
				   NSWAP_F_TIMED : 0);
}

/* profile.c */
void nswap_profile_init(struct nswap_meter *m);
void nswap_profile_start(struct nswap_node *node);
void nswap_profile_stop(struct nswap_node *node);

/* slot_trace.c */
struct nswap_slot_trace *nswap_slot_trace_alloc(void);
void nswap_slot_trace(struct nswap_meter *m, struct nswap_trace_view *v);

#endif
