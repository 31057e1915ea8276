/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node up, node down. Each takes @ext for one clear sentence when it refuses.
 */
#ifndef NSWAP_LIFECYCLE_H
#define NSWAP_LIFECYCLE_H

#include "core/node.h"

struct net;
struct netlink_ext_ack;

/**
 * struct nswap_node_config - parameters of "up"
 * @addr: address to listen on and to announce; port 0 means NSWAP_PORT
 * @lend_pages: RAM offered to peers
 * @conns: connections per session, 2 to NSWAP_MAX_CONNS, 0 for the default
 * @broadcast: announce to the subnet, not just to listed peers
 * @peers: listed peers
 * @nr_peers: number of listed peers
 * @size: name of the size policy, NULL for the default
 * @keys: its keys, NULL if it is open to everybody
 * @knobs: initial values; nswap_knobs_default() has those that are not asked for
 */
struct nswap_node_config {
	struct nswap_addr addr;
	u64 lend_pages;
	u32 conns;
	bool broadcast;
	struct nswap_addr *peers;
	unsigned int nr_peers;
	const char *size;
	const struct nswap_identity_config *keys;
	struct nswap_knobs knobs;
};

int nswap_node_up(struct net *net, const struct nswap_node_config *cfg,
		  struct netlink_ext_ack *ext);
int nswap_node_down(struct nswap_node *node, bool now, bool reboots,
		    struct netlink_ext_ack *ext);
int nswap_node_lend(struct nswap_node *node, u64 pages,
		    struct netlink_ext_ack *ext);
void nswap_node_exit(void);

#endif
