/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing the key of a sealed device: all its pages are read and written again.
 */
#ifndef NSWAP_KEY_CHANGE_H
#define NSWAP_KEY_CHANGE_H

#include "core/device.h"

struct nswap_device_view;

int nswap_key_change_start(struct nswap_device *dev);
void nswap_key_change_stop(struct nswap_device *dev);
void nswap_key_change_exit(struct nswap_device *dev);
void nswap_key_change_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
