/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write cache of a device, client/write_cache.c. State only.
 */
#ifndef NSWAP_CORE_WRITE_CACHE_H
#define NSWAP_CORE_WRITE_CACHE_H

#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "pure/write_cache.h"

struct nswap_device;
struct nswap_wc_batch;

/**
 * struct nswap_write_cache - that of one device
 * @dev: its device
 * @early: page-outs end when their pages are here
 * @lock: protects all below
 * @table: its pages
 * @hits: pages read that were here
 * @misses: and that were not
 * @rewrites: pages rewritten before they were sent
 * @frees: and freed
 * @full: pages written that found no room
 * @failed: pages whose sending failed, each time
 * @idle: @early: page-outs of its own that are not under way
 * @nr_idle: how many
 * @send: sends dirty pages, and ends flushes
 * @kept: looks whether pages that are KEPT have to be kept
 * @backoff_ms: the last sending has failed, and this long passes until the next one
 * @retry: jiffies when it has
 * @ended: the device goes: nothing is dirty any more, or becomes so
 * @owed: entries that are so
 * @round: counts flushes
 * @left: pages that were dirty when the flush began, and still are
 * @flushing: flushes that wait until there are none
 * @flush_next: flushes that came later
 * @flush_since: jiffies when those of @flushing began
 * @wait: nswap_write_cache_stop() waits for batches
 */
struct nswap_write_cache {
	struct nswap_device *dev;
	bool early;
	spinlock_t lock;
	struct nswap_wc_table table;
	u64 hits;
	u64 misses;
	u64 rewrites;
	u64 frees;
	u64 full;
	u64 failed;
	struct list_head idle;
	unsigned int nr_idle;
	struct delayed_work send;
	struct delayed_work kept;
	unsigned int backoff_ms;
	unsigned long retry;
	bool ended;
	u32 owed;
	u32 round;
	u32 left;
	struct list_head flushing;
	struct list_head flush_next;
	unsigned long flush_since;
	wait_queue_head_t wait;
};

#endif
