/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, parity: the cells behind a device.
 */
#ifndef NSWAP_DEVICE_PARITY_H
#define NSWAP_DEVICE_PARITY_H

#include "core/parity.h"

struct nswap_device_view;

int nswap_parity_init(struct nswap_device *dev, struct nswap_group_shape shape);
void nswap_parity_start(struct nswap_device *dev);
void nswap_parity_hide(struct nswap_device *dev);
void nswap_parity_stop(struct nswap_device *dev);
void nswap_parity_exit(struct nswap_device *dev);
void nswap_parity_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
