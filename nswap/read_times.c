// SPDX-License-Identifier: GPL-2.0
/*
 * Read times.
 *
 * Invariants: every nswap_read_began() has one nswap_read_ended(). Averages
 * are single words that several may write at once: one of the samples is lost
 * then, which an average survives. Nothing here takes a lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "read_times.h"

#define WEIGHT	8	/* a sample counts an eighth */
#define MOST_US	1000000	/* one that waited for a silent peer is no measure */

static u32 now_us(void)
{
	return ktime_to_us(ktime_get());
}

/**
 * nswap_read_began() - a read is started
 * @t: measurements
 * @tier: where
 * @nr: pages
 *
 * Context: any; does not sleep, on the page-in path.
 * Return: what nswap_read_ended() wants.
 */
u32 nswap_read_began(struct nswap_read_times *t, enum nswap_read_tier tier,
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
void nswap_read_ended(struct nswap_read_times *t, enum nswap_read_tier tier,
		      unsigned int nr, u32 began, bool good)
{
	u32 was = READ_ONCE(t->us[tier]);
	u32 us = clamp(now_us() - began, 1u, (u32)MOST_US);

	atomic_sub(nr, &t->inflight[tier]);
	if (!good)
		return;
	if (was)
		us = max((was * (WEIGHT - 1) + us) / WEIGHT, 1u);
	WRITE_ONCE(t->us[tier], us);
	WRITE_ONCE(t->last[tier], jiffies);
}

/**
 * nswap_read_look() - a snapshot for a reading policy
 * @t: measurements
 * @view: result
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_read_look(const struct nswap_read_times *t,
		     struct nswap_read_view *view)
{
	unsigned int i;

	for (i = 0; i < NSWAP_READ_TIERS; i++) {
		unsigned long age = jiffies - READ_ONCE(t->last[i]);
		u32 us = READ_ONCE(t->us[i]);

		view->at[i] = (struct nswap_read_place){
			.us = us,
			.age_ms = us ? jiffies_to_msecs(age) : U32_MAX,
			.inflight = atomic_read(&t->inflight[i]),
		};
	}
}
