/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of set bits: the slots of a request that are adjacent.
 */
#ifndef NSWAP_BITS_H
#define NSWAP_BITS_H

#include <linux/bitmap.h>

/* length of a run of set bits */
static inline unsigned int nswap_run_of(unsigned long bits, unsigned int first)
{
	return find_next_zero_bit(&bits, BITS_PER_LONG, first) - first;
}

#endif
