/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mover: moves pages held for others to other peers when this node lends less.
 */
#ifndef NSWAP_MOVER_H
#define NSWAP_MOVER_H

struct nswap_node;

int nswap_mover_start(struct nswap_node *node);
void nswap_mover_stop(struct nswap_node *node);
void nswap_mover_free(struct nswap_node *node);
void nswap_mover_kick(struct nswap_node *node);

#endif
