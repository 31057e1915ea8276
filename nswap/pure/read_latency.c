// SPDX-License-Identifier: GPL-2.0
/*
 * Read times.
 *
 * Invariants: every nswap_read_began() has one nswap_read_ended(). Averages
 * are words that several may write at once: a sample, or half of one, is lost
 * then, which an average survives. Nothing here takes a lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "policy/policy.h"
#include "policy/read_line.h"
#include "read_latency.h"

#define PART	8		/* a sample counts an eighth */
#define OLD	(HZ / 10)	/* where none was for so long, */
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

/* a read is started; any; does not sleep, on the page-in path */
u32 nswap_read_began(struct nswap_read_latency *t, enum nswap_read_tier tier,
		     unsigned int nr)
{
	atomic_add(nr, &t->inflight[tier]);
	return now_us();
}

/**
 * nswap_read_ended() - a read is over
 * @t: measurements
 * @tier: where
 * @nr: pages
 * @began: what nswap_read_began() gave
 * @good: it brought its pages; only then it is a measurement
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_read_ended(struct nswap_read_latency *t, enum nswap_read_tier tier,
		      unsigned int nr, u32 began, bool good)
{
	/* one that waited for a silent peer is no measure */
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
 * nswap_read_look() - a snapshot for a reading policy: what a read of as many pages
 *	as reads had lately takes at each tier
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
