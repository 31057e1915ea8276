// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: quietest. Page-outs leave a network that others load for a disk that they
 * leave alone, and come back.
 *
 * E. P. Markatos, G. Dramitinos, "Implementation of a Reliable Remote Memory Pager",
 * USENIX 1996: when the network is overloaded the pager uses the local disk. There the
 * time of a request decides; here also whether others cause it, since a long queue of
 * one's own is no reason to leave. Where the disk turns out to be slower still, page-outs
 * go back; each change makes the next one wait twice as long.
 *
 * Only new page-outs follow: pages that are out stay where they are.
 */
#include "policy.h"

#define BUSY		300	/* per mille by others: they load it */
#define FULL		600	/* likewise, where nothing is known of its time */
#define QUIET		100	/* less: they leave it alone */
#define SLOWER		2	/* times what it takes when it is quiet */
#define HOLD_MS		2000	/* least time between two changes */
#define HOLD_MOST	5	/* it doubles so often */

/* do others load it, so that it is slow? */
static bool quietest_suffers(const struct nswap_lean_place *p)
{
	if (p->others < BUSY || !p->us)
		return false;
	return p->quiet_us ? p->us > SLOWER * p->quiet_us : p->others >= FULL;
}

static u32 quietest_time(const struct nswap_lean_place *p)
{
	return p->us ?: p->quiet_us;
}

/*
 * Another tier that others leave alone, and that is not known to be slower than the
 * present one: the fastest, one that nothing is known of last. The present one if there
 * is none.
 */
static enum nswap_lean quietest_other(const struct nswap_lean_view *view)
{
	u32 us, best_us = view->at[view->now].us;
	enum nswap_lean best = view->now;
	unsigned int i;

	for (i = 0; i < NSWAP_LEANS; i++) {
		const struct nswap_lean_place *p = &view->at[i];

		if (i == view->now || !p->there || p->others >= BUSY)
			continue;
		us = quietest_time(p);
		if (us ? us < best_us : best == view->now) {
			best = i;
			best_us = us ?: best_us;
		}
	}
	return best;
}

/* peers were left: is it time to go back? */
static bool quietest_back(const struct nswap_lean_view *view)
{
	const struct nswap_lean_place *now = &view->at[view->now];
	const struct nswap_lean_place *peers = &view->at[NSWAP_LEAN_PEERS];

	if (!peers->there)
		return false;
	if (view->left_us && now->us > view->left_us)
		return true;
	return peers->others < QUIET &&
	       !(now->us && SLOWER * (u64)now->us < peers->quiet_us);
}

static enum nswap_lean quietest_lean(const struct nswap_lean_view *view)
{
	if (!view->at[view->now].there)
		return NSWAP_LEAN_PEERS;
	if (view->held_ms < HOLD_MS << min_t(u32, view->changes, HOLD_MOST))
		return view->now;
	if (view->now != NSWAP_LEAN_PEERS && quietest_back(view))
		return NSWAP_LEAN_PEERS;
	return quietest_suffers(&view->at[view->now]) ? quietest_other(view) : view->now;
}

static int quietest_pick(const struct nswap_place_view *view, unsigned int pages)
{
	if (view->lean == NSWAP_LEAN_FLASH && view->flash)
		return NSWAP_PLACE_FLASH;
	if (view->lean == NSWAP_LEAN_HOME && view->home)
		return NSWAP_PLACE_HOME;
	return nswap_place_most_free_ops.pick(view, pages);
}

static bool quietest_as_good(const struct nswap_place_peer *old,
			     const struct nswap_place_peer *picked, unsigned int pages)
{
	return nswap_place_most_free_ops.as_good(old, picked, pages);
}

const struct nswap_place_ops nswap_place_quietest_ops = {
	.is = { .name = "quietest",
		.help = "as most-free; flash or home while others load the network" },
	.pick = quietest_pick,
	.lean = quietest_lean,
	.as_good = quietest_as_good,
};
