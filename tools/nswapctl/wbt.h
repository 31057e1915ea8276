/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write-back throttling of a device, which nswap does not want.
 */
#ifndef NSWAPCTL_WBT_H
#define NSWAPCTL_WBT_H

unsigned long long wbt_target(const char *device);
void wbt_off(const char *device);

#endif
