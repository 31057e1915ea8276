/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices of a node: naming and finding one, and logging its errors.
 */
#ifndef NSWAP_DEVICES_H
#define NSWAP_DEVICES_H

#include "device.h"

struct nswap_device *nswap_device_find(struct nswap_node *node, u32 instance);
struct nswap_device *nswap_device_from(struct nswap_node *node, u32 instance);
void nswap_device_name(struct nswap_device *dev);
struct nswap_device *nswap_device_named(struct nswap_node *node,
					const char *name);
bool nswap_device_any_sealed(struct nswap_node *node);
void nswap_device_complain(struct nswap_device *dev,
			   const struct nswap_home_io *h, const char *then);

#endif
