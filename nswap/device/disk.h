/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The disk of a device, as the block layer sees it.
 */
#ifndef NSWAP_DEVICE_DISK_H
#define NSWAP_DEVICE_DISK_H

#include "core/device.h"

int nswap_device_init(void);
void nswap_device_exit(void);
int nswap_device_make_disk(struct nswap_device *dev);
void nswap_device_end_disk(struct nswap_device *dev);
bool nswap_device_is_one(const struct block_device *bdev);

#endif
