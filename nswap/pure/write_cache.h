/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write cache: which pages of a device its node keeps, and which of them have yet to be
 * sent. No lock, no page is read or written here.
 */
#ifndef NSWAP_PURE_WRITE_CACHE_H
#define NSWAP_PURE_WRITE_CACHE_H

#include <linux/list.h>
#include <linux/types.h>

struct page;

/**
 * enum nswap_wc_state - what an entry's page is
 * @NSWAP_WC_FREE: nothing
 * @NSWAP_WC_FILLING: what a page-out that is under way writes
 * @NSWAP_WC_CLEAN: what the slot has below, too
 * @NSWAP_WC_DIRTY: newer than anything below, to be sent
 * @NSWAP_WC_SENDING: being sent: it does not change
 * @NSWAP_WC_KEPT: as CLEAN, but below are fewer copies than the device promises
 * @NSWAP_WC_NR: number of states
 */
enum nswap_wc_state {
	NSWAP_WC_FREE,
	NSWAP_WC_FILLING,
	NSWAP_WC_CLEAN,
	NSWAP_WC_DIRTY,
	NSWAP_WC_SENDING,
	NSWAP_WC_KEPT,
	NSWAP_WC_NR,
};

/**
 * struct nswap_wc_entry - a page of the cache
 * @link: on the list of its state, the one whose turn is next at its head
 * @hash: in the bucket of its slot, unless it is FREE
 * @page: its memory, for as long as the cache is there
 * @since: DIRTY, SENDING: jiffies when its slot became so; long ago if it was KEPT
 * @slot: of its device
 * @round: DIRTY, SENDING: a flush that began later waits for it
 * @state: enum nswap_wc_state
 * @stale: FILLING, SENDING: the slot was rewritten or freed meanwhile; not current
 * @freed: likewise, it is not read: it was freed, and what was SENDING is to be freed when it
 *	is there; or FILLING, and a newer page-out of the slot has ended
 * @owed: FILLING: it was DIRTY, and flushes wait for it as if it still were
 * @alone: sending it has failed: it is sent by itself
 */
struct nswap_wc_entry {
	struct list_head link;
	struct hlist_node hash;
	struct page *page;
	unsigned long since;
	u32 slot;
	u32 round;
	u8 state;
	bool stale;
	bool freed;
	bool owed;
	bool alone;
};

#define NSWAP_WC_PASSING	1024

/**
 * struct nswap_wc_table - all entries of a device
 * @entry: they
 * @nr: how many
 * @bucket: of slots
 * @bits: of the number of buckets
 * @list: entries by state; CLEAN: the one used last at its tail, KEPT: the one looked at last
 * @count: how many are there
 * @passing: page-outs under way that have no entry, by slot modulo NSWAP_WC_PASSING
 */
struct nswap_wc_table {
	struct nswap_wc_entry *entry;
	u32 nr;
	struct hlist_head *bucket;
	unsigned int bits;
	struct list_head list[NSWAP_WC_NR];
	u32 count[NSWAP_WC_NR];
	u32 passing[NSWAP_WC_PASSING];
};

/* is its page neither to be sent nor on its way? */
static inline bool nswap_wc_rests(const struct nswap_wc_entry *e)
{
	return e->state == NSWAP_WC_CLEAN || e->state == NSWAP_WC_KEPT;
}

bool nswap_wc_init(struct nswap_wc_table *t, u32 nr);
void nswap_wc_exit(struct nswap_wc_table *t);
bool nswap_wc_legal(u8 from, u8 to);
struct nswap_wc_entry *nswap_wc_find(const struct nswap_wc_table *t, u32 slot);
struct nswap_wc_entry *nswap_wc_readable(const struct nswap_wc_table *t, u32 slot);
struct nswap_wc_entry *nswap_wc_sending(const struct nswap_wc_table *t, u32 slot);
struct nswap_wc_entry *nswap_wc_filling(const struct nswap_wc_table *t, u32 slot);
void nswap_wc_move(struct nswap_wc_table *t, struct nswap_wc_entry *e, u8 state);
struct nswap_wc_entry *nswap_wc_take(struct nswap_wc_table *t, u32 slot, u8 state);
void nswap_wc_touch(struct nswap_wc_table *t, struct nswap_wc_entry *e);
void nswap_wc_last(struct nswap_wc_table *t, struct nswap_wc_entry *e);
void nswap_wc_first(struct nswap_wc_table *t, struct nswap_wc_entry *e);
void nswap_wc_again(struct nswap_wc_table *t, struct nswap_wc_entry *e);
unsigned int nswap_wc_run(struct nswap_wc_table *t, struct nswap_wc_entry **run,
			  unsigned int most);

/* a page-out of the slot begins without an entry */
static inline void nswap_wc_pass(struct nswap_wc_table *t, u32 slot)
{
	t->passing[slot % NSWAP_WC_PASSING]++;
}

/* it has ended */
static inline void nswap_wc_passed(struct nswap_wc_table *t, u32 slot)
{
	t->passing[slot % NSWAP_WC_PASSING]--;
}

/* may one be under way? then a slot that has no current entry gets none */
static inline bool nswap_wc_passes(const struct nswap_wc_table *t, u32 slot)
{
	return t->passing[slot % NSWAP_WC_PASSING];
}

#endif
