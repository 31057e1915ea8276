/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placement: the snapshot of the candidates that one decision is made on.
 */
#ifndef NSWAP_PLACE_SNAPSHOT_H
#define NSWAP_PLACE_SNAPSHOT_H

#include <linux/prandom.h>

#include "candidate.h"
#include "policy/policy.h"

struct nswap_node;
struct nswap_place_avoid;

/**
 * struct nswap_place_snapshot - what one decision sees
 * @nr: candidates that may be chosen
 * @random: source of its random number
 * @peer: them, as policies see them, in the order of their index
 * @cand: them
 */
struct nswap_place_snapshot {
	unsigned int nr;
	struct rnd_state random;
	struct nswap_place_peer peer[NSWAP_MAX_PEERS];
	struct nswap_cand *cand[NSWAP_MAX_PEERS];
};

int nswap_place_snapshot_init(void);
void nswap_place_snapshot_exit(void);
bool nswap_cand_busy(const struct nswap_node *node, const struct nswap_cand *c,
		     const struct nswap_tally *t);
bool nswap_cand_look(const struct nswap_node *node, const struct nswap_cand *c,
		     struct nswap_place_peer *v);
struct nswap_place_snapshot *nswap_place_snapshot(struct nswap_node *node,
						  const struct nswap_place_avoid *avoid);
void nswap_place_snapshot_end(void);

#endif
