/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversion between struct nswap_addr, which the wire, the tables and netlink
 * carry, and the addresses of the socket layer.
 */
#ifndef NSWAP_SOCKADDR_H
#define NSWAP_SOCKADDR_H

#include <linux/socket.h>

#include "base/types.h"

int nswap_to_sockaddr(const struct nswap_addr *a, struct sockaddr_storage *ss);
int nswap_from_sockaddr(const struct sockaddr_storage *ss,
			struct nswap_addr *a);
bool nswap_addr_link_local(const struct nswap_addr *a);
bool nswap_addr_unusable(const struct nswap_addr *a);

#endif
