/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keys of a sealed device.
 */
#ifndef NSWAP_CLIENT_SEAL_KEY_H
#define NSWAP_CLIENT_SEAL_KEY_H

#include "core/device.h"

int nswap_seal_key_begin(struct nswap_device *dev);
bool nswap_seal_key_changing(const struct nswap_device *dev);
bool nswap_seal_key_drained(struct nswap_device *dev);
bool nswap_seal_key_old(struct nswap_device *dev, u64 slot);
u64 nswap_seal_key_left(struct nswap_device *dev);
void nswap_seal_key_destroy(struct nswap_device *dev);

#endif
