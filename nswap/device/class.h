/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, class and reserve: what lenders do with its pages.
 */
#ifndef NSWAP_DEVICE_CLASS_H
#define NSWAP_DEVICE_CLASS_H

#include "base/types.h"

struct netlink_ext_ack;
struct nswap_device_backing;
struct nswap_device_config;
struct nswap_device_view;

int nswap_class_parse(const struct nswap_device_config *cfg,
		      struct nswap_device_backing *b, struct netlink_ext_ack *ext);
int nswap_class_may_protect(enum nswap_device_class class, bool reserve,
			    enum nswap_protect mode, struct netlink_ext_ack *ext);
int nswap_class_attach(struct nswap_device *dev, struct netlink_ext_ack *ext);
void nswap_class_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
