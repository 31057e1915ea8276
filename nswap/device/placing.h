/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, placing: the ioctl by which a program says where pages are to be.
 */
#ifndef NSWAP_DEVICE_PLACING_H
#define NSWAP_DEVICE_PLACING_H

#include <linux/blkdev.h>

int nswap_device_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd,
		       unsigned long arg);

#endif
