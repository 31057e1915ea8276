// SPDX-License-Identifier: GPL-2.0
/*
 * Sizing: asks the size policy how much to lend, and carries it out.
 *
 * Every size_period_ms, and sooner when reclaim runs or a user changed something:
 * a snapshot of memory and cache, the policy's answer, the new target. Under a
 * policy that is not adaptive the work does not run, unless pages are still held
 * above what is lent: then it reminds the mover of them.
 *
 * Invariants:
 *  - Counters of the machine are compared with their values at the last decision;
 *    the first decision has nothing to compare with and sees no change.
 *  - The clock is one that cannot be set, and the time a decision sees is
 *    bounded: after a suspend a node does not grow by an hour's worth.
 *  - Runs on the module's own work queue and neither allocates nor waits for
 *    the network: giving memory back must work when there is none.
 */
#include <linux/slab.h>

#include "base/clock.h"
#include "base/views.h"
#include "base/workqueues.h"
#include "cache.h"
#include "core/meminfo.h"
#include "core/node.h"
#include "sizing.h"

#define SOON_MS		100	/* minimum between decisions that reclaim asks for */

/**
 * struct nswap_sizing - the sizing of a node; used by @work only, except @decided
 * @node: node
 * @work: makes the decisions
 * @decided: ms of the last decision, 0 before the first
 * @swap_outs: the machine's counter at that time
 * @refaults: likewise
 * @shrinker_calls: the cache's counter at that time
 * @away_until: ms until which the machine's owner counts as away, 0: is here; no lock
 */
struct nswap_sizing {
	struct nswap_node *node;
	struct delayed_work work;
	u64 decided;
	u64 swap_outs;
	u64 refaults;
	u64 shrinker_calls;
	u64 away_until;
};

/* increase of a counter; 0 if it was set back (tests) */
static u64 sizing_delta(u64 *was, u64 now, bool first)
{
	u64 n = first || now < *was ? 0 : now - *was;

	*was = now;
	return n;
}

static void sizing_look(struct nswap_sizing *s, struct nswap_size_view *v)
{
	struct nswap_node *node = s->node;
	u32 period = nswap_knob(node, size_period_ms);
	u64 now = nswap_now_ms(), least = nswap_knob(node, lend_min_mib);
	struct nswap_cache_view c;
	struct nswap_mem_view mem;
	bool first = !s->decided;

	nswap_mem_view(node, &mem);
	nswap_cache_get_view(node, &c);
	*v = (struct nswap_size_view){
		.total = mem.total, .free = mem.free,
		.available = mem.available,
		.held = c.ram, .set_aside = c.set_aside,
		.allocated = c.allocated,
		.psi = nswap_knob(node, psi),
		.owner_away = now < READ_ONCE(s->away_until),
		.headroom_pct = nswap_knob(node, headroom_pct),
		.grow_pct = nswap_knob(node, grow_pct),
		.least = min(least << (20 - PAGE_SHIFT), c.lent),
		.most = c.lent, .target = c.target,
		.elapsed_ms = first ? period :
			      clamp(now - s->decided, 1ull, 2ull * period),
	};
	v->swap_outs = sizing_delta(&s->swap_outs, mem.swap_outs, first);
	v->refaults = sizing_delta(&s->refaults, mem.refaults, first);
	v->shrinker_calls = sizing_delta(&s->shrinker_calls, c.shrinker_calls, first);
	WRITE_ONCE(s->decided, now);
}

static void sizing_decide(struct work_struct *work)
{
	struct nswap_sizing *s = container_of(to_delayed_work(work),
					      struct nswap_sizing, work);
	struct nswap_node *node = s->node;
	const struct nswap_size_ops *ops = nswap_node_size(node);
	u32 period = nswap_knob(node, size_period_ms);
	struct nswap_size_view v;

	sizing_look(s, &v);
	nswap_cache_resize(node->cache, nswap_size_bound(&v, ops->lend(&v)));
	if ((ops->adaptive || nswap_cache_surplus(node->cache)) &&
	    !READ_ONCE(node->going))
		queue_delayed_work(nswap_io_wq, &s->work,
				   msecs_to_jiffies(period));
}

/* start the periodic decisions. Returns 0, or -ENOMEM */
int nswap_sizing_start(struct nswap_node *node)
{
	struct nswap_sizing *s = kzalloc_obj(*s);

	if (!s)
		return -ENOMEM;
	s->node = node;
	INIT_DELAYED_WORK(&s->work, sizing_decide);
	node->sizing = s;
	nswap_cache_watch(node->cache);
	nswap_sizing_now(node);
	return 0;
}

/* stop them */
void nswap_sizing_stop(struct nswap_node *node)
{
	struct nswap_sizing *s = node->sizing;

	if (!s)
		return;
	nswap_cache_unwatch(node->cache);
	cancel_delayed_work_sync(&s->work);
	node->sizing = NULL;
	kfree(s);
}

/*
 * The machine's owner is away, for so many seconds at least; 0: is here. What feeds it says
 * so again meanwhile: if that is killed, the owner counts as here. Under the control lock.
 */
void nswap_sizing_owner_away(struct nswap_node *node, u32 seconds)
{
	WRITE_ONCE(node->sizing->away_until,
		   seconds ? nswap_now_ms() + seconds * (u64)MSEC_PER_SEC : 0);
}

/* something has changed: decide at once */
void nswap_sizing_now(struct nswap_node *node)
{
	mod_delayed_work(nswap_io_wq, &node->sizing->work, 0);
}

/*
 * Memory is short: decide soon, but at most every SOON_MS; any context, on the reclaim
 * path; does not sleep.
 */
void nswap_sizing_soon(struct nswap_node *node)
{
	if (nswap_now_ms() > READ_ONCE(node->sizing->decided) + SOON_MS)
		nswap_sizing_now(node);
}
