/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves out: pages at home go to peers that have RAM to spare.
 */
#ifndef NSWAP_HOME_OUT_H
#define NSWAP_HOME_OUT_H

#include <linux/types.h>

struct nswap_device;
struct nswap_home_out;

struct nswap_home_out *nswap_home_out_make(struct nswap_device *dev);
void nswap_home_out_end(struct nswap_device *dev);
bool nswap_home_out_kick(struct nswap_device *dev);
bool nswap_home_out_ready(struct nswap_device *dev);
unsigned int nswap_home_out_bring(struct nswap_device *dev, u64 first,
				  unsigned long slots, u8 tag);

#endif
