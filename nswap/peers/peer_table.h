/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table of a node's peers.
 */
#ifndef NSWAP_PEER_TABLE_H
#define NSWAP_PEER_TABLE_H

#include "peer.h"

void nswap_peer_heard(struct nswap_node *node,
		      const struct nswap_ipt_heard *heard,
		      const struct nswap_addr *from);
bool nswap_peer_doubt(struct nswap_node *node,
		      const struct nswap_announcement *a);
int nswap_peer_add(struct nswap_node *node, u16 index);
int nswap_peer_greeted(struct nswap_peer *peer, u64 id, u64 epoch);
void nswap_peers_start(struct nswap_node *node);
void nswap_peers_rebind(struct nswap_node *node);
void nswap_peers_stop(struct nswap_node *node);
void nswap_peers_sweep(struct nswap_node *node,
		       bool (*serves)(struct nswap_node *node, u64 id));

#endif
