/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a node, one per-CPU word each: X(name, netlink attribute of its role).
 * /proc/nswap/stats has their order and names; new ones are added at the end of their
 * role.
 */
#ifndef NSWAP_STATS_H
#define NSWAP_STATS_H

#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define NSWAP_CLIENT_STATS(X) \
	X(pages_out, PAGES_OUT) /* pages stored on peers (acknowledged) */ \
	X(pages_in, PAGES_IN) /* pages read back from peers */ \
	X(store_msgs, STORE_MSGS) /* STORE messages sent */ \
	X(load_msgs, LOAD_MSGS) /* LOAD messages sent */ \
	X(zero_reads, ZERO_READS) /* pages read that were never written */ \
	X(write_errors, WRITE_ERRORS) /* pages whose page-out failed */ \
	X(read_errors, READ_ERRORS) /* pages whose page-in failed */ \
	X(seals_broken, SEALS_BROKEN) /* pages that did not open or expand, each time */ \
	X(refused, REFUSED) /* pages a peer refused to store */ \
	X(timeouts, TIMEOUTS) /* page-outs that were not answered in time */ \
	X(moved, MOVED) /* pages placed a second time */ \
	X(free_msgs, FREE_MSGS) /* FREE messages sent */ \
	X(freed_slots, FREED_SLOTS) /* slots freed */ \
	X(reconciles, RECONCILES) /* comparisons with a peer completed */ \
	X(sessions, SESSIONS) /* sessions that came up */ \
	X(moves_recorded, MOVES_RECORDED) /* own pages recorded at their new place */ \
	X(moves_refused, MOVES_REFUSED) /* moves of own pages that were called off */ \
	X(moves_met, MOVES_MET) /* moves that found their slot changed meanwhile */ \
	X(pages_home_out, PAGES_HOME_OUT) /* pages written to home */ \
	X(pages_home_in, PAGES_HOME_IN) /* pages read back from home */ \
	X(pages_returned, PAGES_RETURNED) /* own pages that servers sent back */ \
	X(returns_failed, RETURNS_FAILED) /* own pages sent back that had nowhere to go */ \
	X(pages_flash_out, PAGES_FLASH_OUT) /* pages written to flash */ \
	X(pages_flash_in, PAGES_FLASH_IN) /* pages read back from flash */ \
	X(pages_home_to_remote, PAGES_HOME_TO_REMOTE) /* pages moved out from home to peers */ \
	X(pages_prefetched, PAGES_PREFETCHED) /* pages brought to flash before they were used */ \
	X(prefetch_called_off, PREFETCH_CALLED_OFF) /* prefetches that were abandoned */ \
	X(prefetch_hits, PREFETCH_HITS) /* of pages_flash_in, pages that were prefetched */ \
	X(pages_prefetched_ram, PAGES_PREFETCHED_RAM) /* of pages_home_to_remote: prefetched */ \
	X(prefetch_ram_hits, PREFETCH_RAM_HITS) /* of pages_in, pages prefetched to peers */ \
	X(copies_evicted, COPIES_EVICTED) /* copies dropped from flash to make room */ \
	X(pages_followed, PAGES_FOLLOWED) /* pages written home that a peer has too */ \
	X(pages_mirrored, PAGES_MIRRORED) /* second copies stored on peers */ \
	X(pages_hedged, PAGES_HEDGED) /* pages read elsewhere, for their peer was slow */ \
	X(pages_rebuilt, PAGES_REBUILT) /* computed from the others of their group */ \
	X(pages_relogged, PAGES_RELOGGED) /* brought to other cells: recovery, cleaning */ \
	X(pages_compressed, PAGES_COMPRESSED) /* pages that left shorter than they were */ \
	X(bytes_compressed, BYTES_COMPRESSED) /* what these had then */ \
	X(prefetched_ram_disk, PREFETCHED_RAM_DISK) /* pages prefetched from peers to home */ \
	X(prefetched_disk_flash, PREFETCHED_DISK_FLASH) /* from home to flash */ \
	X(prefetched_flash_ram, PREFETCHED_FLASH_RAM) /* from flash to peers */ \
	X(prefetched_flash_disk, PREFETCHED_FLASH_DISK) /* from flash to home */ \
	X(prefetch_disk_hits, PREFETCH_DISK_HITS) /* of pages_home_in, prefetched to home */ \
	X(leans, LEANS) /* times page-outs left peers for another tier, or came back */ \
	X(pages_leaned, PAGES_LEANED) /* pages out meanwhile, to that tier */ \
	X(brought_ram, BROUGHT_RAM) /* pages a user placed at peers, that were elsewhere */ \
	X(brought_flash, BROUGHT_FLASH) /* on flash */ \
	X(brought_home, BROUGHT_HOME) /* at home */ \
	X(brought_net, BROUGHT_NET) /* pages read from peers for that, or stored there from flash */

