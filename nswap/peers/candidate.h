/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Candidate for placement: a peer with an established session.
 */
#ifndef NSWAP_CANDIDATE_H
#define NSWAP_CANDIDATE_H

#include <linux/list.h>

#include "pure/tally.h"

/**
 * struct nswap_cand - what placement knows of a peer; part of it
 * @link: in the node's list while there is a session, in the order of index; RCU
 * @index: of the peer; write-once
 * @tally: grants, and what is under way
 * @free: pages it announced as free, less what was stored there since; an estimate
 * @lent: pages it lends in all, of these to us
 * @store_ns: see struct nswap_place_peer; an estimate
 * @asked: jiffies of its last answer to a page-out, or when the first of those under way
 *	was sent
 * @heard: jiffies when anything was heard of it, at the last evaluation
 * @missed_at: jiffies when a page-out was given up unanswered
 * @missed: one was, and none answered since
 * @measured: @store_ns has changed since the last tick
 * @eligible: as in struct nswap_place_peer; this and what follows is written under the
 *	node's place_lock
 * @resting: likewise
 * @shrinking: likewise
 * @leaving: it has announced that it leaves
 * @share: pages it lends to us at most, U32_MAX for all; @lent and @free are of these
 */
struct nswap_cand {
	struct list_head link;
	u16 index;
	atomic64_t tally;
	u64 free;
	u64 lent;
	u64 store_ns;
	unsigned long asked;
	unsigned long heard;
	unsigned long missed_at;
	bool missed;
	bool measured;
	bool eligible;
	bool resting;
	bool shrinking;
	bool leaving;
	u32 share;
};

#endif
