// SPDX-License-Identifier: GPL-2.0
/*
 * Slot trace: the event of pages paged out or in. It feeds the tracepoint
 * nswap_slot, and a ring of the latest events for a node whose trace is on.
 *
 * Invariants:
 *  - The ring is allocated when tracing is switched on for the first time and
 *    freed with the node. Adding an entry takes a spinlock and never waits: the
 *    oldest entry is overwritten, read or not.
 *  - Entries are numbered without a gap, so a reader knows what it missed.
 */
#include <linux/slab.h>

#include "core/node.h"
#include "meter.h"
#include "trace.h"

#define TRACE_ENTRIES	32768

/**
 * struct nswap_slot_trace - the latest pages paged out and in
 * @lock: protects everything here; inside nothing
 * @head: entries ever added; entry number n is at n % TRACE_ENTRIES, the
 *	first is number 1
 * @entry: ring
 */
struct nswap_slot_trace {
	spinlock_t lock;
	u64 head;
	struct nswap_trace_view entry[TRACE_ENTRIES];
};

struct nswap_slot_trace *nswap_slot_trace_alloc(void)
{
	struct nswap_slot_trace *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (t)
		spin_lock_init(&t->lock);
	return t;
}

/**
 * nswap_slot_trace() - record pages that were paged out or in together
 * @m: their node's
 * @v: the event; its number is filled in
 *
 * Context: any; does not sleep, on the page-out path.
 */
void nswap_slot_trace(struct nswap_meter *m, struct nswap_trace_view *v)
{
	struct nswap_slot_trace *t;
	unsigned long flags;

	trace_nswap_slot(m->node->number, v);
	/* pairs with meter_turn(): if it is on, the ring is allocated */
	if (!smp_load_acquire(&m->trace_on))
		return;
	t = m->trace;
	spin_lock_irqsave(&t->lock, flags);
	v->number = ++t->head;
	t->entry[v->number % TRACE_ENTRIES] = *v;
	spin_unlock_irqrestore(&t->lock, flags);
}

/* the next entry of a node's slot trace */
bool nswap_trace_next(struct nswap_node *node, u64 after,
		      struct nswap_trace_view *v)
{
	/* pairs with nswap_meter_apply() */
	struct nswap_slot_trace *t = smp_load_acquire(&node->meter->trace);
	u64 first;
	bool found;

	if (!t)
		return false;
	spin_lock_irq(&t->lock);
	first = t->head < TRACE_ENTRIES ? 1 : t->head - TRACE_ENTRIES + 1;
	first = max(first, after + 1);
	found = first <= t->head;
	if (found)
		*v = t->entry[first % TRACE_ENTRIES];
	spin_unlock_irq(&t->lock);
	return found;
}
