/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tally of a peer: the grants this node may spend there and what is under way to it, in
 * one word, changed by compare and exchange.
 *
 * Invariants:
 *  - A grant that was spent is off the word before the caller knows of it: no two tasks
 *    spend one grant.
 *  - A word that is shut changes only by nswap_tally_open(): what a message of an older
 *    session gives or ends has no effect between two sessions.
 *  - No field runs into the next: what would be too much for one is not spent, or not
 *    given. No server of ours grants or takes a hundredth of that.
 *
 * Context: any; nothing here sleeps.
 */
#ifndef NSWAP_TALLY_H
#define NSWAP_TALLY_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define NSWAP_TALLY_GRANTS_MAX		(BIT(21) - 1)
#define NSWAP_TALLY_PAGES_MAX		(BIT(22) - 1)
#define NSWAP_TALLY_MESSAGES_MAX	(BIT(20) - 1)

/**
 * struct nswap_tally - what the word says
 * @grants: pages the peer has set aside for this node and that are not spent
 * @pages: pages of page-outs under way to it
 * @messages: page-outs under way to it
 * @open: there is a session; all others are 0 without
 */
struct nswap_tally {
	u32 grants;
	u32 pages;
	u32 messages;
	bool open;
};

static inline u64 nswap_tally_pack(const struct nswap_tally *t)
{
	return t->grants | (u64)t->pages << 21 | (u64)t->messages << 43 |
	       (u64)t->open << 63;
}

static inline struct nswap_tally nswap_tally_unpack(u64 word)
{
	return (struct nswap_tally){
		.grants = word & NSWAP_TALLY_GRANTS_MAX,
		.pages = word >> 21 & NSWAP_TALLY_PAGES_MAX,
		.messages = word >> 43 & NSWAP_TALLY_MESSAGES_MAX,
		.open = word >> 63,
	};
}

/* what it says now; pairs with nswap_tally_open(): what was written before is seen */
static inline struct nswap_tally nswap_tally_look(const atomic64_t *tally)
{
	return nswap_tally_unpack(atomic64_read_acquire(tally));
}

/* a session begins, with so many grants; nothing is under way */
static inline void nswap_tally_open(atomic64_t *tally, u32 grants)
{
	const struct nswap_tally t = {
		.grants = min_t(u32, grants, NSWAP_TALLY_GRANTS_MAX), .open = true,
	};

	atomic64_set_release(tally, nswap_tally_pack(&t));
}

/* it has ended */
static inline void nswap_tally_shut(atomic64_t *tally)
{
	atomic64_set(tally, 0);
}

/* exchange @was for @to; false, and @was is what is there now, if it has changed */
static inline bool nswap_tally_try(atomic64_t *tally, struct nswap_tally *was,
				   const struct nswap_tally *to)
{
	s64 old = nswap_tally_pack(was);

	if (atomic64_try_cmpxchg(tally, &old, nswap_tally_pack(to)))
		return true;
	*was = nswap_tally_unpack(old);
	return false;
}

/* may a message with so many pages be added? */
static inline bool nswap_tally_fits(const struct nswap_tally *t, u32 pages)
{
	return t->open && t->messages < NSWAP_TALLY_MESSAGES_MAX &&
	       t->pages + pages <= NSWAP_TALLY_PAGES_MAX;
}

/**
 * nswap_tally_spend() - a message begins, against grants
 * @tally: tally
 * @least: grants it needs, not 0
 * @most: grants it can use
 *
 * Return: how many were spent; 0: there are fewer than @least, and nothing was.
 */
static inline u32 nswap_tally_spend(atomic64_t *tally, u32 least, u32 most)
{
	struct nswap_tally was = nswap_tally_look(tally), to;
	u32 n;

	do {
		n = min(was.grants, most);
		if (n < least || !nswap_tally_fits(&was, n))
			return 0;
		to = was;
		to.grants -= n;
		to.pages += n;
		to.messages++;
	} while (!nswap_tally_try(tally, &was, &to));
	return n;
}

/* a message begins without grants; false: there is no session */
static inline bool nswap_tally_begin(atomic64_t *tally, u32 pages)
{
	struct nswap_tally was = nswap_tally_look(tally), to;

	do {
		if (!nswap_tally_fits(&was, pages))
			return false;
		to = was;
		to.pages += pages;
		to.messages++;
	} while (!nswap_tally_try(tally, &was, &to));
	return true;
}

/* a message has ended, or @pages is 0 and none has; and the peer has granted more */
static inline void nswap_tally_end(atomic64_t *tally, u32 pages, u32 grants)
{
	struct nswap_tally was = nswap_tally_look(tally), to;

	do {
		if (!was.open)
			return;
		to = was;
		to.pages -= min(pages, was.pages);
		to.messages -= pages && was.messages;
		to.grants += min_t(u32, grants, NSWAP_TALLY_GRANTS_MAX - was.grants);
	} while (!nswap_tally_try(tally, &was, &to));
}

/* take the grants above @keep if nothing is under way; returns how many */
static inline u32 nswap_tally_take_back(atomic64_t *tally, u32 keep)
{
	struct nswap_tally was = nswap_tally_look(tally), to;

	do {
		if (was.pages || was.grants <= keep)
			return 0;
		to = was;
		to.grants = keep;
	} while (!nswap_tally_try(tally, &was, &to));
	return was.grants - keep;
}

#endif
