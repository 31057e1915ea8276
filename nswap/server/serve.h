/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serving the messages of an owner.
 */
#ifndef NSWAP_SERVE_H
#define NSWAP_SERVE_H

#include "server.h"

int nswap_serve(struct nswap_srv_conn *conn);
void nswap_serve_head(struct nswap_srv_conn *conn, u8 type, u32 nr, u32 bytes);
int nswap_serve_answer(struct nswap_srv_conn *conn, void *payload, u32 bytes);
int nswap_serve_pages(struct nswap_srv_conn *conn, struct list_head *entries);

#endif
