/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of compressed devices on the wire, without the zeros at their ends.
 */
#ifndef NSWAP_CLIENT_SHORT_H
#define NSWAP_CLIENT_SHORT_H

#include "core/parity.h"
#include "wrap.h"

/* may a message of this device to or from a peer with these features have short pages? */
static inline bool nswap_short_may(const struct nswap_io *io, u64 features)
{
	return nswap_compresses(nswap_visible_device(io->dev)) && features & NSWAP_HAS_SHORT;
}

bool nswap_short_store(struct nswap_op *op);
void nswap_short_gens(struct nswap_op *op);
int nswap_short_recv(struct nswap_op *op, struct nswap_conn *c, unsigned long *held);

#endif
