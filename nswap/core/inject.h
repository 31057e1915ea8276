/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection, in test builds only (make INJECT=1). Without NSWAP_INJECT
 * every function here is a constant "no" at compile time.
 */
#ifndef NSWAP_INJECT_H
#define NSWAP_INJECT_H

#include <linux/types.h>

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

#ifdef NSWAP_INJECT
bool nswap_inject_keep(void);
bool nswap_inject_stale(void);
bool nswap_inject_corrupt(void);
bool nswap_inject_cut_ack(void);
bool nswap_inject_drop_ack(void);
bool nswap_inject_refuse(void);
bool nswap_inject_no_gen_check(void);
bool nswap_inject_early_free(void);
bool nswap_inject_ack_before_store(void);
void nswap_inject_count(u8 from, u8 to);
void nswap_inject_met(enum nswap_met what, u32 n);
bool nswap_inject_no_threads(void);
#else
static inline bool nswap_inject_cut_ack(void)
{
	return false;
}

static inline bool nswap_inject_drop_ack(void)
{
	return false;
}

static inline bool nswap_inject_refuse(void)
{
	return false;
}

static inline bool nswap_inject_no_gen_check(void)
{
	return false;
}

static inline bool nswap_inject_early_free(void)
{
	return false;
}

static inline bool nswap_inject_ack_before_store(void)
{
	return false;
}

static inline void nswap_inject_count(u8 from, u8 to)
{
}

static inline void nswap_inject_met(enum nswap_met what, u32 n)
{
}

static inline bool nswap_inject_no_threads(void)
{
	return false;
}
#endif

#endif
