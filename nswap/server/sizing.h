/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizing: asks the size policy how much to lend.
 */
#ifndef NSWAP_SIZING_H
#define NSWAP_SIZING_H

#include <linux/types.h>

struct nswap_node;

int nswap_sizing_start(struct nswap_node *node);
void nswap_sizing_stop(struct nswap_node *node);
void nswap_sizing_now(struct nswap_node *node);
void nswap_sizing_owner_away(struct nswap_node *node, u32 seconds);
void nswap_sizing_soon(struct nswap_node *node);

#endif
