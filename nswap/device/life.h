/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding and removing devices; the configuration is in views.h.
 */
#ifndef NSWAP_DEVICE_LIFE_H
#define NSWAP_DEVICE_LIFE_H

#include <linux/types.h>

struct nswap_device;
struct nswap_device_view;

bool nswap_device_any_open(void);
void nswap_device_view(struct nswap_device *dev, struct nswap_device_view *v);

#endif
