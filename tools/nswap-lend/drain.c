// SPDX-License-Identifier: GPL-2.0
/*
 * Drain: bring pages elsewhere before the end. Lending nothing does it: the mover brings
 * pages to other peers, and what none has room for back to their owners.
 */
#include "base/views.h"
#include "lend.h"
#include "server/cache.h"

#define SAY_EVERY	5000	/* ms */

static unsigned long until, next_say;
static unsigned int timeout_s;

u64 lend_drain_left(struct nswap_node *node)
{
	struct nswap_cache_view v;

	nswap_cache_get_view(node, &v);
	return v.held;
}

void lend_drain_begin(struct nswap_node *node, unsigned int seconds)
{
	timeout_s = seconds;
	until = jiffies + seconds * HZ;
	next_say = jiffies + SAY_EVERY;
	lend_say("asked to end: lends nothing any more, %llu pages are to go elsewhere within %u s; once more ends it at once",
		 lend_drain_left(node), seconds);
	nswap_cache_lend(node->cache, 0);
}

/* is it over, one way or the other? */
bool lend_drain_over(struct nswap_node *node)
{
	u64 left = lend_drain_left(node);

	if (!left || !time_before(jiffies, until))
		return true;
	if (!time_before(jiffies, next_say)) {
		next_say = jiffies + SAY_EVERY;
		lend_say("%llu pages are left", left);
	}
	return false;
}
