/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of set bits: adjacent slots of a request.
 */
#ifndef NSWAP_BITS_H
#define NSWAP_BITS_H

#include <linux/bitmap.h>

/* length of the run of set bits that starts at @first */
static inline unsigned int nswap_run_of(unsigned long bits, unsigned int first)
{
	return find_next_zero_bit(&bits, BITS_PER_LONG, first) - first;
}

#endif
