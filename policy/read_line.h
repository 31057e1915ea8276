/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read time of one tier by number of pages: a straight line, with one part for the
 * first page and one for each that follows.
 *
 * The time of a read alone does not allow comparing tiers: prefetched pages are read
 * one by one and the others in runs of eight, or the other way around. Learned by
 * normalised least mean squares: each read moves the line towards itself, along its
 * own number of pages.
 *
 * Invariants: plain integers, no overflow up to NSWAP_READ_MOST_US and
 * NSWAP_REQ_SLOTS; @first stays positive, @next does not become negative.
 */
#ifndef NSWAP_POLICY_READ_LINE_H
#define NSWAP_POLICY_READ_LINE_H

#include <linux/math64.h>
#include <linux/minmax.h>

#include "../nswap/base/types.h"

#define NSWAP_READ_MOST_US	1000000	/* longer reads are not measured */
#define NSWAP_READ_SHIFT	4
#define NSWAP_READ_UNIT		(1 << NSWAP_READ_SHIFT)	/* of a microsecond, or of a page */

/**
 * struct nswap_read_line - read time, in 1/NSWAP_READ_UNIT of a microsecond
 * @first: for the first page; 0 if nothing is known
 * @next: for each further page
 */
struct nswap_read_line {
	s32 first;
	s32 next;
};

/* learn from a read of @nr pages that took @us */
static inline void nswap_read_line_learn(struct nswap_read_line *line, s32 nr, s32 us,
					 s32 part)
{
	s32 first = line->first, next = line->next, more = nr - 1, off, all;

	us *= NSWAP_READ_UNIT;
	if (!first) {
		line->first = max(us / nr, 1);
		line->next = us / nr;
		return;
	}
	off = us - first - more * next;
	all = part * (1 + more * more);
	line->first = max(first + off / all, 1);
	line->next = clamp_t(s64, next + div_s64((s64)off * more, all), 0, us);
}

/* estimated time of a read of @pages, given in 1/NSWAP_READ_UNIT, in microseconds */
static inline u32 nswap_read_line_at(const struct nswap_read_line *line, u32 pages)
{
	s64 more = (s64)line->next * (pages - NSWAP_READ_UNIT) >> NSWAP_READ_SHIFT;

	if (!line->first)
		return 0;
	return max_t(s64, (line->first + more) >> NSWAP_READ_SHIFT, 1);
}

#endif
