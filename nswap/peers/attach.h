/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching devices to peers: telling them of what class they are, and what to reserve.
 */
#ifndef NSWAP_ATTACH_H
#define NSWAP_ATTACH_H

#include <linux/types.h>

struct nswap_device;
struct nswap_peer;

int nswap_attach_init(struct nswap_peer *peer);
void nswap_attach_session(struct nswap_peer *peer);
void nswap_attach_tick(struct nswap_peer *peer);
u32 nswap_attach_device(struct nswap_device *dev);
u64 nswap_attach_reserved(struct nswap_device *dev);

#endif
