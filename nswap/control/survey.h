/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Survey: the totals of this node and of all its peers.
 */
#ifndef NSWAP_SURVEY_H
#define NSWAP_SURVEY_H

#include "base/views.h"
#include "pure/totals.h"

struct nswap_node;

/**
 * struct nswap_survey_view - what was found out about one node
 * @place: 0 for the node itself, then by peer
 * @peer: the peer now
 * @why: it has told no totals; "" if it has
 * @totals: what it has told
 */
struct nswap_survey_view {
	u32 place;
	struct nswap_peer_view peer;
	char why[64];
	struct nswap_totals totals;
};

int nswap_survey_make(struct nswap_node *node);
bool nswap_survey_next(struct nswap_node *node, u32 from, struct nswap_survey_view *v);
void nswap_survey_free(struct nswap_node *node);

#endif
