/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection, in test builds only (make INJECT=1). Without NSWAP_INJECT
 * every function here is a constant "no" at compile time.
 */
#ifndef NSWAP_INJECT_H
#define NSWAP_INJECT_H

#include <linux/types.h>

struct page;

/**
 * enum nswap_met - what can happen to a slot that is MOVING
 * @NSWAP_MET_PAGE_IN: it is read
 * @NSWAP_MET_PAGE_OUT: it is written again
 * @NSWAP_MET_FREE: it is freed
 * @NSWAP_MET_CUT: its claim, or the message about its move, is lost
 * @NSWAP_MET_NR: number of these
 */
enum nswap_met {
	NSWAP_MET_PAGE_IN,
	NSWAP_MET_PAGE_OUT,
	NSWAP_MET_FREE,
	NSWAP_MET_CUT,
	NSWAP_MET_NR,
};

/*
 * The named points: X(NAME, name, where). A test has a node stop at one and decides what
 * dies, falls silent or comes back meanwhile.
 */
#define NSWAP_INJECT_POINTS(X) \
	X(STORED, stored, "at a server: pages are stored, and not acknowledged yet") \
	X(CLAIMED, claimed, "at an owner: a move is recorded, its mover not told yet") \
	X(HALF, half, "at an owner: a row's pages are acknowledged, not all of its checks sent") \
	X(MOVING, moving, "at a server: a peer wants to move pages here, nothing is taken yet") \
	X(REPAIRING, repairing, \
	  "at an owner: a repair, or a switch of protection, holds its slots")

#define NSWAP_INJECT_POINT_ID(NAME, name, where)	NSWAP_POINT_##NAME,
enum nswap_point {
	NSWAP_POINT_NONE,
	NSWAP_INJECT_POINTS(NSWAP_INJECT_POINT_ID)
	NSWAP_POINT_NR,
};

/*
 * The faults: X(kind, name, text) is the module parameter inject_<name>, asked for with
 * nswap_inject_<name>(). NEXT: N of them, used up one by one by the connection that
 * comes first; CHANCE: 1 in N; WHILE: as long as it is set. A mutation removes one rule,
 * as the MUT_* of the same name in tests/model/move.pml does: a test that does not notice
 * proves nothing.
 */
#define NSWAP_INJECT_FAULTS(X) \
	X(NEXT, corrupt, "corrupt the next N pages served") \
	X(NEXT, stale, \
	  "serve the previous generation of the next N pages that have one") \
	X(NEXT, drop_ack, "do not send the next N store acks") \
	X(NEXT, refuse, "refuse the next N stores") \
	X(NEXT, miss, "say of the next N pages asked for that they are not held") \
	X(NEXT, no_threads, "the next N sessions get no threads") \
	X(NEXT, slow_link, "rest while the next N connections are given to threads") \
	X(NEXT, slow_look, "rest while the exposed pages of the next N devices are counted") \
	X(CHANCE, cut_ack, \
	  "close the connection before 1 in N acks of stores, frees and returns") \
	X(WHILE, keep, "keep previous generations for inject_stale") \
	X(WHILE, no_gen_check, "mutation: servers ignore generations") \
	X(WHILE, early_free, \
	  "mutation: a mover drops its pages before their owner has recorded the new place") \
	X(WHILE, ack_before_store, \
	  "mutation: stores are acknowledged before their pages are here")

#ifdef NSWAP_INJECT
#define NSWAP_INJECT_ASK(kind, name, text) bool nswap_inject_##name(void);
void nswap_inject_count(u8 from, u8 to);
void nswap_inject_met(enum nswap_met what, u32 n);
void nswap_inject_look(void);
bool nswap_inject_lost(u8 type);
void nswap_inject_point(u64 id, enum nswap_point at);
void nswap_inject_freed(struct page *page);
#else
#define NSWAP_INJECT_ASK(kind, name, text) \
	static inline bool nswap_inject_##name(void) { return false; }

static inline void nswap_inject_count(u8 from, u8 to)
{
}

static inline void nswap_inject_met(enum nswap_met what, u32 n)
{
}

static inline void nswap_inject_look(void)
{
}

static inline bool nswap_inject_lost(u8 type)
{
	return false;
}

static inline void nswap_inject_point(u64 id, enum nswap_point at)
{
}

static inline void nswap_inject_freed(struct page *page)
{
}
#endif
NSWAP_INJECT_FAULTS(NSWAP_INJECT_ASK)

#endif
