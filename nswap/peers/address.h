/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a peer may be reached: the address it had, and where it was heard since.
 */
#ifndef NSWAP_ADDRESS_H
#define NSWAP_ADDRESS_H

#include "peer.h"

/* heard of within this: three announcements */
#define NSWAP_LATELY_MS	3000

void nswap_address_set(struct nswap_peer *peer, const struct nswap_addr *addr);
void nswap_address_heard(struct nswap_peer *peer, const struct nswap_addr *addr,
			 bool own_epoch);
bool nswap_address_is(struct nswap_peer *peer, const struct nswap_addr *addr);
bool nswap_address_hinted(struct nswap_peer *peer);
bool nswap_address_lives_elsewhere(struct nswap_peer *peer,
				   const struct nswap_addr *here);
void nswap_address_next(struct nswap_peer *peer);
void nswap_address_reached(struct nswap_peer *peer);

#endif
