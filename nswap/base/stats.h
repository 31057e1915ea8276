/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a node, one per-CPU word each. Order and names are those of
 * /proc/nswap/stats and of netlink; new ones are added at the end of their role.
 */
#ifndef NSWAP_STATS_H
#define NSWAP_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#define NSWAP_STATS(X) \
	/* client */ \
	X(pages_out)		/* pages stored on peers (acknowledged) */ \
	X(pages_in)		/* pages read back from peers */ \
	X(store_msgs)		/* STORE messages sent */ \
	X(load_msgs)		/* LOAD messages sent */ \
	X(zero_reads)		/* pages read that were never written */ \
	X(write_errors)		/* pages whose page-out failed */ \
	X(read_errors)		/* pages whose page-in failed */ \
	X(refused)		/* pages a peer refused to store */ \
	X(timeouts)		/* page-outs that were not answered in time */ \
	X(moved)		/* pages placed a second time */ \
	X(free_msgs)		/* FREE messages sent */ \
	X(freed_slots)		/* slots freed */ \
	X(reconciles)		/* comparisons with a peer completed */ \
	X(sessions)		/* sessions that came up */ \
	X(moves_recorded)	/* own pages recorded at their new place */ \
	X(moves_refused)	/* moves of own pages that were called off */ \
	X(moves_met)		/* moves that found their slot changed meanwhile */ \
	X(pages_home_out)	/* pages written to home */ \
	X(pages_followed)	/* pages written home that a peer has too */ \
	X(pages_home_in)	/* pages read back from home */ \
	X(pages_returned)	/* own pages that servers sent back */ \
	X(returns_failed)	/* own pages sent back that had nowhere to go */ \
	X(pages_flash_out)	/* pages written to flash */ \
	X(pages_flash_in)	/* pages read back from flash */ \
	X(pages_home_to_remote)	/* pages moved out from home to peers */ \
	X(pages_prefetched)	/* pages brought to flash before they were used */ \
	X(prefetch_called_off)	/* prefetches to flash or RAM that were abandoned */ \
	X(prefetch_hits)	/* of pages_flash_in, pages that were prefetched */ \
	X(pages_prefetched_ram)	/* of pages_home_to_remote, those prefetched */ \
	X(prefetch_ram_hits)	/* of pages_in, pages prefetched to peers */ \
	X(copies_evicted)	/* copies dropped from flash to make room */ \
	/* server */ \
	X(pages_stored)		/* pages stored for others */ \
	X(pages_loaded)		/* pages served to their owners */ \
	X(pages_freed)		/* pages dropped because their owner freed them */ \
	X(stores_refused)	/* pages refused */ \
	X(loads_missed)		/* pages that were asked for but not held */ \
	X(reconcile_dropped)	/* pages dropped because their owner has no record */ \
	X(owners_rebooted)	/* owners whose pages were dropped with their epoch */ \
	X(fenced)		/* connections closed by a newer session */ \
	X(pages_moved_in)	/* pages other servers moved here */ \
	X(pages_moved_out)	/* pages moved to other servers and dropped */ \
	X(pages_sent_home)	/* pages sent back to owners and dropped */ \
	X(leases_ended)		/* owners absent for too long, their pages dropped */ \
	X(moves_failed)		/* failed attempts to move a page */ \
	X(grown)		/* pages by which lending grew */ \
	X(shrunk)		/* pages by which it shrank */ \
	X(shrinker_calls)	/* times reclaim took pages back */ \
	X(grants_revoked)	/* grants taken back */ \
	X(pages_rebalanced)	/* of pages_moved_out: moved to emptier peers */ \
	/* announcements */ \
	X(announced)		/* announcements sent */ \
	X(heard)		/* announcements accepted */ \
	X(announce_rejected)	/* malformed, or from outside subnet and list */

struct nswap_stats {
#define NSWAP_STAT_FIELD(name)	u64 name;
	NSWAP_STATS(NSWAP_STAT_FIELD)
#undef NSWAP_STAT_FIELD
};

/* Context: any; this_cpu_add() does not race with an interrupt on the same CPU */
#define nswap_stat_add(node, name, n)	this_cpu_add((node)->stats->name, n)
#define nswap_stat_inc(node, name)	nswap_stat_add(node, name, 1)

void nswap_stats_sum(const struct nswap_stats __percpu *stats,
		     struct nswap_stats *sum);

#endif
