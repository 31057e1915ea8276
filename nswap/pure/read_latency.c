// SPDX-License-Identifier: GPL-2.0
/*
 * Read latency.
 *
 * Invariants: every nswap_read_began() has one nswap_read_ended(). Averages
 * are words written without a lock: a concurrent update can lose a sample, or
 * half of one, which an average tolerates.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "read_latency.h"

#define PART	8		/* weight of a sample: an eighth */
#define OLD	(HZ / 10)	/* if the last sample is older than this, */
#define OLD_PART 2		/* a half */

static u32 now_us(void)
{
	return ktime_to_us(ktime_get());
}

static struct nswap_read_line look_at(const struct nswap_read_latency *t,
				      unsigned int tier)
{
	return (struct nswap_read_line){
		.first = READ_ONCE(t->line[tier].first),
		.next = READ_ONCE(t->line[tier].next),
	};
}

/* a read starts; any context; does not sleep, on the page-in path */
u32 nswap_read_began(struct nswap_read_latency *t, enum nswap_read_tier tier,
		     unsigned int nr)
{
	atomic_add(nr, &t->inflight[tier]);
	return now_us();
}

/**
 * nswap_read_ended() - a read has ended
 * @t: measurements
 * @tier: where
 * @nr: pages
 * @began: what nswap_read_began() returned
 * @good: it succeeded; only then it counts as a measurement
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_read_ended(struct nswap_read_latency *t, enum nswap_read_tier tier,
		      unsigned int nr, u32 began, bool good)
{
	/* a read that waited for a silent peer is not a measurement */
	u32 us = clamp(now_us() - began, 1u, (u32)NSWAP_READ_MOST_US);
	struct nswap_read_line line = look_at(t, tier);
	s32 pages = READ_ONCE(t->pages);
	bool old = time_after(jiffies, READ_ONCE(t->last[tier]) + OLD);

	atomic_sub(nr, &t->inflight[tier]);
	if (!good)
		return;
	nswap_read_line_learn(&line, nr, us, old ? OLD_PART : PART);
	WRITE_ONCE(t->line[tier].first, line.first);
	WRITE_ONCE(t->line[tier].next, line.next);
	WRITE_ONCE(t->last[tier], jiffies);
	pages += ((s32)nr * NSWAP_READ_UNIT - pages) / PART;
	WRITE_ONCE(t->pages, max(pages, NSWAP_READ_UNIT));
}

/**
 * nswap_read_look() - snapshot for a reading policy: the latency at each tier of a
 *	read of the average recent size
 * @t: measurements
 * @view: result
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_read_look(const struct nswap_read_latency *t,
		     struct nswap_read_view *view)
{
	u32 pages = max(READ_ONCE(t->pages), NSWAP_READ_UNIT);
	unsigned int i;

	for (i = 0; i < NSWAP_READ_TIERS; i++) {
		unsigned long age = jiffies - READ_ONCE(t->last[i]);
		struct nswap_read_line line = look_at(t, i);
		u32 us = nswap_read_line_at(&line, pages);

		view->at[i] = (struct nswap_read_place){
			.us = us,
			.next_us = us ? line.next >> NSWAP_READ_SHIFT : 0,
			.age_ms = us ? jiffies_to_msecs(age) : U32_MAX,
			.inflight = atomic_read(&t->inflight[i]),
		};
	}
}
