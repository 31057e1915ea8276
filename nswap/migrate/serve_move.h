/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serving the messages of a move.
 */
#ifndef NSWAP_SERVE_MOVE_H
#define NSWAP_SERVE_MOVE_H

#include "server/server.h"

int nswap_serve_moves(struct nswap_srv_conn *conn);
int nswap_move_names(struct nswap_srv_conn *conn, const __le16 **len);
void nswap_move_answer_all(struct nswap_srv_conn *conn, u32 nr, u16 status);

#endif
