/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Snapshots of a node for netlink and /proc: plain values, no pointers into
 * the mechanism. Each unit fills in its own.
 */
#ifndef NSWAP_VIEWS_H
#define NSWAP_VIEWS_H

#include "latency_steps.h"
#include "policy/registry.h"

/**
 * enum nswap_peer_state - a peer as its client sees it
 * @NSWAP_PEER_NEW: heard of, no session wanted yet
 * @NSWAP_PEER_CONNECTING: a session is being set up
 * @NSWAP_PEER_UP: a session is established
 * @NSWAP_PEER_SUSPECTED: the session broke; page-ins wait for it to come back
 * @NSWAP_PEER_DEAD: without an answer for dead_after, or it left: page-ins fail at once
 * @NSWAP_PEER_LOST: its epoch is over, its pages are gone
 * @NSWAP_PEER_STATES: number of states
 */
enum nswap_peer_state {
	NSWAP_PEER_NEW,
	NSWAP_PEER_CONNECTING,
	NSWAP_PEER_UP,
	NSWAP_PEER_SUSPECTED,
	NSWAP_PEER_DEAD,
	NSWAP_PEER_LOST,
	NSWAP_PEER_STATES,
};

/**
 * enum nswap_peer_reason - why a peer is not believed to be well
 * @NSWAP_REASON_NONE: it is
 * @NSWAP_REASON_NO_ANSWER: it does not answer
 * @NSWAP_REASON_REFUSED: its host, or a firewall, refuses connections
 * @NSWAP_REASON_UNREACHABLE: no way leads to it
 * @NSWAP_REASON_CLOSED: it closed the connection
 * @NSWAP_REASON_OTHER_NODE: another node is at its address
 * @NSWAP_REASON_OTHER_VERSION: it speaks another version of the protocol
 * @NSWAP_REASON_TURNED_AWAY: it wants no session now
 * @NSWAP_REASON_FAILED: this node could not try, for want of memory for instance
 * @NSWAP_REASON_KEYS: it is no member, or has not the key that it names
 * @NSWAP_REASON_NO_KEYS: it has no keys, and this node has; or the other way round
 * @NSWAP_REASON_FORGED: a message over the connection was not from it
 * @NSWAP_REASONS: number of reasons
 */
enum nswap_peer_reason {
	NSWAP_REASON_NONE,
	NSWAP_REASON_NO_ANSWER,
	NSWAP_REASON_REFUSED,
	NSWAP_REASON_UNREACHABLE,
	NSWAP_REASON_CLOSED,
	NSWAP_REASON_OTHER_NODE,
	NSWAP_REASON_OTHER_VERSION,
	NSWAP_REASON_TURNED_AWAY,
	NSWAP_REASON_FAILED,
	NSWAP_REASON_KEYS,
	NSWAP_REASON_NO_KEYS,
	NSWAP_REASON_FORGED,
	NSWAP_REASONS,
};

/**
 * struct nswap_peer_view - one peer
 * @index: in the IPTable
 * @state: enum nswap_peer_state
 * @leaving: it announced that it is going down
 * @awaited: for a reboot, and not long ago
 * @shrinking: it announced that it is reclaiming lent RAM
 * @fresh: heard of within silent_ms
 * @listed: named by the user
 * @id: node id, 0 if not heard of yet
 * @epoch: boot epoch
 * @addr: where it accepts connections
 * @lent: pages
 * @free: pages
 * @used: pages it holds for others
 * @grants: pages set aside for us
 * @inflight: pages of ours in flight to it
 * @slots: slots of ours that name it
 * @heard_ms: ms since it was last heard of
 * @version: wire protocol version it speaks, 0 if not heard of yet
 * @refused: @version is not the one this node speaks
 * @features: protocol features both sides have, while a session is established
 * @reason: enum nswap_peer_reason: why it is suspected, or dead
 * @since_ms: for so long nothing has come over a connection that should have
 */
struct nswap_peer_view {
	u16 index;
	u8 state;
	u8 reason;
	u32 since_ms;
	u8 version;
	bool refused;
	bool leaving;
	bool awaited;
	bool shrinking;
	bool fresh;
	bool listed;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	u64 lent;
	u64 free;
	u64 used;
	u32 grants;
	u32 inflight;
	u64 slots;
	u64 heard_ms;
	u64 features;
};

/**
 * enum nswap_trend - how the amount of lent RAM changes
 * @NSWAP_TREND_STEADY: it does not change
 * @NSWAP_TREND_GROWING: the last decision was to lend more
 * @NSWAP_TREND_SHRINKING: pages are being given back, or were a moment ago
 * @NSWAP_TRENDS: number of trends
 */
enum nswap_trend {
	NSWAP_TREND_STEADY,
	NSWAP_TREND_GROWING,
	NSWAP_TREND_SHRINKING,
	NSWAP_TRENDS,
};

