// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks: adjacent units of a page for each of the things that share it.
 *
 * Invariants:
 *  - Of the runs of unused units the shortest that is long enough is taken, from its
 *    beginning: longer ones are left whole.
 *  - A thing ends where the next begins or units are unused: its length is not kept.
 *  - What is put back joins unused units beside it: there is nothing to be tidied up.
 *
 * Nothing here sleeps, locks or allocates.
 */
#include <linux/bitops.h>

#include "chunks.h"

/* @n bits from @at on; 1 <= @n, @at + @n <= NSWAP_CHUNK_UNITS */
static u64 chunks_mask(unsigned int at, unsigned int n)
{
	return (~0ull >> (NSWAP_CHUNK_UNITS - n)) << at;
}

/* the run of zeros in @bits at or after *@at: its length, 0 for none; *@at: where it begins */
static unsigned int chunks_run(u64 bits, unsigned int *at)
{
	u64 rest;

	if (*at >= NSWAP_CHUNK_UNITS)
		return 0;
	rest = ~bits >> *at;
	if (!rest)
		return 0;
	*at += __ffs64(rest);
	rest = bits >> *at;
	return rest ? __ffs64(rest) : NSWAP_CHUNK_UNITS - *at;
}

/**
 * nswap_chunks_take() - find room for something, and take it
 * @m: units of a page
 * @n: how many it needs, at least 1
 *
 * Context: any.
 * Return: the first of them; -1 if there are not as many side by side.
 */
int nswap_chunks_take(struct nswap_chunks *m, unsigned int n)
{
	unsigned int at = 0, len, best = 0, least = NSWAP_CHUNK_UNITS + 1;

	for (; (len = chunks_run(m->used, &at)); at += len) {
		if (len < n || len >= least)
			continue;
		least = len;
		best = at;
	}
	if (least > NSWAP_CHUNK_UNITS)
		return -1;
	m->used |= chunks_mask(best, n);
	m->first |= 1ull << best;
	return best;
}

/* put back what begins at a unit; returns how many units it had, 0 if nothing begins there */
unsigned int nswap_chunks_put(struct nswap_chunks *m, unsigned int at)
{
	unsigned int n = 1;

	if (at >= NSWAP_CHUNK_UNITS || !(m->first >> at & 1))
		return 0;
	while (at + n < NSWAP_CHUNK_UNITS && m->used >> (at + n) & 1 &&
	       !(m->first >> (at + n) & 1))
		n++;
	m->used &= ~chunks_mask(at, n);
	m->first &= ~(1ull << at);
	return n;
}

/* the most units that are unused side by side */
unsigned int nswap_chunks_room(const struct nswap_chunks *m)
{
	unsigned int at = 0, len, most = 0;

	for (; (len = chunks_run(m->used, &at)); at += len)
		if (len > most)
			most = len;
	return most;
}
