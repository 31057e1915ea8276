/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a modelled device is: its knobs, and where its parts are in time.
 *
 * Invariants: the knobs are numbers that may change at any time, each read once
 * a request; all else of struct model_time is under its lock.
 */
#ifndef NSWAP_MODEL_H
#define NSWAP_MODEL_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define MODEL_CHANNELS	64

enum model_kind { MODEL_FLASH, MODEL_DISK };

/**
 * struct model_knobs - what a modelled device is like
 * @read_ns: flash: a page's read inside a channel
 * @write_ns: flash: a page's write inside a channel
 * @bus_read_ns: flash: a read page's way over what all channels share
 * @bus_write_ns: flash: the same for a written page
 * @channels: flash: pages that it reads or writes at once
 * @seek_min_ns: disk: a seek to the next track
 * @seek_max_ns: disk: a seek over all of it
 * @span_mb: disk: size of the whole disk, of which this is a part
 * @rotation_ns: disk: one rotation
 * @track_sectors: disk: sectors of 512 bytes on a track
 */
struct model_knobs {
	u64 read_ns, write_ns;
	u64 bus_read_ns, bus_write_ns;
	u64 channels;
	u64 seek_min_ns, seek_max_ns;
	u64 span_mb;
	u64 rotation_ns;
	u64 track_sectors;
};

/**
 * struct model_time - one device's knobs and state
 * @kind: flash or disk
 * @knobs: as asked for
 * @lock: of what follows
 * @channel_free: flash: when each channel has done what it was given
 * @bus_free: flash: when the shared part has; disk: when the head has
 * @head: disk: sector after the last one read or written
 */
struct model_time {
	enum model_kind kind;
	struct model_knobs knobs;
	spinlock_t lock;
	u64 channel_free[MODEL_CHANNELS];
	u64 bus_free;
	u64 head;
};

u64 model_end(struct model_time *m, u64 now, bool write, u64 sector, u32 sectors);

#endif
