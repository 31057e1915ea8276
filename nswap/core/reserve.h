/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reserve of a device: pages that peers set aside for it alone.
 */
#ifndef NSWAP_RESERVE_H
#define NSWAP_RESERVE_H

#include "base/types.h"

struct nswap_device;

int nswap_reserve_init(struct nswap_device *dev, u32 pages);
void nswap_reserve_exit(struct nswap_device *dev);
u32 nswap_reserve_wanted(const struct nswap_device *dev);
u32 nswap_reserve_asked(const struct nswap_device *dev, u16 peer);
u32 nswap_reserve_promised(const struct nswap_device *dev, u16 peer);
void nswap_reserve_ask(struct nswap_device *dev, u16 peer, u32 pages);
void nswap_reserve_told(struct nswap_device *dev, u16 peer, u32 pages);
void nswap_reserve_refused(struct nswap_device *dev, u16 peer);
u32 nswap_reserve_left(const struct nswap_device *dev, u16 peer);
void nswap_reserve_named(struct nswap_device *dev, u16 was, u16 now);

#endif
