/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device: /dev/nswapN of a node.
 */
#ifndef NSWAP_DEVICE_H
#define NSWAP_DEVICE_H

#include <linux/blk-mq.h>
#include <linux/mutex.h>

#include "flash.h"
#include "home.h"
#include "read_times.h"
#include "side_table.h"
#include "slot_map.h"
#include "views.h"

struct nswap_prefetcher;
struct nswap_returns;

/* of a read: by the prefetcher, see @ahead of struct nswap_io */
#define NSWAP_REQ_AHEAD	(REQ_RAHEAD | REQ_DRV | REQ_NOMERGE)

/**
 * struct nswap_device - a device
 * @node: whose
 * @link: in the node's list; RCU
 * @number: N of /dev/nswapN
 * @instance: names it on the wire, never used again in this epoch
 * @map: shadow slot map
 * @count: slots in each state but EMPTY
 * @side: side tables, what is kept of each slot beside @map
 * @dirty: one of them, one bit a slot: FREEING and its peer has to be told
 * @nr_dirty: bits set in @dirty
 * @free_cursor: where the free work goes on; its own
 * @header: page of slot 0, which stays here
 * @header_lock: a page-out and a page-in of slot 0 at once
 * @home: where pages go that no peer has room for; NULL without one
 * @returning: with a home, one of @side, one bit a slot: a page that a server
 *	has brought back may be written to its place there; see returned.c
 * @rooms: room for pages that servers bring back; NULL without flash and home
 * @returns_left: rooms in use, and pages that servers have brought back and that
 *	are being written, or were a moment ago: until it is 0 somebody uses the
 *	device
 * @flash: where they go before that; NULL without any
 * @home_out: moves out from there
 * @used: jiffies of the last page-out or page-in; a device with a home
 * @prefetcher: brings pages nearer ahead of their use; NULL without flash and
 *	home
 * @times: how long page-ins take, with flash only
 * @written: pages the kernel wrote, with a prefetcher only
 * @read: pages it read, likewise
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
	atomic64_t count[NSWAP_SLOT_NR];
	struct nswap_side_tables side;
	unsigned long *dirty;
	atomic64_t nr_dirty;
	u64 free_cursor;
	struct page *header;
	spinlock_t header_lock;
	struct nswap_home *home;
	unsigned long *returning;
	struct nswap_returns *rooms;
	atomic_t returns_left;
	struct nswap_flash *flash;
	struct nswap_home_out *home_out;
	unsigned long used;
	struct nswap_prefetcher *prefetcher;
	struct nswap_read_times times;
	atomic64_t written;
	atomic64_t read;
	bool dying;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
};

/* device.c; those that users ask for are in views.h */
struct nswap_device *nswap_device_find(struct nswap_node *node, u32 instance);
struct nswap_device *nswap_device_named(struct nswap_node *node,
					const char *name);
bool nswap_device_any_open(void);

/* device_disk.c */
int nswap_device_init(void);
void nswap_device_exit(void);
int nswap_device_make_disk(struct nswap_device *dev);
void nswap_device_end_disk(struct nswap_device *dev);
bool nswap_device_is_one(const struct block_device *bdev);

/* device_backing.c */
void nswap_device_complain(struct nswap_device *dev,
			   const struct nswap_home_io *h, const char *then);

/* device_slots.c */
bool nswap_device_slot_move(struct nswap_device *dev, u64 slot, u64 old,
			    const struct nswap_slot *to);
void nswap_device_forget_slots(struct nswap_device *dev);

#endif
