/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removing a flash device from a device that is in use.
 */
#ifndef NSWAP_EVACUATE_H
#define NSWAP_EVACUATE_H

#include <linux/types.h>

struct netlink_ext_ack;
struct nswap_device;
struct nswap_node;

int nswap_empty_flash(struct nswap_node *node, const char *name,
		      const char *flash, u64 *left, struct netlink_ext_ack *ext);
void nswap_empty_flash_exit(struct nswap_device *dev);

#endif
