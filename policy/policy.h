/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between policies and the mechanism that carries them out.
 *
 * A policy decides on a snapshot and touches nothing: no lock of the core, no
 * socket, no bio, no sleep, no allocation. The mechanism asks, acts, and makes
 * a new snapshot. Adding a policy is one file and one line in policy.c.
 */
#ifndef NSWAP_POLICY_H
#define NSWAP_POLICY_H

#include "../nswap/types.h"

#define NSWAP_POLICY_NAME	16

/**
 * struct nswap_place_peer - what a placement policy knows of one peer
 * @index: in the IPTable
 * @eligible: connected, fresh and not leaving; the others must not be chosen
 * @resting: in its refraction period: must not be chosen now, may be later
 * @grants: pages this peer has set aside for us; 0 means it must not be chosen
 * @free: pages it announced as free, less what was stored there since
 * @lent: pages it lends in all
 * @inflight: our page-outs under way to it, in pages
 */
struct nswap_place_peer {
	u16 index;
	bool eligible;
	bool resting;
	u32 grants;
	u64 free;
	u64 lent;
	u32 inflight;
};

/**
 * struct nswap_place_view - snapshot for one decision
 * @peer: candidates in the order of their index
 * @nr: number of candidates
 * @last: index (not position) chosen last time, 0 at first
 */
struct nswap_place_view {
	const struct nswap_place_peer *peer;
	unsigned int nr;
	u16 last;
};

/**
 * struct nswap_place_ops - a placement policy: which peer gets this page-out
 * @name: as users write it (required)
 * @help: one line for users (required)
 * @pick: position in @view->peer of the peer for @pages adjacent pages, or -1
 *	if no peer can take even one; a peer with fewer grants than @pages may
 *	be picked, the rest is then asked for again (required; may not sleep;
 *	on the reclaim path, called under a spinlock)
 */
struct nswap_place_ops {
	const char *name;
	const char *help;
	int (*pick)(const struct nswap_place_view *view, unsigned int pages);
};

/**
 * nswap_place_usable() - may this candidate be chosen?
 * @p: a candidate
 *
 * Context: any.
 * Return: true if it is eligible, not resting, and has a grant.
 */
static inline bool nswap_place_usable(const struct nswap_place_peer *p)
{
	return p->eligible && !p->resting && p->grants;
}

/**
 * nswap_place_after() - where a turn starts
 * @view: snapshot
 *
 * Context: any.
 * Return: position of the first candidate whose index is above @view->last,
 * 0 if there is none: going on from there, and round, gives everybody a turn.
 */
static inline unsigned int nswap_place_after(const struct nswap_place_view *view)
{
	unsigned int i;

	for (i = 0; i < view->nr; i++)
		if (view->peer[i].index > view->last)
			return i;
	return 0;
}

int nswap_policy_validate(void);
const struct nswap_place_ops *nswap_place_find(const char *name);
const struct nswap_place_ops *nswap_place_nth(unsigned int n);
const struct nswap_place_ops *nswap_place_default(void);

extern const struct nswap_place_ops nswap_place_most_free_ops;
extern const struct nswap_place_ops nswap_place_rr_ops;

#endif
