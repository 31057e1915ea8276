/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session: all connections of the client to one peer.
 */
#ifndef NSWAP_SESSION_H
#define NSWAP_SESSION_H

#include "peer.h"

int nswap_session_start(struct nswap_peer *peer);
void nswap_session_end(struct nswap_peer *peer);
void nswap_session_stop(struct nswap_peer *peer);
void nswap_session_break(struct nswap_peer *peer);
struct nswap_conn *nswap_session_load_conn(struct nswap_peer *peer);
struct nswap_conn *nswap_session_store_conn(struct nswap_peer *peer);
int nswap_session_send(struct nswap_conn *c, struct nswap_msg *m, bool more);
void nswap_session_push(struct nswap_node *node);

#endif
