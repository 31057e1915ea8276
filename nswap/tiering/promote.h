/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves out: pages at home go to peers that have RAM to spare.
 */
#ifndef NSWAP_PROMOTE_H
#define NSWAP_PROMOTE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct nswap_device;
struct nswap_promote;

struct nswap_promote *nswap_promote_make(struct nswap_device *dev);
void nswap_promote_end(struct nswap_device *dev);
bool nswap_promote_kick(struct nswap_device *dev);
void nswap_promote_pause(ktime_t began, u64 least_us);
bool nswap_promote_ready(struct nswap_device *dev);
unsigned long nswap_promote_move(struct nswap_device *dev, u64 first,
				 unsigned long slots, u8 tag);
unsigned int nswap_promote_bring(struct nswap_device *dev, u64 first,
				 unsigned long slots, u8 tag);

#endif
