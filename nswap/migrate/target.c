// SPDX-License-Identifier: GPL-2.0
/*
 * Targets of a mover.
 *
 * Invariant: a target is a copy of an IPTable entry, taken under its lock. The entry
 * may be reused for another node right afterwards, so users compare id and epoch.
 */
#include "base/clock.h"
#include "core/node.h"
#include "rebalance.h"
#include "target.h"

static void set_target(struct nswap_target *to, u16 index,
		       const struct nswap_ipt_entry *e)
{
	*to = (struct nswap_target){
		.index = index, .id = e->id, .epoch = e->epoch, .addr = e->addr,
		.free = e->free,
	};
}

static bool has_room(struct nswap_node *node, const struct nswap_ipt_entry *e,
		     u64 owner, bool critical)
{
	return nswap_ipt_stays(e) && (e->free || (critical && e->lent)) &&
	       !e->shrinking && e->id != owner && e->id != node->id &&
	       nswap_ipt_fresh(e, nswap_now_ms(), nswap_knob(node, silent_ms));
}

/* prefer the connected peer as long as it has room for a whole batch */
static bool target_better(const struct nswap_ipt_entry *e,
			  const struct nswap_ipt_entry *than, u64 linked)
{
	if (than->id == linked && than->free >= NSWAP_REQ_SLOTS)
		return false;
	return (e->id == linked && e->free >= NSWAP_REQ_SLOTS) ||
	       e->free > than->free;
}

/**
 * nswap_target_choose() - choose the peer with the most free lent RAM
 * @node: node
 * @rule: which peers may be chosen
 * @to: result
 * @rests: result: a peer with room was skipped because it is in backoff
 *
 * Context: process, page-out path of others; does not sleep.
 * Return: false if there is none.
 */
bool nswap_target_choose(struct nswap_node *node,
			 const struct nswap_target_rule *rule,
			 struct nswap_target *to, bool *rests)
{
	struct nswap_ipt *t = &node->ipt;
	struct nswap_balance_view v;
	unsigned int i, best = 0;

	*rests = false;
	if (rule->hand_on)
		nswap_rebalance_look(node, &v);
	spin_lock_irq(&node->ipt_lock);
	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (!has_room(node, e, rule->owner, rule->critical) ||
		    test_bit(i, rule->full) ||
		    (rule->hand_on && !nswap_balance_takes(&v, e->lent, e->used)))
			continue;
		if (time_before(jiffies, READ_ONCE(rule->rest[i])) ||
		    test_bit(i, rule->unmet))
			*rests = true;
		else if (!best || target_better(e, &t->entry[best], rule->linked))
			best = i;
	}
	if (best)
		set_target(to, best, &t->entry[best]);
	spin_unlock_irq(&node->ipt_lock);
	if (best && rule->critical)
		to->free = max(to->free, (u64)NSWAP_REQ_SLOTS);
	return best;
}

/* look up an owner. Returns false if it is not in the IPTable. */
bool nswap_target_owner(struct nswap_node *node, u64 id,
			struct nswap_target *to)
{
	struct nswap_ipt *t = &node->ipt;
	u16 index;

	spin_lock_irq(&node->ipt_lock);
	index = nswap_ipt_find(t, id);
	if (index)
		set_target(to, index, &t->entry[index]);
	spin_unlock_irq(&node->ipt_lock);
	return index;
}

/* a peer took pages: update its free pages in the IPTable from its answer */
void nswap_target_took(struct nswap_node *node, const struct nswap_target *to,
		       u64 free, u32 taken)
{
	struct nswap_ipt_entry *e = &node->ipt.entry[to->index];

	spin_lock_irq(&node->ipt_lock);
	if (e->id == to->id) {
		e->free = free;
		e->used += taken;
	}
	spin_unlock_irq(&node->ipt_lock);
}
