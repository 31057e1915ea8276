/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, backing: the home and flash of a device to be added.
 */
#ifndef NSWAP_DEVICE_CONFIG_H
#define NSWAP_DEVICE_CONFIG_H

#include <linux/types.h>

#include "base/types.h"

struct netlink_ext_ack;
struct nswap_device_config;
struct nswap_flash;
struct nswap_home;

/**
 * struct nswap_device_backing - size and backing of a device to be added
 * @bytes: its size
 * @home: its home, open; NULL for none
 * @flash: its flash, open; NULL for none
 * @protect: what protects it
 * @class: what lenders do with its pages
 * @reserve: pages that peers are to keep for it
 * @seal: its pages leave the node sealed
 * @compress: how they are compressed before
 * @cache: bytes of its write cache, 0 for none
 * @early_ack: page-outs end when their pages are there
 * @shape: with parity, what its groups have
 */
struct nswap_device_backing {
	u64 bytes;
	struct nswap_home *home;
	struct nswap_flash *flash;
	enum nswap_protect protect;
	enum nswap_device_class class;
	u32 reserve;
	bool seal;
	enum nswap_compress compress;
	u64 cache;
	bool early_ack;
	struct nswap_group_shape shape;
};

int nswap_device_open_backing(const struct nswap_device_config *cfg,
			      struct nswap_device_backing *b,
			      struct netlink_ext_ack *ext);
void nswap_device_close_backing(struct nswap_device_backing *b);

#endif
