/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices of a node: naming and finding one, and logging its errors.
 */
#ifndef NSWAP_DEVICES_H
#define NSWAP_DEVICES_H

#include "device.h"

/**
 * struct nswap_device_part - where a walk of all devices goes on that is made in parts, each in
 *	a section of RCU of its own; zeros to begin with
 * @instance: of the device, or the next one
 * @at: first slot, or row, of the next part
 */
struct nswap_device_part {
	u32 instance;
	u64 at;
};

struct nswap_device *nswap_device_find(struct nswap_node *node, u32 instance);
struct nswap_device *nswap_device_part(struct nswap_node *node, struct nswap_device_part *part);
void nswap_device_part_over(struct nswap_device_part *part, u64 end);
void nswap_device_name(struct nswap_device *dev);
struct nswap_device *nswap_device_named(struct nswap_node *node,
					const char *name);
bool nswap_device_any_sealed(struct nswap_node *node);
void nswap_device_complain(struct nswap_device *dev,
			   const struct nswap_home_io *h, const char *then);

#endif
