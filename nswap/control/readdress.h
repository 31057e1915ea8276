/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A node whose own address changes while it is up.
 */
#ifndef NSWAP_READDRESS_H
#define NSWAP_READDRESS_H

#include "core/node.h"

bool nswap_readdress(struct nswap_node *node);

#endif
