/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Server role: connections made before they are needed.
 */
#ifndef NSWAP_SPARE_H
#define NSWAP_SPARE_H

#include "server.h"

struct nswap_spares *nswap_spares_start(struct nswap_node *node,
					int (*serve)(void *conn));
void nswap_spares_stop(struct nswap_spares *s);
void nswap_spares_fill(struct nswap_spares *s);
struct nswap_srv_conn *nswap_spares_take(struct nswap_spares *s);
void nswap_spares_give(struct nswap_spares *s, struct nswap_srv_conn *conn);
void nswap_spares_end(struct nswap_srv_conn *conn);

#endif
