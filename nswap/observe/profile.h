/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profile: how many pages are in flight at once.
 */
#ifndef NSWAP_PROFILE_H
#define NSWAP_PROFILE_H

#include "meter.h"

void nswap_profile_init(struct nswap_meter *m);
void nswap_profile_start(struct nswap_node *node);
void nswap_profile_stop(struct nswap_node *node);

#endif
