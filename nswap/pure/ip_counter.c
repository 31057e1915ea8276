// SPDX-License-Identifier: GPL-2.0
/*
 * IPTable: which announcements of nodes with keys were heard before. Each has a higher
 * counter than the last one; but any member can announce in another's name, from an
 * address of its own.
 *
 * Invariants:
 *  - What was heard is not believed again, nor what is older: from the address of the
 *    entry, and from the other one where its node was heard last, it has to be newer than
 *    what came from there; from a third one, newer than one of them: where a node was
 *    before, it announced less than at either.
 *  - A counter stays with its address, also when the entry gets the other one, as it does
 *    without a session: what comes from another address does not mute a node at its own.
 *  - All of it under the table's lock; nothing sleeps.
 */
#include <linux/minmax.h>

#include "ip_counter.h"

#define REPLAY_MS	600000

static u64 counter_at(const struct nswap_ipt_entry *e, const struct nswap_addr *from)
{
	if (nswap_addr_equal(from, &e->addr))
		return e->counter;
	if (nswap_addr_equal(from, &e->other_at))
		return e->other;
	return e->other_at.family ? min(e->counter, e->other) : e->counter;
}

/*
 * Has this announcement of a node with keys been heard before? Its counter is not higher
 * than what that of its id, in whatever epoch, was there; but after REPLAY_MS without any,
 * its clock may have gone back. Any context.
 */
bool nswap_ipt_replay(const struct nswap_ipt *t, const struct nswap_announcement *a,
		      u64 now_ms)
{
	unsigned int i;

	for (i = 1; i <= t->top; i++) {
		const struct nswap_ipt_entry *e = &t->entry[i];

		if (e->id == a->id && counter_at(e, &a->addr) >= a->counter &&
		    now_ms <= e->heard_ms + REPLAY_MS)
			return true;
	}
	return false;
}

/* an announcement of the entry's node is taken in; any context */
void nswap_ipt_counted(struct nswap_ipt_entry *e, const struct nswap_announcement *a)
{
	if (nswap_addr_equal(&a->addr, &e->addr)) {
		e->counter = a->counter;
		return;
	}
	e->other_at = a->addr;
	e->other = a->counter;
}

/* the node has greeted there: whatever its clock says now is new; any context */
void nswap_ipt_counter_proved(struct nswap_ipt_entry *e, const struct nswap_addr *at)
{
	if (nswap_addr_equal(at, &e->addr)) {
		e->counter = 0;
		return;
	}
	e->other_at = *at;
	e->other = 0;
}

/* the entry gets another address: what was heard at both stays with them; any context */
void nswap_ipt_counter_move(struct nswap_ipt_entry *e, const struct nswap_addr *to)
{
	u64 there = counter_at(e, to);

	if (nswap_addr_equal(to, &e->addr))
		return;
	e->other_at = e->addr;
	e->other = e->counter;
	e->counter = there;
}