#define NSWAP_SERVER_STATS(X) \
	X(pages_stored, PAGES_STORED) /* pages stored for others */ \
	X(pages_loaded, PAGES_LOADED) /* pages served to their owners */ \
	X(pages_freed, PAGES_FREED) /* pages dropped because their owner freed them */ \
	X(stores_refused, REFUSED) /* pages refused */ \
	X(loads_missed, LOADS_MISSED) /* pages that were asked for but not held */ \
	X(reconcile_dropped, RECONCILE_DROPPED) /* dropped: their owner has no record */ \
	X(owners_rebooted, OWNERS_REBOOTED) /* owners whose epoch is over */ \
	X(fenced, FENCED) /* connections closed by a newer session */ \
	X(pages_moved_in, PAGES_MOVED_IN) /* pages other servers moved here */ \
	X(pages_moved_out, PAGES_MOVED_OUT) /* pages moved to other servers and dropped */ \
	X(pages_sent_home, PAGES_RETURNED) /* pages sent back to owners and dropped */ \
	X(leases_ended, LEASES_ENDED) /* owners absent for too long, their pages dropped */ \
	X(moves_failed, MOVES_FAILED) /* failed attempts to move a page */ \
	X(grown, GROWN) /* pages by which lending grew */ \
	X(shrunk, SHRUNK) /* pages by which it shrank */ \
	X(shrinker_calls, SHRINKER_CALLS) /* times reclaim took pages back */ \
	X(grants_revoked, GRANTS_REVOKED) /* grants taken back */ \
	X(pages_rebalanced, PAGES_REBALANCED) /* of pages_moved_out: moved to emptier peers */ \
	X(pages_dropped, PAGES_DROPPED) /* droppable pages dropped to give RAM back */ \
	X(keys_refused, KEYS_REFUSED) /* connections ended: no member's, or a forged message */ \
	X(shares_refused, SHARES_REFUSED) /* times an owner got less: it has its share */ \
	X(pages_packed, PAGES_PACKED) /* short pages kept in a page with others */

#define NSWAP_ANNOUNCE_STATS(X) \
	X(announced, SENT) /* announcements sent */ \
	X(heard, HEARD) /* announcements accepted */ \
	X(announce_rejected, REJECTED) /* malformed, or from outside subnet and list */ \
	X(announce_forged, FORGED) /* of no member */

#define NSWAP_STATS(X) \
	NSWAP_CLIENT_STATS(X) \
	NSWAP_SERVER_STATS(X) \
	NSWAP_ANNOUNCE_STATS(X)

struct nswap_stats {
#define NSWAP_STAT_FIELD(name, ...)	u64 name;
	NSWAP_STATS(NSWAP_STAT_FIELD)
#undef NSWAP_STAT_FIELD
};

/* Context: any; this_cpu_add() does not race with an interrupt on the same CPU */
#define nswap_stat_add(node, name, n)	this_cpu_add((node)->stats->name, n)
#define nswap_stat_inc(node, name)	nswap_stat_add(node, name, 1)

/* one counter of a node, over all CPUs; any context */
#define nswap_stat_read(node, name) \
	nswap_stats_one((node)->stats, offsetof(struct nswap_stats, name))

void nswap_stats_sum(const struct nswap_stats __percpu *stats,
		     struct nswap_stats *sum);
u64 nswap_stats_one(const struct nswap_stats __percpu *stats, size_t offset);

#endif
