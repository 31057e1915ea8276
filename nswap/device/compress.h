/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, compression: how its pages are compressed, as users see it.
 */
#ifndef NSWAP_DEVICE_COMPRESS_H
#define NSWAP_DEVICE_COMPRESS_H

#include "base/types.h"

struct netlink_ext_ack;
struct nswap_device_view;

int nswap_compress_parse(const char *text, enum nswap_compress *kind,
			 struct netlink_ext_ack *ext);
void nswap_compress_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
