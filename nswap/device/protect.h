/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, protection: what survives the death of a peer.
 */
#ifndef NSWAP_DEVICE_PROTECT_H
#define NSWAP_DEVICE_PROTECT_H

#include "base/types.h"

struct netlink_ext_ack;
struct nswap_device;
struct nswap_device_view;

int nswap_protect_parse(const char *name, bool home, enum nswap_protect *mode,
			struct nswap_group_shape *shape, struct netlink_ext_ack *ext);
int nswap_protect_set(struct nswap_device *dev, enum nswap_protect mode,
		      struct nswap_group_shape shape);
void nswap_protect_start(struct nswap_device *dev);
void nswap_protect_stop(struct nswap_device *dev);
void nswap_protect_exit(struct nswap_device *dev);
bool nswap_protect_changing(struct nswap_device *dev);
u64 nswap_protect_exposed(struct nswap_device *dev, u64 *from);
void nswap_protect_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
