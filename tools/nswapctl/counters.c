// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of a node: names, where netlink has them, what they count.
 */
#include <string.h>

#include <linux/nswap.h>

#include "view.h"

const char *const view_roles[VIEW_ROLES] = { "client", "server", "announce" };

#define CLIENT(name, attr, help) \
	{ VIEW_CLIENT, NSWAP_CLIENT_A_##attr, name, help, false }
#define SERVER(name, attr, help) \
	{ VIEW_SERVER, NSWAP_SERVER_A_##attr, name, help, false }
#define NOW(name, attr, help) \
	{ VIEW_SERVER, NSWAP_SERVER_A_##attr, name, help, true }
#define ANNOUNCE(name, attr, help) \
	{ VIEW_ANNOUNCE, NSWAP_ANNOUNCE_A_##attr, name, help, false }

const struct view_counter view_counters[] = {
	CLIENT("pages_out", PAGES_OUT,
	       "pages stored on peers and acknowledged"),
	CLIENT("pages_in", PAGES_IN, "pages read back from peers"),
	CLIENT("store_msgs", STORE_MSGS, "STORE messages sent"),
	CLIENT("load_msgs", LOAD_MSGS, "LOAD messages sent"),
	CLIENT("zero_reads", ZERO_READS, "pages read that were never written"),
	CLIENT("write_errors", WRITE_ERRORS, "pages whose page-out failed"),
	CLIENT("read_errors", READ_ERRORS, "pages whose page-in failed"),
	CLIENT("seals_broken", SEALS_BROKEN,
	       "pages that had been changed where they were or on the way, each time"),
	CLIENT("refused", REFUSED, "pages a peer refused to store"),
	CLIENT("timeouts", TIMEOUTS, "page-outs unanswered for too long"),
	CLIENT("moved", MOVED, "pages placed a second time"),
	CLIENT("free_msgs", FREE_MSGS, "FREE messages sent"),
	CLIENT("freed_slots", FREED_SLOTS, "slots freed"),
	CLIENT("reconciles", RECONCILES, "comparisons with a peer completed"),
	CLIENT("sessions", SESSIONS, "sessions that came up"),
	CLIENT("moves_recorded", MOVES_RECORDED,
	       "own pages recorded at their new place"),
	CLIENT("moves_refused", MOVES_REFUSED,
	       "moves of own pages that were called off"),
	CLIENT("moves_met", MOVES_MET,
	       "moves that found their slot changed meanwhile"),
	CLIENT("pages_home_out", PAGES_HOME_OUT, "pages written to home"),
	CLIENT("pages_followed", PAGES_FOLLOWED,
	       "pages written home that a peer has too"),
	CLIENT("pages_mirrored", PAGES_MIRRORED,
	       "second copies stored on peers"),
	CLIENT("pages_hedged", PAGES_HEDGED,
	       "pages asked of another peer because the first was slow to answer"),
	CLIENT("pages_rebuilt", PAGES_REBUILT,
	       "pages computed from the others of their group"),
	CLIENT("pages_relogged", PAGES_RELOGGED,
	       "pages brought to other cells by recovery and cleaning"),
	CLIENT("pages_compressed", PAGES_COMPRESSED, "pages that left shorter than they were"),
	CLIENT("bytes_compressed", BYTES_COMPRESSED, "what these had then"),
	CLIENT("pages_home_in", PAGES_HOME_IN, "pages read back from home"),
	CLIENT("pages_returned", PAGES_RETURNED,
	       "own pages that servers brought back and flash or home has taken"),
	CLIENT("returns_failed", RETURNS_FAILED,
	       "own pages that servers brought back and neither flash nor home took"),
	CLIENT("pages_flash_out", PAGES_FLASH_OUT, "pages written to flash"),
	CLIENT("pages_flash_in", PAGES_FLASH_IN, "pages read back from flash"),
	CLIENT("pages_home_to_remote", PAGES_HOME_TO_REMOTE,
	       "pages moved out from home to peers"),
	CLIENT("pages_prefetched", PAGES_PREFETCHED,
	       "pages brought to flash ahead of their use"),
	CLIENT("prefetch_called_off", PREFETCH_CALLED_OFF,
	       "pages that stayed where they were, or whose copy was given up on its way"),
	CLIENT("prefetch_hits", PREFETCH_HITS,
	       "of the pages read back from flash, those that were prefetched"),
	CLIENT("pages_prefetched_ram", PAGES_PREFETCHED_RAM,
	       "of the pages moved out from home, those the prefetcher chose"),
	CLIENT("prefetch_ram_hits", PREFETCH_RAM_HITS,
	       "of the pages read back from peers, those brought there"),
	CLIENT("prefetched_ram_disk", PREFETCHED_RAM_DISK,
	       "pages that peers held, brought home to make room"),
	CLIENT("prefetched_disk_flash", PREFETCHED_DISK_FLASH,
	       "pages at home, brought to flash"),
	CLIENT("prefetched_flash_ram", PREFETCHED_FLASH_RAM,
	       "pages that only flash had, brought to peers"),
	CLIENT("prefetched_flash_disk", PREFETCHED_FLASH_DISK,
	       "pages that only flash had, brought home to make room"),
	CLIENT("prefetch_disk_hits", PREFETCH_DISK_HITS,
	       "of the pages read back from home, those brought there to make room"),
	CLIENT("leans", LEANS,
	       "times page-outs left a busy network for flash or home, or came back"),
	CLIENT("pages_leaned", PAGES_LEANED,
	       "pages out to flash or home meanwhile"),
	CLIENT("brought_ram", BROUGHT_RAM,
	       "pages that a user placed at peers, and that were elsewhere"),
	CLIENT("brought_flash", BROUGHT_FLASH,
	       "pages that a user placed on flash, and that were elsewhere"),
	CLIENT("brought_home", BROUGHT_HOME,
	       "pages that a user placed at home, and that were elsewhere"),
	CLIENT("brought_net", BROUGHT_NET,
	       "pages read from peers to be placed elsewhere, and those placed there from flash"),
	CLIENT("copies_evicted", COPIES_EVICTED,
	       "copies of pages that a peer has too, taken off flash to make room"),
	SERVER("pages_stored", PAGES_STORED, "pages taken in for others"),
	SERVER("pages_loaded", PAGES_LOADED, "pages served to their owners"),
	SERVER("pages_freed", PAGES_FREED,
	       "pages dropped because their owner freed them"),
	NOW("held_pages", HELD_PAGES, "pages held for owners now"),
	NOW("ram_pages", RAM_PAGES,
	    "pages of RAM that these take now: short ones share some"),
	NOW("set_aside_pages", SET_ASIDE_PAGES,
	    "pages allocated and not filled, granted ones included, now"),
	NOW("granted_pages", GRANTED_PAGES, "pages promised to owners now"),
	SERVER("refused", REFUSED, "pages refused"),
	SERVER("loads_missed", LOADS_MISSED, "pages asked for and not held"),
	SERVER("reconcile_dropped", RECONCILE_DROPPED,
	       "pages dropped because their owner has no record of them"),
	NOW("owners", OWNERS, "owners with a page or a session now"),
	SERVER("owners_rebooted", OWNERS_REBOOTED,
	       "owners whose pages went with their old epoch"),
	SERVER("fenced", FENCED, "connections closed by a newer session"),
	SERVER("pages_moved_in", PAGES_MOVED_IN,
	       "pages other servers moved here"),
	SERVER("pages_moved_out", PAGES_MOVED_OUT,
	       "pages moved to other servers and dropped"),
	SERVER("pages_returned", PAGES_RETURNED,
	       "pages brought back to their owners and dropped"),
	SERVER("leases_ended", LEASES_ENDED,
	       "owners away for too long, their pages dropped"),
	SERVER("moves_failed", MOVES_FAILED,
	       "attempts to move a page that came to nothing"),
	SERVER("grown", GROWN, "pages by which lending grew"),
	SERVER("shrunk", SHRUNK, "pages by which lending shrank"),
	SERVER("shrinker_calls", SHRINKER_CALLS,
	       "times reclaim took pages back"),
	SERVER("grants_revoked", GRANTS_REVOKED, "promises taken back"),
	SERVER("pages_rebalanced", PAGES_REBALANCED,
	       "of the pages moved out, those handed on to emptier servers"),
	SERVER("pages_dropped", PAGES_DROPPED,
	       "droppable pages dropped to give RAM back"),
	SERVER("keys_refused", KEYS_REFUSED,
	       "connections that were no member's, or ended by a forged message"),
	SERVER("shares_refused", SHARES_REFUSED,
	       "times an owner got less than there was, for it has its share"),
	SERVER("pages_packed", PAGES_PACKED,
	       "short pages kept in a page of RAM with others"),
	ANNOUNCE("sent", SENT, "announcements sent"),
	ANNOUNCE("heard", HEARD, "announcements taken in"),
	ANNOUNCE("rejected", REJECTED,
		 "announcements malformed, or from outside subnet and list"),
	ANNOUNCE("forged", FORGED, "announcements of no member"),
};

const unsigned int view_nr_counters =
	sizeof(view_counters) / sizeof(view_counters[0]);
_Static_assert(sizeof(view_counters) / sizeof(view_counters[0]) <=
	       VIEW_COUNTERS_MAX, "room for every counter");

uint64_t view_count(const struct view_stat *s, enum view_role role,
		    const char *name)
{
	unsigned int i;

	for (i = 0; i < view_nr_counters; i++)
		if (view_counters[i].role == role &&
		    !strcmp(view_counters[i].name, name))
			return s->counter[i];
	return 0;
}
