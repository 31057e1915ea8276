/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Home: the backing partition or disk of a device. Handles slots and pages;
 * independent of requests, peers and the slot map.
 */
#ifndef NSWAP_HOME_H
#define NSWAP_HOME_H

#include <linux/dm-io.h>
#include <linux/list.h>
#include <linux/netlink.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "base/types.h"

struct nswap_home;

/**
 * struct nswap_home_io - one read or write of adjacent slots; memory is its
 *	owner's
 * @link: on one of the lists of @home
 * @home: its home
 * @pages: of the slots, in order, as a chain
 * @slot: first slot
 * @nr: slots
 * @write: towards home
 * @failed: result
 * @anywhere: @end may be called in any context if it has not failed, in a hard
 *	interrupt too
 * @own: a read that is submitted inside the block layer's submit of the request it
 *	is a part of, or outside of any
 * @direct: it was started by its submitter
 * @started_ns: when dm-io was called, see nswap_stamp()
 * @done_ns: when it completed, likewise
 * @end: called on completion; @h is not touched afterwards. Runs on the module's
 *	work queue unless @anywhere, and does not sleep.
 */
struct nswap_home_io {
	struct list_head link;
	struct nswap_home *home;
	struct page_list *pages;
	u64 slot;
	u16 nr;
	bool write;
	bool failed;
	bool anywhere;
	bool own;
	bool direct;
	u64 started_ns;
	u64 done_ns;
	void (*end)(struct nswap_home_io *h);
};

/**
 * struct nswap_home - an open home
 * @file: opened exclusively
 * @bdev: of @file
 * @io: dm-io client of reads and writes that the start work starts
 * @direct_io: likewise of those that are started by their submitter
 * @wq: runs @start
 * @start: work that starts reads and writes
 * @ended: work that ends them
 * @lock: protects @todo, @nr_todo, @overtaken and @done; taken in interrupts
 * @todo: to be started; page-ins, page-outs
 * @nr_todo: how many
 * @overtaken: page-ins started while a page-out was waiting
 * @done: completed, @end has not been called
 * @under_way: reads and writes submitted and not completed
 * @watched: its own sectors are counted
 * @sectors: read and written since
 * @failed_at: jiffies of the last failure; 0: none
 * @nowait: reads may be started by their submitter: the device supports
 *	REQ_NOWAIT and is not stacked
 * @errors: rate limit of logged errors
 * @slots: its size
 * @loop: it is a loop device
 * @what: "home" or "flash", for messages
 * @name: as in /dev
 */
struct nswap_home {
	struct file *file;
	struct block_device *bdev;
	struct dm_io_client *io;
	struct dm_io_client *direct_io;
	struct workqueue_struct *wq;
	struct work_struct start;
	struct work_struct ended;
	spinlock_t lock;
	struct list_head todo[2];
	unsigned int nr_todo;
	unsigned int overtaken;
	struct list_head done;
	atomic_t under_way;
	bool watched;
	atomic64_t sectors;
	unsigned long failed_at;
	bool nowait;
	struct ratelimit_state errors;
	u64 slots;
	bool loop;
	const char *what;
	char name[32];
};

/**
 * struct nswap_home_load - what the disk below has done so far, for anybody
 * @busy_ms: time in which something was under way
 * @sectors: read and written
 * @own: of these, by this home since it was looked at first
 * @writes: that have ended on the home's own partition
 * @write_ns: what they took together
 */
struct nswap_home_load {
	u64 busy_ms;
	u64 sectors;
	u64 own;
	u64 writes;
	u64 write_ns;
};

struct nswap_home *nswap_home_open(const char *path, const char *what,
				   struct netlink_ext_ack *ext);
void nswap_home_close(struct nswap_home *home);
void nswap_home_set_pages(struct nswap_home_io *h, struct page_list *chain,
			  struct page *const *page, unsigned int nr);
void nswap_home_submit(struct nswap_home *home, struct nswap_home_io *h);
void nswap_home_look(struct nswap_home *home, struct nswap_home_load *l);
bool nswap_home_well(const struct nswap_home *home);

#endif
