// SPDX-License-Identifier: GPL-2.0
/*
 * Rebalancing: a node much fuller than its peers moves pages to them.
 *
 * While rebalance_pct is set, every two rounds of announcements: take a snapshot of
 * this cache and of the IPTable, ask the policy (policy/balance.c), set a goal for
 * the number of pages held. The mover moves pages above the goal to other peers, as
 * it does with a surplus, but slowly.
 *
 * Invariants:
 *  - No task waits for it and nothing is refused because of it: if no peer takes
 *    them, the pages stay until the next decision.
 *  - A surplus (less is lent than held) goes first; while there is one nothing is
 *    moved for rebalancing.
 *  - Two rounds between decisions, so that the effect of the last one is announced.
 */
#include "base/clock.h"
#include "base/views.h"
#include "core/node.h"
#include "mover.h"
#include "rebalance.h"
#include "server/cache.h"

#define LEAST_MS	2000

/* fill the policy's view, all but @under_way */
void nswap_rebalance_look(struct nswap_node *node,
			  struct nswap_balance_view *v)
{
	struct nswap_ipt *t = &node->ipt;
	struct nswap_cache_view c;
	unsigned int i;

	nswap_cache_get_view(node, &c);
	*v = (struct nswap_balance_view){
		.lent = c.target, .used = c.ram,
		.pct = nswap_knob(node, rebalance_pct),
	};
	spin_lock_irq(&node->ipt_lock);
	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (!nswap_ipt_stays(e) || e->shrinking || !e->lent ||
		    e->id == node->id ||
		    !nswap_ipt_fresh(e, nswap_now_ms(),
				     nswap_knob(node, silent_ms)))
			continue;
		v->others_lent += e->lent;
		v->others_used += min(e->used, e->lent);
	}
	spin_unlock_irq(&node->ipt_lock);
}

static void rebalance_decide(struct work_struct *work)
{
	struct nswap_node *node = container_of(to_delayed_work(work),
					       struct nswap_node,
					       rebalance.work);
	struct nswap_rebalance *r = &node->rebalance;
	u32 ms = max(LEAST_MS, 2 * nswap_knob(node, announce_ms));
	struct nswap_balance_view v;
	u64 n;

	nswap_rebalance_look(node, &v);
	v.under_way = r->under_way;
	n = nswap_cache_surplus(node->cache) ? 0 : nswap_balance(&v);
	r->under_way = n;
	WRITE_ONCE(r->goal, n ? v.used - n : U64_MAX);
	if (n)
		nswap_mover_kick(node);
	if (v.pct && !READ_ONCE(node->going))
		queue_delayed_work(system_dfl_wq, &r->work,
				   msecs_to_jiffies(ms));
}

/* before the other parts of a node, which may ask for the goal */
void nswap_rebalance_init(struct nswap_node *node)
{
	INIT_DELAYED_WORK(&node->rebalance.work, rebalance_decide);
	node->rebalance.goal = U64_MAX;
}

void nswap_rebalance_stop(struct nswap_node *node)
{
	cancel_delayed_work_sync(&node->rebalance.work);
}

/* the knob was changed: decide at once */
void nswap_rebalance_now(struct nswap_node *node)
{
	mod_delayed_work(system_dfl_wq, &node->rebalance.work, 0);
}

/* Returns the number of pages held above the goal. */
u64 nswap_rebalance_excess(struct nswap_node *node)
{
	u64 goal = READ_ONCE(node->rebalance.goal);
	struct nswap_cache_view c;

	if (goal == U64_MAX)
		return 0;
	nswap_cache_get_view(node, &c);
	return c.ram > goal ? c.ram - goal : 0;
}

/* no peer takes them: leave it until the next decision */
void nswap_rebalance_nowhere(struct nswap_node *node)
{
	WRITE_ONCE(node->rebalance.goal, U64_MAX);
}
