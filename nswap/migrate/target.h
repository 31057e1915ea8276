/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Targets of a mover: peers with room, and owners, as the IPTable knows them.
 */
#ifndef NSWAP_TARGET_H
#define NSWAP_TARGET_H

#include "base/types.h"

/**
 * struct nswap_target - destination of a batch
 * @index: in the IPTable
 * @id: node id
 * @epoch: boot epoch
 * @addr: address
 * @free: free pages it announced
 */
struct nswap_target {
	u16 index;
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	u64 free;
};

/**
 * struct nswap_target_rule - which peers may be chosen
 * @owner: id of the pages' owner, which is never chosen
 * @linked: id of the connected peer, 0 for none
 * @rest: per IPTable index, jiffies until which nothing is moved there
 * @full: per IPTable index, a bit: it has no room for this owner
 * @unmet: likewise: this owner is in backoff with it
 * @critical: those without room too, last: they give up others' pages for critical ones
 * @hand_on: only those that are emptier (rebalancing)
 */
struct nswap_target_rule {
	u64 owner;
	u64 linked;
	const unsigned long *rest;
	const unsigned long *full;
	const unsigned long *unmet;
	bool critical;
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
