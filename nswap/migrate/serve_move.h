/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serving the messages of a move.
 */
#ifndef NSWAP_SERVE_MOVE_H
#define NSWAP_SERVE_MOVE_H

#include "server/server.h"

int nswap_serve_moves(struct nswap_srv_conn *conn);

#endif
