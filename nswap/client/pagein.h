/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-in.
 */
#ifndef NSWAP_PAGEIN_H
#define NSWAP_PAGEIN_H

#include "core/request.h"

void nswap_client_read(struct nswap_io *io);
unsigned int nswap_client_from_peers(struct nswap_io *io, unsigned int first);
void nswap_client_reload(struct nswap_peer *peer, struct nswap_msg *m);
bool nswap_client_load_waited(struct nswap_msg *m, unsigned int ms);
void nswap_client_load_failed(struct nswap_msg *m);

#endif
