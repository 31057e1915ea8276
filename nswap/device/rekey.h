/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, change of its key.
 */
#ifndef NSWAP_REKEY_H
#define NSWAP_REKEY_H

struct netlink_ext_ack;
struct nswap_device_view;
struct nswap_node;

int nswap_device_rekey(struct nswap_node *node, const char *name,
		       struct nswap_device_view *v, struct netlink_ext_ack *ext);

#endif
