/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hedge: a page-in that waits for a slow peer is asked of the one with the other copy.
 */
#ifndef NSWAP_HEDGE_H
#define NSWAP_HEDGE_H

#include "core/parity.h"

void nswap_hedge_init(struct nswap_client *cl);
void nswap_hedge_exit(struct nswap_client *cl);
void nswap_hedge_watch(struct nswap_op *op);
void nswap_hedge_learn(struct nswap_op *op);

/* can what it reads be had in another way? */
static inline bool nswap_hedge_can(const struct nswap_io *io)
{
	return READ_ONCE(io->dev->mirror) || nswap_is_cells(io->dev);
}

/* a LOAD is about to be given to a connection; process, page-in path; does not sleep */
static inline void nswap_hedge_begin(struct nswap_op *op)
{
	if (nswap_hedge_can(op->io))
		nswap_hedge_watch(op);
}

/* it was answered; likewise */
static inline void nswap_hedge_answered(struct nswap_op *op)
{
	if (nswap_hedge_can(op->io))
		nswap_hedge_learn(op);
}

#endif
