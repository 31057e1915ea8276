/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exposed pages of a mirrored device get their second copy.
 */
#ifndef NSWAP_MIRROR_FILL_H
#define NSWAP_MIRROR_FILL_H

#include "base/types.h"

int nswap_mirror_fill_init(struct nswap_device *dev);
void nswap_mirror_fill_exit(struct nswap_device *dev);
void nswap_mirror_fill_start(struct nswap_device *dev);
void nswap_mirror_fill_stop(struct nswap_device *dev);
u64 nswap_mirror_exposed(struct nswap_device *dev, u64 *from);

#endif
