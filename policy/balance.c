// SPDX-License-Identifier: GPL-2.0
/*
 * Rebalancing: how many pages should a node that is fuller than the others hand on?
 *
 * Fullness is the used share of the lent RAM. A node starts to hand pages on when it
 * is fuller than the others together by more than pct percentage points, and goes
 * on until the difference is half of that. What it hands on makes the others fuller;
 * the answer accounts for that, so it brings the difference to half of pct and no
 * further: of two nodes neither can then be the fuller one by pct in the other
 * direction, and pages never move back and forth.
 *
 * Shares are in units of 1/SHARE. What the others use is up to one announcement
 * old; the remaining half of pct also covers that.
 */
#include <linux/math64.h>

#include "policy.h"

#define SHARE		10000ull

static u64 balance_share(u64 used, u64 lent)
{
	return lent ? div64_u64(min(used, lent) * SHARE, lent) : 0;
}

/* pages that reduce the difference by one unit, times SHARE: l * L / (l + L) */
static u64 pages_a_unit(u64 l, u64 others)
{
	unsigned int shift = 0;

	while ((l | others) >> 31) {
		l >>= 1;
		others >>= 1;
		shift++;
	}
	return l && others ? div64_u64(l * others, l + others) << shift : 0;
}

/* how many pages to hand on now */
u64 nswap_balance(const struct nswap_balance_view *v)
{
	u64 mine = balance_share(v->used, v->lent);
	u64 theirs = balance_share(v->others_used, v->others_lent);
	u64 pct = v->pct * SHARE / 100, over;

	if (!v->pct || !v->lent || !v->others_lent ||
	    mine <= theirs + (v->under_way ? pct / 2 : pct))
		return 0;
	over = mine - theirs - pct / 2;
	return min(v->used, div64_u64(over * pages_a_unit(v->lent,
							  v->others_lent),
				      SHARE) + 1);
}

/* may pages be handed on to this peer? */
bool nswap_balance_takes(const struct nswap_balance_view *v, u64 lent, u64 used)
{
	return lent && balance_share(v->used, v->lent) >
		       balance_share(used, lent) + v->pct * SHARE / 200;
}
