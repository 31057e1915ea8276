// SPDX-License-Identifier: GPL-2.0
/*
 * When is a request over? Asked once, when it is handed in.
 *
 * Flash: each page of 4 KiB goes to the channel that is free first and takes its
 * service time there, then over the bus that all channels share:
 *
 *   request -> page -> channel 0..n (read_ns, write_ns) -> bus -> over
 *
 * so a lone page takes the sum of both, and many at once go at the pace of the
 * slower part. Disk: one request after the other; it goes on without delay where
 * the last one ended, and elsewhere after a seek, whose time grows with the
 * square root of the way, and the wait for the sector to come round.
 *
 * Invariant: times only grow, so requests of a disk end in the order in which
 * they came.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "model.h"

#define PAGE_SECTORS_4K	8
#define ROOT_ONE	1024	/* the square root of 1 in seek_ns() */

static u64 *first_free(struct model_time *m)
{
	u64 nr = clamp_t(u64, READ_ONCE(m->knobs.channels), 1, MODEL_CHANNELS);
	u64 *best = m->channel_free;

	for (u64 i = 1; i < nr; i++)
		if (m->channel_free[i] < *best)
			best = &m->channel_free[i];
	return best;
}

static u64 flash_end(struct model_time *m, u64 now, bool write, u32 sectors)
{
	u64 access = READ_ONCE(*(write ? &m->knobs.write_ns : &m->knobs.read_ns));
	u64 bus = READ_ONCE(*(write ? &m->knobs.bus_write_ns :
			      &m->knobs.bus_read_ns));
	u32 pages = DIV_ROUND_UP(sectors, PAGE_SECTORS_4K);
	u64 end = now;

	while (pages--) {
		u64 *channel = first_free(m);

		*channel = max(*channel, now) + access;
		end = max(end, *channel);
		if (bus) {
			m->bus_free = max(m->bus_free, *channel) + bus;
			end = m->bus_free;
		}
	}
	return end;
}

static u64 seek_ns(struct model_time *m, u64 sector)
{
	u64 least = READ_ONCE(m->knobs.seek_min_ns);
	u64 most = max(least, READ_ONCE(m->knobs.seek_max_ns));
	u64 span = max_t(u64, READ_ONCE(m->knobs.span_mb), 1) << 11;
	u64 way = sector > m->head ? sector - m->head : m->head - sector;
	u64 share;

	if (way < READ_ONCE(m->knobs.track_sectors))
		return 0;
	share = div64_u64(min(way, span) * ROOT_ONE, span) * ROOT_ONE;
	return least + div_u64((most - least) * int_sqrt64(share), ROOT_ONE);
}

static u64 disk_end(struct model_time *m, u64 now, u64 sector, u32 sectors)
{
	u64 rotation = max_t(u64, READ_ONCE(m->knobs.rotation_ns), 1);
	u64 track = max_t(u64, READ_ONCE(m->knobs.track_sectors), 1);
	u64 at = max(now, m->bus_free);
	u64 here, there;

	if (sector != m->head) {
		at += seek_ns(m, sector);
		div64_u64_rem(at, rotation, &here);
		div64_u64_rem(sector, track, &there);
		there = div64_u64(there * rotation, track);
		at += there >= here ? there - here : there + rotation - here;
	}
	m->head = sector + sectors;
	m->bus_free = at + div64_u64(sectors * rotation, track);
	return m->bus_free;
}

/**
 * model_end() - hand a request in
 * @m: device
 * @now: when, nanoseconds of the monotonic clock
 * @write: its direction
 * @sector: its first sector
 * @sectors: how many
 *
 * Context: any, interrupts on; does not sleep.
 * Return: when it is over.
 */
u64 model_end(struct model_time *m, u64 now, bool write, u64 sector, u32 sectors)
{
	unsigned long flags;
	u64 end;

	spin_lock_irqsave(&m->lock, flags);
	end = m->kind == MODEL_FLASH ? flash_end(m, now, write, sectors) :
	      disk_end(m, now, sector, sectors);
	spin_unlock_irqrestore(&m->lock, flags);
	return end;
}
