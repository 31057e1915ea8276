/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weight: what an owner gets of a server beside the others, where there is not enough for all.
 */
#ifndef NSWAP_WEIGHT_H
#define NSWAP_WEIGHT_H

#include <linux/minmax.h>
#include <linux/types.h>

#define NSWAP_WEIGHT		100	/* of an owner of which nothing was said */
#define NSWAP_WEIGHT_LEAST	10
#define NSWAP_WEIGHT_MOST	1000

/* the limits of turns, by weight; @n: that of NSWAP_WEIGHT; 1 at least */
static inline unsigned int nswap_weight_turn(unsigned int n, u32 weight)
{
	return max(n * weight / NSWAP_WEIGHT, 1u);
}

/*
 * Steps to add to the nice value of a thread that works for an owner: the scheduler gives a
 * thread 5/4 of the time with one step less. The nearest; -10 to 10.
 */
static inline int nswap_weight_nice(u32 weight)
{
	u32 at = NSWAP_WEIGHT << 10, of = weight << 10;
	int nice = 0;

	for (; at < of && of - at > at / 9; nice--)
		at += at / 4;
	for (; at > of && at - of > at / 9; nice++)
		at -= at / 5;
	return nice;
}

#endif
