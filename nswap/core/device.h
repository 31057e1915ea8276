/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device: /dev/nswapN of a node. State only: see devices.h for finding one,
 * slot_update.h for changing an entry of its slot map.
 */
#ifndef NSWAP_DEVICE_H
#define NSWAP_DEVICE_H

#include <linux/blk-mq.h>
#include <linux/mutex.h>

#include "backing/flash.h"
#include "flow.h"
#include "leaning.h"
#include "prefetch/prefetch.h"
#include "pure/freed_set.h"
#include "pure/read_latency.h"
#include "pure/side_table.h"
#include "pure/slot_map.h"

struct nswap_follow;
struct nswap_home_fill;
struct nswap_key_change;
struct nswap_mirror_fill;
struct nswap_parity;
struct nswap_promote;
struct nswap_prefetcher;
struct nswap_reseal;
struct nswap_reserve;
struct nswap_returns;
struct nswap_sealer;
struct nswap_wrap;
struct nswap_write_cache;

/* flags of a read by this module itself: of what is below the write cache */
#define NSWAP_REQ_BELOW	(REQ_DRV | REQ_NOMERGE)
/* and of one by the prefetcher, see @ahead of struct nswap_io */
#define NSWAP_REQ_AHEAD	(REQ_RAHEAD | NSWAP_REQ_BELOW)

/**
 * struct nswap_slot_counts - slots in each state, one for each device and CPU
 * @of: slots that came to a state on this CPU less those that left it there; only
 *	their sum means something, and that of EMPTY nothing
 */
struct nswap_slot_counts {
	s64 of[NSWAP_SLOT_NR];
};

/**
 * struct nswap_device - a device
 * @node: its node
 * @link: in the node's list; RCU
 * @number: N of /dev/nswapN
 * @instance: its number on the wire, never used again in this epoch
 * @map: shadow slot map
 * @counts: slots in each state, see nswap_slot_count()
 * @side: side tables, per-slot data beside @map
 * @freed: with one of them, one bit a slot: FREEING and its peer has to be told
 * @free_cursor: where the free work continues; private to it
 * @header: page of slot 0, which stays here
 * @header_lock: serialises page-outs and page-ins of slot 0
 * @home: for pages that no peer has room for; NULL without one
 * @returning: with a home, one of @side, one bit a slot: a page that a server
 *	has sent back may be written to its place there; see returned.c
 * @home_has: likewise: a peer holds the page and home has it too; see home_copy.c
 * @home_due: likewise: a copy of the peer's page is about to be written home
 * @nr_copied: bits set in @home_has and @home_due
 * @mirror: side table, eight bytes a slot: a page's second place, see mirror.h; NULL
 *	until protection by mirror is turned on
 * @nr_mirrored: entries there that name one
 * @repair: makes missing second copies; likewise
 * @parity: its rows, see parity.h; NULL until protection by parity is turned on
 * @outer: of a device of cells: the visible one; else NULL
 * @wrap: its pages are compressed or sealed, see client/wrap.c; else NULL; write-once
 * @write_cache: pages that were written, see client/write_cache.c; NULL without;
 *	write-once
 * @sealer: seals its pages, NULL if they are not sealed; write-once
 * @reseal: pages that get another key; NULL until its key is changed first
 * @key_change: has them read and written; likewise
 * @protect: what is to survive the death of a peer; read with READ_ONCE, written
 *	under the node's @control
 * @protecting: that was changed, and pages may still be brought under it; likewise
 * @class: enum nswap_device_class; write-once
 * @attached: peers that come up are told of @class and @reserve
 * @reserve: pages that peers set aside for it; NULL without a reserve
 * @follow: writes page-outs home behind the peers; NULL until protection by home is
 *	turned on
 * @fill: with a home, copies there what peers hold and home lacks
 * @rooms: buffers for pages that servers send back; NULL without flash and home
 * @returns_left: rooms in use, and pages sent back by servers that are being
 *	written, or were a moment ago: the device is in use until it is 0
 * @flash: preferred to @home for these pages; NULL without any
 * @flash_stores: batches of pages of flash that are being stored at peers
 * @promote: moves from home to peers
 * @page_tags: side table, a byte a slot, see page_tag.h; with a home, or once its
 *	prefetcher brings pages to peers
 * @tag_hits: page-ins of tagged pages by tag since they were last collected
 * @demotes: its prefetcher has brought pages home
 * @used: jiffies of the last page-out or page-in; a device with a home
 * @prefetcher: brings pages to a faster tier before they are used; NULL without
 *	flash and home
 * @times: latency of page-ins, with flash only
 * @flow: pages in flight, and pages that were asked for; one for each CPU
 * @out: pages of block requests on their way out, see pageout_limit.c; not in a cache line
 *	that other tasks only read
 * @out_wait: tasks that wait until they are fewer
 * @oom_link: among the devices whose page-outs an OOM kill waits for, see pageout_oom.c
 * @degree: samples of @flow; under degree_lock of the node's meter
 * @policy: what is set on the device itself of each kind, NULL where it follows
 *	its node; read with READ_ONCE, written under the node's @control
 * @leaning: where its page-outs go first, and what that was decided by
 * @placing: held by the task that places pages where a user wants them
 * @place_full: jiffies when peers had no room for those, last; under @placing
 * @placed_last: index of the peer chosen last; one for each CPU
 * @dying: fails every request; set before the disk is removed
 * @tags: requests, preallocated
 * @disk: gendisk
 */
struct nswap_device {
	struct nswap_node *node;
	struct list_head link;
	int number;
	u32 instance;
	struct nswap_slot_map map;
	struct nswap_slot_counts __percpu *counts;
	struct nswap_side_tables side;
	struct nswap_freed_set freed;
	u64 free_cursor;
	struct page *header;
	spinlock_t header_lock;
	struct nswap_home *home;
	unsigned long *returning;
	unsigned long *home_has;
	unsigned long *home_due;
	atomic64_t nr_copied;
	atomic64_t *mirror;
	atomic64_t nr_mirrored;
	struct nswap_mirror_fill *repair;
	struct nswap_parity *parity;
	struct nswap_device *outer;
	struct nswap_wrap *wrap;
	struct nswap_write_cache *write_cache;
	struct nswap_sealer *sealer;
	struct nswap_reseal *reseal;
	struct nswap_key_change *key_change;
	enum nswap_protect protect;
	bool protecting;
	enum nswap_device_class class;
	bool attached;
	struct nswap_reserve *reserve;
	struct nswap_follow *follow;
	struct nswap_home_fill *fill;
	struct nswap_returns *rooms;
	atomic_t returns_left;
	struct nswap_flash *flash;
	atomic_t flash_stores;
	struct nswap_promote *promote;
	struct nswap_side_table *page_tags;
	atomic_t tag_hits[NSWAP_PREFETCH_ARMS];
	bool demotes;
	unsigned long used;
	struct nswap_prefetcher *prefetcher;
	struct nswap_read_latency times;
	struct nswap_flow __percpu *flow;
	atomic_t out ____cacheline_aligned_in_smp;
	wait_queue_head_t out_wait;
	struct list_head oom_link;
	struct nswap_degrees degree;
	const struct nswap_policy *policy[NSWAP_POLICY_KINDS];
	struct nswap_leaning leaning;
	struct mutex placing;
	unsigned long place_full;
	u16 __percpu *placed_last;
	bool dying;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
};

#endif
