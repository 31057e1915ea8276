/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Server role: connections made before they are needed.
 */
#ifndef NSWAP_CONN_POOL_H
#define NSWAP_CONN_POOL_H

#include "server.h"

struct nswap_spares *nswap_conn_pool_start(struct nswap_node *node,
					   int (*serve)(void *conn));
void nswap_conn_pool_stop(struct nswap_spares *s);
void nswap_conn_pool_fill(struct nswap_spares *s);
struct nswap_srv_conn *nswap_conn_pool_take(struct nswap_spares *s);
void nswap_conn_pool_give(struct nswap_spares *s, struct nswap_srv_conn *conn);
void nswap_conn_pool_end(struct nswap_srv_conn *conn);

#endif
