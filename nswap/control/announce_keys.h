/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Announcements between nodes with keys; without keys these functions find nothing wrong.
 */
#ifndef NSWAP_ANNOUNCE_KEYS_H
#define NSWAP_ANNOUNCE_KEYS_H

#include "core/node.h"

void nswap_announce_sign(const struct nswap_node *node, struct nswap_wire_announce *out);
bool nswap_announce_forged(struct nswap_node *node, struct nswap_wire_announce *in, int len);
bool nswap_announce_again(struct nswap_node *node, const struct nswap_announcement *a);

#endif
