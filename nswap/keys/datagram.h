/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags of announcements: datagrams to all members at once.
 */
#ifndef NSWAP_DATAGRAM_H
#define NSWAP_DATAGRAM_H

#include "identity.h"
#include "pure/wire.h"

void nswap_datagram_put(const struct nswap_identity *id, struct nswap_wire_hdr *h,
			size_t bytes);
int nswap_datagram_take(const struct nswap_identity *id, struct nswap_wire_hdr *h,
			size_t bytes);

#endif
