/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Announcements: one thread per node that announces the node and what it lends, and
 * receives the announcements of others.
 */
#ifndef NSWAP_ANNOUNCE_H
#define NSWAP_ANNOUNCE_H

#include "base/types.h"

struct netlink_ext_ack;

int nswap_announce_start(struct nswap_node *node, struct netlink_ext_ack *ext);
void nswap_announce_stop(struct nswap_node *node);
void nswap_announce_now(struct nswap_node *node);

#endif
