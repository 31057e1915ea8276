/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Targets of a mover: peers with room, and owners, as the IPTable knows them.
 */
#ifndef NSWAP_TARGET_H
#define NSWAP_TARGET_H

#include "base/types.h"

/**
 * struct nswap_target - where a batch goes
 * @index: in the IPTable
 * @id: node id
 * @epoch: boot epoch
 * @addr: address
 * @free: pages it has free, by the IPTable
 */
struct nswap_target {
	u16 index;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	u64 free;
};

/**
 * struct nswap_target_rule - who may be chosen
 * @owner: id of the pages' owner, who is no peer to move them to
 * @linked: id of the peer there is a link to, 0 for none
 * @rest: for each IPTable index, jiffies until which nothing is moved there
 * @hand_on: only those that are emptier
 */
struct nswap_target_rule {
	u64 owner;
	u64 linked;
	const unsigned long *rest;
	bool hand_on;
};

bool nswap_target_choose(struct nswap_node *node,
			 const struct nswap_target_rule *rule,
			 struct nswap_target *to, bool *rests);
bool nswap_target_owner(struct nswap_node *node, u64 id,
			struct nswap_target *to);
void nswap_target_took(struct nswap_node *node, const struct nswap_target *to,
		       u64 free, u32 taken);

#endif
