/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sealed devices: pages leave the owner encrypted and are opened when they are back.
 */
#ifndef NSWAP_CLIENT_SEAL_H
#define NSWAP_CLIENT_SEAL_H

#include "core/request.h"

int nswap_sealer_init(struct nswap_device *dev);
void nswap_sealer_exit(struct nswap_device *dev);
bool nswap_seal_fresh(struct nswap_io *io, unsigned int i);
bool nswap_seal_open(struct nswap_device *dev, u64 slot, struct page *page, unsigned int len,
		     struct nswap_seal *seal, bool keep);
void nswap_seal_broken(struct nswap_device *dev, u64 slot);

#endif
