/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client role: starts with its node.
 */
#ifndef NSWAP_CLIENT_START_H
#define NSWAP_CLIENT_START_H

struct nswap_node;

int nswap_client_start(struct nswap_node *node);
void nswap_client_stop(struct nswap_node *node);

#endif
