/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals of a node: adding them up.
 */
#ifndef NSWAP_DEVICE_TOTALS_H
#define NSWAP_DEVICE_TOTALS_H

struct nswap_node;
struct nswap_totals;

void nswap_totals_look(struct nswap_node *node, struct nswap_totals *t);

#endif
