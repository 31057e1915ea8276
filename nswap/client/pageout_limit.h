/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many pages of a device are on their way out, and the tasks that wait for fewer.
 */
#ifndef NSWAP_PAGEOUT_LIMIT_H
#define NSWAP_PAGEOUT_LIMIT_H

#include "core/device.h"
#include "core/request.h"

void nswap_pageout_limit_init(struct nswap_device *dev);
void nswap_pageout_limit_take(struct nswap_io *io);
void nswap_pageout_limit_give(struct nswap_io *io);
void nswap_pageout_limit_wait(struct nswap_device *dev);
void nswap_pageout_limit_end(struct nswap_device *dev);

#endif
