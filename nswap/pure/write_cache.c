// SPDX-License-Identifier: GPL-2.0
/*
 * Write cache: which pages of a device its node keeps, and which of them have yet to be
 * sent.
 *
 *   FREE -> FILLING -> CLEAN     a page-out that ends when its page is at its place below
 *   FREE -> DIRTY -> SENDING -> CLEAN    one that ended when its page was here
 *   FILLING -> FREE              it failed, or the slot was rewritten or freed meanwhile
 *   CLEAN -> FILLING, DIRTY      rewritten
 *   CLEAN, DIRTY -> FREE         freed; CLEAN: also if others need the page
 *   DIRTY -> FILLING             rewritten by a page-out that is to be at its place below
 *   SENDING -> DIRTY             nothing takes it now
 *   SENDING -> FREE              rewritten or freed meanwhile
 *   SENDING -> KEPT -> CLEAN     it had fewer copies than are promised, and has them now
 *   KEPT -> DIRTY                the one that it had is gone, or has to be rebuilt
 *   KEPT -> FILLING, DIRTY, FREE rewritten, freed
 *
 * Invariants:
 *  - A slot has at most one current entry, which is not stale. It has at most one FILLING
 *    and one SENDING, current or stale.
 *  - A DIRTY entry is not sent while an older one of its slot is SENDING, so that what
 *    arrives last is what was written last.
 *  - While a page-out of a slot without an entry is under way (@passing), the slot has no
 *    current entry and gets none: two page-outs of one slot may end in any order.
 *  - Nothing here waits: an entry that is not FREE or CLEAN is never taken for another slot.
 *
 * The caller has the lock that protects the table.
 */
#include <linux/bug.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "charged.h"
#include "write_cache.h"

#define TO(state)	BIT(NSWAP_WC_##state)

static const u8 wc_moves[NSWAP_WC_NR] = {
	[NSWAP_WC_FREE] = TO(FILLING) | TO(DIRTY),
	[NSWAP_WC_FILLING] = TO(CLEAN) | TO(FREE),
	[NSWAP_WC_CLEAN] = TO(FILLING) | TO(DIRTY) | TO(FREE),
	[NSWAP_WC_DIRTY] = TO(SENDING) | TO(FILLING) | TO(FREE),
	[NSWAP_WC_SENDING] = TO(CLEAN) | TO(DIRTY) | TO(FREE) | TO(KEPT),
	[NSWAP_WC_KEPT] = TO(FILLING) | TO(CLEAN) | TO(DIRTY) | TO(FREE),
};

/* is this one of the moves above? any context */
bool nswap_wc_legal(u8 from, u8 to)
{
	return from < NSWAP_WC_NR && to < NSWAP_WC_NR && wc_moves[from] & BIT(to);
}

static struct hlist_head *wc_bucket(const struct nswap_wc_table *t, u32 slot)
{
	return &t->bucket[hash_32(slot, t->bits)];
}

/*
 * @nr entries, each with a page of its own, charged to the task that asks. Process, sleeps.
 * False without memory or if the task is being killed; nswap_wc_exit() either way.
 */
bool nswap_wc_init(struct nswap_wc_table *t, u32 nr)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < NSWAP_WC_NR; i++)
		INIT_LIST_HEAD(&t->list[i]);
	t->bits = max(order_base_2(nr), 1);
	t->bucket = nswap_charged_zalloc(sizeof(*t->bucket) << t->bits);
	t->entry = nswap_charged_zalloc(sizeof(*t->entry) * nr);
	if (!t->bucket || !t->entry)
		return false;
	for (; t->nr < nr; t->nr++) {
		struct nswap_wc_entry *e = &t->entry[t->nr];

		e->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
		if (!e->page || fatal_signal_pending(current)) {
			if (e->page)
				__free_page(e->page);
			return false;
		}
		list_add_tail(&e->link, &t->list[NSWAP_WC_FREE]);
		t->count[NSWAP_WC_FREE]++;
	}
	return true;
}

/* process, sleeps */
void nswap_wc_exit(struct nswap_wc_table *t)
{
	while (t->nr)
		__free_page(t->entry[--t->nr].page);
	vfree(t->entry);
	vfree(t->bucket);
}

/* the current entry of a slot, NULL if it has none; any context */
struct nswap_wc_entry *nswap_wc_find(const struct nswap_wc_table *t, u32 slot)
{
	struct nswap_wc_entry *e;

	hlist_for_each_entry(e, wc_bucket(t, slot), hash)
		if (e->slot == slot && !e->stale)
			return e;
	return NULL;
}

static struct nswap_wc_entry *wc_find_in(const struct nswap_wc_table *t, u32 slot, u8 state)
{
	struct nswap_wc_entry *e;

	hlist_for_each_entry(e, wc_bucket(t, slot), hash)
		if (e->slot == slot && e->state == state)
			return e;
	return NULL;
}

/*
 * The entry that a page-in of the slot is to get: the current one, else what is on its way
 * out, since what is below may be older yet. NULL: what is below. Any context.
 */
struct nswap_wc_entry *nswap_wc_readable(const struct nswap_wc_table *t, u32 slot)
{
	struct nswap_wc_entry *e, *found = NULL;

