/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Announcements: whom they are for, and whose are believed.
 */
#ifndef NSWAP_ANNOUNCE_KNOWN_H
#define NSWAP_ANNOUNCE_KNOWN_H

#include "core/node.h"

unsigned int nswap_announce_known(struct nswap_node *node, unsigned int *index, bool all,
				  struct nswap_addr *to, bool *ask);
bool nswap_announce_believed(struct nswap_node *node, struct nswap_announcement *heard,
			     struct nswap_addr *from, int iface);

#endif
