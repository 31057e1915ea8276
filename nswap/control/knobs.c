// SPDX-License-Identifier: GPL-2.0
/*
 * Knobs of a node: their names, bounds and defaults, and turning one.
 *
 * Invariants:
 *  - A knob is one u32; who uses it reads it once (nswap_knob()) and may see an
 *    old value for a moment.
 *  - They are turned one after another, under the node's control lock.
 */
#include "core/node.h"
#include "knobs.h"
#include "migrate/rebalance.h"
#include "observe/meter.h"
#include "server/sizing.h"
#include "tiering/prefetcher.h"

#define KNOB(field, lo, hi, d, text) \
	{ .name = #field, .help = text, .min = lo, .max = hi, .def = d, \
	  .offset = offsetof(struct nswap_knobs, field) }

const struct nswap_knob nswap_knobs[] = {
	KNOB(dead_after_ms, 1000, 3600000, 30000,
	     "ms a page-in waits for a silent peer before it fails"),
	KNOB(store_timeout_ms, 100, 60000, 2000,
	     "ms after which an unanswered page-out is placed elsewhere"),
	KNOB(announce_ms, 100, 60000, 1000, "ms between announcements"),
	KNOB(silent_ms, 500, 600000, 5000,
	     "ms after which an unheard peer is not chosen"),
	KNOB(reconcile_s, 1, 86400, 600,
	     "seconds between comparisons of what a peer holds"),
	KNOB(refraction_ms, 0, 600000, 1000,
	     "ms a peer that refused is left alone"),
	KNOB(lease_s, 5, 30 * 86400, 3600,
	     "seconds that pages of an owner that is away are kept"),
	KNOB(move_mib_s, 0, 1 << 20, 0,
	     "MiB a second that page migration may use, 0 for no limit"),
	KNOB(home_out_mib_s, 0, 1 << 20, 32,
	     "MiB a second that may move out from home to peers, 0 for none"),
	KNOB(rebalance_pct, 0, 100, 0,
	     "percent points fuller than others that make a node hand pages on"),
	KNOB(headroom_pct, 0, 100, 15,
	     "percent of RAM left to this node's programs (watermark)"),
	KNOB(lend_min_mib, 0, 1 << 30, 0,
	     "MiB lent whatever the size policy says"),
	KNOB(size_period_ms, 100, 60000, 1000,
	     "ms between decisions on how much to lend"),
	KNOB(grow_pct, 1, 100, 2,
	     "percent of RAM by which lending may grow in a second"),
	KNOB(hold_off_ms, 0, 600000, 5000,
	     "ms after giving RAM back in which none is taken"),
	KNOB(oom_wait_ms, 0, 600000, 10000,
	     "ms an OOM kill waits for pages that move away"),
	KNOB(latency, 0, 1, 0,
	     "1: measure each step of page-outs and page-ins"),
	KNOB(trace, 0, 1, 0, "1: keep the slot trace"),
	KNOB(profile_ms, 0, 60000, 500,
	     "ms between samples of what is under way, 0 for none"),
	KNOB(psi, 0, 10000, 0,
	     "100ths of a percent of time spent waiting for memory, fed in"),
	KNOB(prefetch_period_ms, 10, 3600000, 1000,
	     "ms between wake-ups of a prefetcher"),
	KNOB(prefetch_pct, 1, 100, 10,
	     "percent that percent-out and percent-used prefetch"),
	KNOB(fed_total_mib, 0, 1 << 30, 0,
	     "tests: MiB of RAM to believe in, 0 for the machine's own"),
	KNOB(fed_available_mib, 0, 1 << 30, 0,
	     "tests: MiB of it that are available"),
	KNOB(fed_swap_outs, 0, U32_MAX, 0, "tests: pages swapped out so far"),
	KNOB(fed_refaults, 0, U32_MAX, 0, "tests: pages refaulted so far"),
};

const unsigned int nswap_nr_knobs = ARRAY_SIZE(nswap_knobs);

static u32 *knob_at(struct nswap_knobs *knobs, const struct nswap_knob *k)
{
	return (u32 *)((char *)knobs + k->offset);
}

/**
 * nswap_knobs_set() - a node's knobs when it comes up
 * @node: node
 * @asked: values asked for, 0 for the default
 *
 * Context: any.
 */
void nswap_knobs_set(struct nswap_node *node, const struct nswap_knobs *asked)
{
	unsigned int i;

	node->knobs = *asked;
	for (i = 0; i < nswap_nr_knobs; i++) {
		u32 *v = knob_at(&node->knobs, &nswap_knobs[i]);

		if (!*v)
			*v = nswap_knobs[i].def;
	}
}

/**
 * nswap_node_set_knob() - turn a knob
 * @node: node
 * @name: its name
 * @value: its value
 * @ext: for one clear sentence
 *
 * Context: process, sleeps.
 * Return: 0, -ENOENT, -ERANGE, -ENOMEM.
 */
int nswap_node_set_knob(struct nswap_node *node, const char *name, u32 value,
			struct netlink_ext_ack *ext)
{
	const struct nswap_knob *k;
	u32 before;
	int ret;

	for (k = nswap_knobs; k < nswap_knobs + nswap_nr_knobs; k++) {
		if (strcmp(k->name, name))
			continue;
		if (value < k->min || value > k->max) {
			NL_SET_ERR_MSG_FMT(ext, "%s must be between %u and %u",
					   k->name, k->min, k->max);
			return -ERANGE;
		}
		mutex_lock(&node->control);
		before = *knob_at(&node->knobs, k);
		WRITE_ONCE(*knob_at(&node->knobs, k), value);
		ret = nswap_meter_apply(node);
		if (ret)
			WRITE_ONCE(*knob_at(&node->knobs, k), before);
		nswap_sizing_now(node);
		nswap_rebalance_now(node);
		if (k->offset == offsetof(struct nswap_knobs,
					  prefetch_period_ms))
			nswap_prefetchers_kick(node);
		mutex_unlock(&node->control);
		return ret;
	}
	NL_SET_ERR_MSG(ext, "there is no knob of that name, see: nswapctl set");
	return -ENOENT;
}