/**
 * struct nswap_cache_view - the Nswap Cache
 * @lent: most pages to lend, set by the user
 * @target: pages to lend now, set by the size policy
 * @surplus: pages held above @target, which have to move away
 * @free: pages that can be granted, now or once they are allocated
 * @trend: enum nswap_trend
 * @allocated: pages set aside, held, or in transition between the two
 * @shrinker_calls: times the shrinker took pages back
 * @set_aside: pages allocated and not filled (granted ones included)
 * @granted: of these, promised to owners
 * @held: pages held for owners
 * @ram: pages of RAM that these take: short ones share some
 * @owners: number of owners with a page or a session
 */
struct nswap_cache_view {
	u64 lent;
	u64 target;
	u64 surplus;
	u64 free;
	u8 trend;
	u64 allocated;
	u64 shrinker_calls;
	u64 set_aside;
	u64 granted;
	u64 held;
	u64 ram;
	u32 owners;
};

/**
 * struct nswap_owner_view - one owner in the Nswap Cache
 * @id: node id
 * @epoch: boot epoch
 * @connected: a session is established
 * @held: pages
 * @ram: pages of RAM that these take
 * @granted: pages
 * @no_home: it reported lately that pages cannot be sent back to it
 * @reserved: pages that its devices' reserves lack
 * @share: pages it may have of what is lent now
 * @weight: what it gets beside others, where there is not enough for all
 */
struct nswap_owner_view {
	u64 id;
	u64 epoch;
	bool connected;
	u64 held;
	u64 ram;
	u64 granted;
	bool no_home;
	u64 reserved;
	u64 share;
	u32 weight;
};

/**
 * struct nswap_weight_view - a weight that was set
 * @id: of the owner's node, which need not be known
 * @weight: NSWAP_WEIGHT_LEAST to NSWAP_WEIGHT_MOST
 */
struct nswap_weight_view {
	u64 id;
	u32 weight;
};

/**
 * struct nswap_tier_view - what one device has in one tier
 * @there: the device has this tier; else all is 0
 * @class: ram, flash or disk
 * @rank: the lowest is stored to first
 * @pages: slots whose page is here; flash: and not at a peer as well
 * @slots: its size; 0 for RAM, which does not belong to the device
 * @used: slots in use
 * @names: its block devices, as in /dev, in order; "" for none
 */
struct nswap_tier_view {
	bool there;
	const char *class;
	unsigned int rank;
	u64 pages;
	u64 slots;
	u64 used;
	char names[32 * NSWAP_FLASH_DEVICES];
};

/**
 * struct nswap_side_view - one side table of a device
 * @name: shown to users
 * @bits: bits per slot
 * @bytes: memory it takes
 */
struct nswap_side_view {
	const char *name;
	u32 bits;
	u64 bytes;
};

/**
 * struct nswap_device_view - one device
 * @name: as in /dev
 * @instance: its number on the wire
 * @slots: its size
 * @map_bytes: memory of its shadow slot map
 * @side_bytes: memory of its side tables
 * @side: the tables
 * @nr_side: number of @side
 * @lost: slots whose page is lost
 * @protect: what it is protected by
 * @exposed: pages that are lost if their peer dies
 * @lag: pages that home lags behind; they are in this node's RAM
 * @class: what lenders that shrink do with its pages
 * @reserve: pages that peers are to keep for it
 * @reserved: pages that peers which are up do keep
 * @sealed: its pages leave the node sealed
 * @compress: how they are compressed before
 * @compressed: pages that left shorter than they were, since it was added
 * @compressed_bytes: what these had then
 * @incompressible: pages that did not become shorter
 * @cache_pages: of its write cache; 0 without one
 * @cache_early: page-outs end when their pages are there
 * @cache_used: pages of it that are used
 * @cache_dirty: of these, those that have yet to be sent, or are being sent
 * @cache_hits: pages read that were there, since it was added
 * @cache_misses: and that were not
 * @cache_rewrites: pages that were rewritten before they were sent
 * @cache_frees: and freed
 * @cache_full: pages written that found no room there
 * @cache_failed: pages that nothing took when they were sent, each time
 * @cache_kept: of @cache_used, those that have fewer copies below than are promised
 * @rekeying: its key is being changed
 * @old_key: pages that are left under the old one
 * @unread: of these, those that could not be read or written when they were tried last
 * @altered: likewise, those that were changed where they are, or on the way
 * @tier: its tiers, including those it does not have
 * @in_use: opened or swapped on
 * @policy: what is set on the device itself, NULL where it follows its node
 */
struct nswap_device_view {
	char name[32];
	u32 instance;
	u64 slots;
	u64 map_bytes;
	u64 side_bytes;
	struct nswap_side_view side[NSWAP_SIDE_TABLES];
	unsigned int nr_side;
	u64 lost;
	char protect[16];
	u64 exposed;
	u32 lag;
	const char *class;
	u32 reserve;
	u64 reserved;
	bool sealed;
	const char *compress;
	u64 compressed;
	u64 compressed_bytes;
	u64 incompressible;
	u64 cache_pages;
	bool cache_early;
	u64 cache_used;
	u64 cache_dirty;
	u64 cache_hits;
	u64 cache_misses;
	u64 cache_rewrites;
	u64 cache_frees;
	u64 cache_full;
	u64 cache_failed;
	u64 cache_kept;
	bool rekeying;
	u64 old_key;
	u64 unread;
	u64 altered;
	struct nswap_tier_view tier[NSWAP_TIERS];
	bool in_use;
	const struct nswap_policy *policy[NSWAP_POLICY_KINDS];
};

