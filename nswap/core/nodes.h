/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding a node takes a reference; release it with nswap_node_put().
 */
#ifndef NSWAP_NODES_H
#define NSWAP_NODES_H

#include "node.h"

struct net;

struct nswap_node *nswap_node_get(struct net *net);
struct nswap_node *nswap_node_get_number(u32 number);
struct nswap_node *nswap_node_next(struct net *viewer, u32 after);
void nswap_node_put(struct nswap_node *node);
unsigned int nswap_node_netns(const struct nswap_node *node);

/* lifecycle.c */
int nswap_nodes_enter(struct nswap_node *node);
void nswap_nodes_publish(struct nswap_node *node);
void nswap_nodes_leave(struct nswap_node *node, unsigned int mine);
bool nswap_nodes_none(void);

#endif
