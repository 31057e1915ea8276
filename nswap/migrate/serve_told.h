/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serving what a node is told of its own pages.
 */
#ifndef NSWAP_SERVE_TOLD_H
#define NSWAP_SERVE_TOLD_H

#include "server/server.h"

int nswap_serve_told(struct nswap_srv_conn *conn);

#endif
