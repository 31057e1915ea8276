/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of knobs: name, minimum, maximum, default, one line with the unit.
 * All that can be set while a node is up is defined here and nowhere else; nswapctl
 * takes the list, and only that, from here too.
 */
#ifndef NSWAP_KNOB_LIST_H
#define NSWAP_KNOB_LIST_H

#include <linux/types.h>

#define NSWAP_KNOBS(X) \
	X(dead_after_ms, 1000, 3600000, 30000, \
	  "ms a page-in waits for a silent peer before it fails") \
	X(store_timeout_ms, 100, 60000, 2000, \
	  "ms after which an unanswered page-out is placed elsewhere") \
	X(announce_ms, 100, 60000, 1000, "ms between announcements") \
	X(silent_ms, 500, 600000, 5000, "ms after which an unheard peer is not chosen") \
	X(reconcile_s, 1, 86400, 600, "seconds between comparisons of what a peer holds") \
	X(refraction_ms, 0, 600000, 1000, "ms a peer that refused is left alone") \
	X(lease_s, 5, 30 * 86400, 3600, \
	  "seconds that pages of an owner that is away are kept") \
	X(move_mib_s, 0, 1 << 20, 0, \
	  "MiB a second that page migration may use, 0 for no limit") \
	X(home_out_mib_s, 0, 1 << 20, 32, \
	  "MiB a second that may move out from home to peers, 0 for none") \
	X(rebalance_pct, 0, 100, 0, \
	  "percent points fuller than others that make a node hand pages on") \
	X(headroom_pct, 0, 100, 15, \
	  "percent of RAM left to this node's programs (watermark)") \
	X(lend_min_mib, 0, 1 << 30, 0, "MiB lent whatever the size policy says") \
	X(size_period_ms, 100, 60000, 1000, "ms between decisions on how much to lend") \
	X(grow_pct, 1, 100, 2, "percent of RAM by which lending may grow in a second") \
	X(hold_off_ms, 0, 600000, 5000, "ms after giving RAM back in which none is taken") \
	X(oom_wait_ms, 0, 600000, 10000, "ms an OOM kill waits for pages that move away or out") \
	X(latency, 0, 1, 0, "1: measure each step of page-outs and page-ins") \
	X(trace, 0, 1, 0, "1: keep the slot trace") \
	X(profile_ms, 0, 60000, 500, "ms between samples of what is under way, 0 for none") \
	X(psi, 0, 10000, 0, "100ths of a percent of time spent waiting for memory, fed in") \
	X(prefetch_period_ms, 10, 3600000, 1000, "ms between wake-ups of a prefetcher") \
	X(prefetch_pct, 1, 100, 10, "percent that percent-out and percent-used prefetch") \
	X(fed_total_mib, 0, 1 << 30, 0, \
	  "tests: MiB of RAM to believe in, 0 for the machine's own") \
	X(fed_available_mib, 0, 1 << 30, 0, "tests: MiB of it that are available") \
	X(fed_swap_outs, 0, U32_MAX, 0, "tests: pages swapped out so far") \
	X(fed_refaults, 0, U32_MAX, 0, "tests: pages refaulted so far") \
	X(protect_mib_s, 0, 1 << 20, 64, \
	  "MiB a second of exposed pages that may be protected, 0 for none") \
	X(hedge_pct, 0, 100, 5, \
	  "percent of page-ins that may be had elsewhere, their peer being late") \
	X(clear_freed, 0, 1, 1, "1: pages lent from now on are cleared before they go back") \
	X(owner_away_s, 0, 86400, 0, \
	  "seconds from now in which this machine's owner counts as away, fed in") \
	X(owner_max_pct, 1, 100, 100, \
	  "percent of what is lent that one owner may have, 100 for no limit") \
	X(fed_largest, 0, 10, 10, "tests: order of the largest free block of RAM") \
	X(cache_delay_ms, 0, 60000, 1000, \
	  "ms that early page-outs stay in a cache that has room, to be rewritten or freed") \
	X(forget_s, 10, 7 * 86400, 86400, \
	  "seconds after which a peer is forgotten that is not heard of and has no pages")

#ifdef __KERNEL__
/* one word each, read with nswap_knob(); 0 is a valid value; defaults are set at up */
struct nswap_knobs {
#define NSWAP_KNOB_FIELD(name, lo, hi, d, text)	u32 name;
	NSWAP_KNOBS(NSWAP_KNOB_FIELD)
#undef NSWAP_KNOB_FIELD
};
#endif

#endif
