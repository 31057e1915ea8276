/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device, parity: the cells behind a device.
 */
#ifndef NSWAP_DEVICE_PARITY_H
#define NSWAP_DEVICE_PARITY_H

#include "core/parity.h"

struct nswap_device_view;

#define NSWAP_ROWS_AT_ONCE	64	/* that are looked at without a pause */

int nswap_parity_init(struct nswap_device *dev, struct nswap_group_shape shape);
void nswap_parity_start(struct nswap_device *dev);
void nswap_parity_hide(struct nswap_device *dev);
void nswap_parity_stop(struct nswap_device *dev);
void nswap_parity_exit(struct nswap_device *dev);
u32 nswap_parity_rows(const struct nswap_parity *p, u32 from, u32 nr, u64 *exposed,
		      u64 *lost);
void nswap_parity_look(struct nswap_device *dev, struct nswap_device_view *v);

#endif