/**
 * struct nswap_device_config - a device to be added
 * @bytes: its size
 * @sized: @bytes is set; else the device is as large as its home
 * @home: path of its home; NULL for none
 * @flash: paths of its flash devices, by rank
 * @nr_flash: number of @flash
 * @protect: kind of protection; NULL for none
 * @class: what lenders do with its pages; NULL for normal
 * @reserve: bytes that peers are to keep for it
 * @reserves: @reserve is set
 * @seal: its pages leave the node sealed
 * @compress: how they are compressed before; NULL for not at all
 * @cache: bytes of its write cache
 * @caches: @cache is set
 * @early_ack: page-outs end when their pages are there
 */
struct nswap_device_config {
	u64 bytes;
	bool sized;
	const char *home;
	const char *flash[NSWAP_FLASH_DEVICES];
	unsigned int nr_flash;
	const char *protect;
	const char *class;
	u64 reserve;
	bool reserves;
	bool seal;
	const char *compress;
	u64 cache;
	bool caches;
	bool early_ack;
};

/**
 * struct nswap_latency_view - latency of one step of an op
 * @op: page-in or page-out
 * @tier: source or destination
 * @step: its name
 * @pages: pages measured
 * @sum_ns: sum over these pages
 * @bucket: see struct nswap_hist
 */
struct nswap_latency_view {
	const char *op;
	const char *tier;
	const char *step;
	u64 pages;
	u64 sum_ns;
	u64 bucket[NSWAP_HIST_BUCKETS];
};

#define NSWAP_PROFILE_BUCKETS	16

/**
 * struct nswap_profile_view - how many pages are in flight at once
 * @op: page-in or page-out
 * @tier: source or destination
 * @samples: number of samples
 * @busy: of these, with a page in flight
 * @sum: of all samples
 * @most: largest
 * @bucket: see struct nswap_hist
 */
struct nswap_profile_view {
	const char *op;
	const char *tier;
	u64 samples;
	u64 busy;
	u64 sum;
	u64 most;
	u64 bucket[NSWAP_PROFILE_BUCKETS];
};

/**
 * struct nswap_trace_view - pages paged out or in together
 * @number: of the entry, starting at 1
 * @time: when they completed, by ktime_get_ns()
 * @ns: time since the request came from the block layer
 * @slot: first slot
 * @device: N of /dev/nswapN
 * @peer: index of the peer, 0 for none
 * @slots: number of slots
 * @op: READ or WRITE
 * @tier: enum nswap_tier
 */
struct nswap_trace_view {
	u64 number;
	u64 time;
	u64 ns;
	u64 slot;
	u16 device;
	u16 peer;
	u8 slots;
	u8 op;
	u8 tier;
};

struct nswap_node;
struct netlink_ext_ack;

/* meter.c, profile.c, slot_trace.c */
bool nswap_latency_next(struct nswap_node *node, unsigned int *at,
			struct nswap_latency_view *v);
int nswap_profile_next(struct nswap_node *node, const char *device,
		       unsigned int at, struct nswap_profile_view *v);
int nswap_profile_reset(struct nswap_node *node, const char *device);
bool nswap_trace_next(struct nswap_node *node, u64 after,
		      struct nswap_trace_view *v);

/* peer_table.c: first used index above @after, false when there is none */
bool nswap_peer_next(struct nswap_node *node, u16 after,
		     struct nswap_peer_view *v);
const char *nswap_peer_state_name(u8 state);
void nswap_peer_reason_text(u8 reason, u32 ms, char *text, size_t len);

/* cache.c */
const char *nswap_trend_name(u8 trend);
void nswap_cache_get_view(struct nswap_node *node, struct nswap_cache_view *v);
bool nswap_owner_next(struct nswap_node *node, unsigned int after,
		      struct nswap_owner_view *v);

/* server/weights.c */
int nswap_weight_set(struct nswap_node *node, u64 id, u32 weight);
bool nswap_weight_next(struct nswap_node *node, unsigned int after,
		       struct nswap_weight_view *v);

/* device/life.c */
int nswap_device_add(struct nswap_node *node,
		     const struct nswap_device_config *cfg,
		     struct nswap_device_view *v, struct netlink_ext_ack *ext);
int nswap_device_del(struct nswap_node *node, const char *name,
		     struct netlink_ext_ack *ext);
int nswap_device_protect(struct nswap_node *node, const char *name,
			 const char *mode, struct nswap_device_view *v,
			 struct netlink_ext_ack *ext);
bool nswap_device_next(struct nswap_node *node, u32 after_instance,
		       struct nswap_device_view *v);
bool nswap_device_any_open(void);
void nswap_device_view(struct nswap_device *dev, struct nswap_device_view *v);

/* device/totals.c */
void nswap_device_count(struct nswap_node *node, struct nswap_device_view *v);

#endif
