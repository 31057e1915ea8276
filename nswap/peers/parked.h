/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parked page-ins of a peer, which wait for a session.
 */
#ifndef NSWAP_PARKED_H
#define NSWAP_PARKED_H

#include "peer.h"

int nswap_parked_add(struct nswap_peer *peer, struct nswap_msg *m);
void nswap_parked_resend(struct nswap_peer *peer);
void nswap_parked_stop(struct nswap_peer *peer);
void nswap_parked_lose(struct list_head *parked);

#endif
