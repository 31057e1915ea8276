/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Home: the backing partition or disk of a device. Knows slots and pages, and
 * nothing of requests, peers or the slot map.
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
 * @home: where
 * @pages: of the slots, in order, as a chain
 * @slot: first slot
 * @nr: slots
 * @write: towards home
 * @failed: result
 * @anywhere: @end may be called in any context if it has not failed, in a hard
 *	interrupt too
 * @own: whoever submits it does so from the block layer's submit of the request
 *	it is a part of, or from outside of any
 * @direct: it was started by whoever submitted it
 * @started_ns: when dm-io was called, see nswap_stamp()
 * @done_ns: when it was over, likewise
 * @end: it is over; not touched afterwards. Runs on the module's own work
 *	queue unless @anywhere, and does not sleep.
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
 * @file: it, opened exclusively
 * @bdev: of @file
 * @io: memory of reads and writes under way that the work starts
 * @direct_io: the same of those that whoever submits starts
 * @wq: where they are started
 * @start: work that starts them
 * @ended: work that ends them
 * @lock: protects @todo, @nr_todo, @overtaken and @done; taken in interrupts
 * @todo: to be started; page-ins, page-outs
 * @nr_todo: how many
 * @overtaken: page-ins started since a page-out that waits could have been
 * @done: over, @end has not been called
 * @under_way: reads and writes submitted and not over
 * @nowait: whoever submits may start reads, writes of it: it can say that it
 *	would have to wait, and is not made of others
 * @errors: when an error may be logged
 * @slots: its size
 * @loop: it is a loop device
 * @what: "home" or "flash", for people
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
	bool nowait[2];
	struct ratelimit_state errors;
	u64 slots;
	bool loop;
	const char *what;
	char name[32];
};

struct nswap_home *nswap_home_open(const char *path, const char *what,
				   struct netlink_ext_ack *ext);
void nswap_home_close(struct nswap_home *home);
void nswap_home_set_pages(struct nswap_home_io *h, struct page_list *chain,
			  struct page *const *page, unsigned int nr);
void nswap_home_submit(struct nswap_home *home, struct nswap_home_io *h);

#endif
