/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exposed pages: copying home what only peers hold.
 */
#ifndef NSWAP_HOME_FILL_H
#define NSWAP_HOME_FILL_H

struct nswap_device;

int nswap_home_fill_init(struct nswap_device *dev);
void nswap_home_fill_start(struct nswap_device *dev);
void nswap_home_fill_stop(struct nswap_device *dev);
void nswap_home_fill_exit(struct nswap_device *dev);

#endif
