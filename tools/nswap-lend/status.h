/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a lender tells of itself.
 */
#ifndef LEND_STATUS_H
#define LEND_STATUS_H

#include "base/stats.h"
#include "base/views.h"
#include "core/node.h"

/**
 * struct lend_status - what is told first; then so many struct nswap_owner_view
 * @version: of the program, both ends must be of the same one
 * @id: of the node
 * @epoch: likewise
 * @addr: likewise
 * @keys: it has
 * @members: nodes whose keys it believes, 0 for all that know the secret
 * @draining: it was asked to end
 * @view: pages
 * @counts: counters
 * @owners: how many follow
 */
struct lend_status {
	char version[16];
	u64 id;
	u64 epoch;
	struct nswap_addr addr;
	bool keys;
	u32 members;
	bool draining;
	struct nswap_cache_view view;
	struct nswap_stats counts;
	u32 owners;
};

/* for Prometheus, to standard output; @s: NULL if no lender runs */
void lend_metrics(const struct lend_status *s, const struct nswap_owner_view *o, u32 nr);

#endif
