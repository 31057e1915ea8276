/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Habit: how often something is heard that comes at regular intervals, and at times in
 * between, and when it was not heard for much longer than that.
 *
 * Invariants:
 *  - What comes in between, however often, lowers the habit by half of the time that has
 *    passed at most.
 *  - What was not heard for long once does not change the habit; twice in a row it is one.
 *  - Before there is a habit nothing is unusual. What comes more often than twice a second from
 *    the beginning has none: the first longer time is taken for it.
 *  - A habit is a minute at most: what was first heard of before a long time is soon known.
 */
#ifndef NSWAP_HABIT_H
#define NSWAP_HABIT_H

#include <linux/minmax.h>
#include <linux/types.h>

#define NSWAP_HABIT_MUCH	3	/* times longer than usual */
#define NSWAP_HABIT_FIRST_MS	500	/* two that come sooner, first of all, are no habit */
#define NSWAP_HABIT_MOST_MS	60000ull

/**
 * struct nswap_habit - of what is heard; all zeros: of nothing yet
 * @every_ms: the habit, 0 if there is none
 * @long_ms: how long it was not heard last, if that was unusual
 */
struct nswap_habit {
	u64 every_ms;
	u64 long_ms;
};

/* it is heard again, after @after_ms; any context. Returns that if it was unusual, else 0 */
static inline u64 nswap_habit_gap(struct nswap_habit *h, u64 after_ms)
{
	u64 usual = max(h->every_ms, h->long_ms);

	if (!usual && after_ms < NSWAP_HABIT_FIRST_MS)
		return 0;
	if (usual && after_ms > NSWAP_HABIT_MUCH * usual) {
		h->long_ms = after_ms;
		return after_ms;
	}
	if (after_ms * (NSWAP_HABIT_MUCH + 1) >= h->every_ms)
		h->long_ms = 0;
	if (after_ms < h->every_ms)
		after_ms = max(after_ms, h->every_ms - after_ms / 2);
	h->every_ms = min(after_ms, NSWAP_HABIT_MOST_MS);
	return 0;
}

#endif
