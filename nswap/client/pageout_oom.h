/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-outs under way, and the OOM killer.
 */
#ifndef NSWAP_PAGEOUT_OOM_H
#define NSWAP_PAGEOUT_OOM_H

#include "core/device.h"

void nswap_pageout_oom_watch(struct nswap_device *dev);
void nswap_pageout_oom_unwatch(struct nswap_device *dev);
int nswap_pageout_oom_init(void);
void nswap_pageout_oom_exit(void);

#endif