	hlist_for_each_entry(e, wc_bucket(t, slot), hash) {
		if (e->slot != slot || e->freed)
			continue;
		if (!e->stale)
			return e;
		if (!found || e->state == NSWAP_WC_FILLING)
			found = e;
	}
	return found;
}

/* the entry of a slot that is being sent, current or stale; any context */
struct nswap_wc_entry *nswap_wc_sending(const struct nswap_wc_table *t, u32 slot)
{
	return wc_find_in(t, slot, NSWAP_WC_SENDING);
}

/* likewise, that a page-out writes */
struct nswap_wc_entry *nswap_wc_filling(const struct nswap_wc_table *t, u32 slot)
{
	return wc_find_in(t, slot, NSWAP_WC_FILLING);
}

static void wc_list(struct nswap_wc_table *t, struct nswap_wc_entry *e, u8 state)
{
	t->count[e->state]--;
	t->count[state]++;
	e->state = state;
	list_move_tail(&e->link, &t->list[state]);
}

/* one of the legal moves; any context */
void nswap_wc_move(struct nswap_wc_table *t, struct nswap_wc_entry *e, u8 state)
{
	if (WARN_ON_ONCE(!nswap_wc_legal(e->state, state)))
		return;
	wc_list(t, e, state);
	if (state == NSWAP_WC_FREE)
		hlist_del(&e->hash);
	if (state == NSWAP_WC_FREE || nswap_wc_rests(e)) {
		e->stale = false;
		e->freed = false;
		e->alone = false;
	}
}

/*
 * An entry for a slot that has no current one, FILLING or DIRTY: one that is FREE, or the
 * CLEAN one that was used longest ago. NULL if there is neither. Any context.
 */
struct nswap_wc_entry *nswap_wc_take(struct nswap_wc_table *t, u32 slot, u8 state)
{
	struct nswap_wc_entry *e;

	e = list_first_entry_or_null(&t->list[NSWAP_WC_FREE], struct nswap_wc_entry, link);
	if (!e) {
		e = list_first_entry_or_null(&t->list[NSWAP_WC_CLEAN],
					     struct nswap_wc_entry, link);
		if (!e)
			return NULL;
		nswap_wc_move(t, e, NSWAP_WC_FREE);
	}
	/* nswap_cached_discard() looks without the lock */
	WRITE_ONCE(e->slot, slot);
	hlist_add_head(&e->hash, wc_bucket(t, slot));
	nswap_wc_move(t, e, state);
	return e;
}

/* its page is used; any context */
void nswap_wc_touch(struct nswap_wc_table *t, struct nswap_wc_entry *e)
{
	if (e->state == NSWAP_WC_CLEAN)
		list_move_tail(&e->link, &t->list[NSWAP_WC_CLEAN]);
}

/* it is KEPT, and the others have their turn before it; any context */
void nswap_wc_last(struct nswap_wc_table *t, struct nswap_wc_entry *e)
{
	list_move_tail(&e->link, &t->list[NSWAP_WC_KEPT]);
}

/* SENDING, KEPT -> DIRTY: it is the first to be sent; any context */
void nswap_wc_first(struct nswap_wc_table *t, struct nswap_wc_entry *e)
{
	nswap_wc_move(t, e, NSWAP_WC_DIRTY);
	list_move(&e->link, &t->list[NSWAP_WC_DIRTY]);
}

/* SENDING -> DIRTY: likewise, by itself, since sending it has failed; any context */
void nswap_wc_again(struct nswap_wc_table *t, struct nswap_wc_entry *e)
{
	nswap_wc_first(t, e);
	e->alone = true;
}

static bool wc_sendable(const struct nswap_wc_table *t, const struct nswap_wc_entry *e)
{
	return e && e->state == NSWAP_WC_DIRTY && !nswap_wc_sending(t, e->slot);
}

/* likewise, and together with others */
static bool wc_joins(const struct nswap_wc_table *t, u32 slot)
{
	struct nswap_wc_entry *e = nswap_wc_find(t, slot);

	return wc_sendable(t, e) && !e->alone;
}

/**
 * nswap_wc_run() - the entries that are to be sent next
 * @t: table
 * @run: result: they, now SENDING, of adjacent slots, upwards
 * @most: how many there may be
 *
 * The one that became dirty first, and those beside it.
 *
 * Context: any.
 * Return: how many; 0 if none may be sent.
 */
unsigned int nswap_wc_run(struct nswap_wc_table *t, struct nswap_wc_entry **run,
			  unsigned int most)
{
	struct nswap_wc_entry *e;
	unsigned int n = 0;
	u32 slot;

	list_for_each_entry(e, &t->list[NSWAP_WC_DIRTY], link)
		if (wc_sendable(t, e))
			break;
	if (list_entry_is_head(e, &t->list[NSWAP_WC_DIRTY], link))
		return 0;
	slot = e->slot;
	while (!e->alone && slot && e->slot - slot < most - 1 && wc_joins(t, slot - 1))
		slot--;
	do {
		run[n] = nswap_wc_find(t, slot + n);
		nswap_wc_move(t, run[n], NSWAP_WC_SENDING);
		n++;
	} while (!e->alone && n < most && wc_joins(t, slot + n));
	return n;
}
