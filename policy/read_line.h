/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What reads of one tier take, by how many pages they have: a straight line, the
 * first page and each that follows.
 *
 * Tiers cannot be told apart by the time of a read alone: what was prefetched is read
 * page by page and the rest in runs of eight, or the other way around. Learned by
 * normalised least mean squares: each read moves the line towards itself, along its
 * own number of pages.
 *
 * Invariants: plain integers, no overflow up to NSWAP_READ_MOST_US and
 * NSWAP_REQ_SLOTS; both parts stay positive.
 */
#ifndef NSWAP_POLICY_READ_LINE_H
#define NSWAP_POLICY_READ_LINE_H

#include <linux/math64.h>
#include <linux/minmax.h>

#include "../nswap/base/types.h"

#define NSWAP_READ_MOST_US	1000000	/* longer is no measure of a tier */
#define NSWAP_READ_SHIFT	4
#define NSWAP_READ_UNIT		(1 << NSWAP_READ_SHIFT)	/* of a microsecond, or of a page */

/**
 * struct nswap_read_line - what reads take, in parts of a microsecond
 * @first: the first page; 0 if nothing is known
 * @next: each of the others
 */
struct nswap_read_line {
	s32 first;
	s32 next;
};

/* a read is over */
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

/* what does a read take? */
static inline u32 nswap_read_line_at(const struct nswap_read_line *line, u32 pages)
{
	s64 more = (s64)line->next * (pages - NSWAP_READ_UNIT) >> NSWAP_READ_SHIFT;

	if (!line->first)
		return 0;
	return max_t(s64, (line->first + more) >> NSWAP_READ_SHIFT, 1);
}

#endif
