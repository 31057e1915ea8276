/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sealed devices: pages leave the owner encrypted and are opened when they are back.
 */
#ifndef NSWAP_CLIENT_SEAL_H
#define NSWAP_CLIENT_SEAL_H

#include "core/request.h"

struct nswap_sealer;

int nswap_sealer_init(struct nswap_device *dev);
void nswap_sealer_exit(struct nswap_device *dev);
bool nswap_seal_ready(struct nswap_io *io);
bool nswap_seal_fresh(struct nswap_io *io, unsigned int i);
bool nswap_seal_again(struct nswap_io *io, unsigned int i);
void nswap_seal_keep(struct nswap_io *io, unsigned int i);
void nswap_seal_slot(struct nswap_io *io, unsigned int i);
void nswap_seal_sent(struct nswap_device *dev, struct nswap_io *io);
void nswap_seal_broken(struct nswap_device *dev, u64 slot, const char *where);
void nswap_seal_broken_at(struct nswap_device *dev, u64 slot,
			  const struct nswap_slot *at);
bool nswap_seal_open(struct nswap_device *dev, u64 slot, struct page *page, bool keep);

#endif
