/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals of a node: what STAT tells others of it.
 */
#ifndef NSWAP_TOTALS_H
#define NSWAP_TOTALS_H

#include "wire.h"

/**
 * enum nswap_total - the totals in their order on the wire; new ones come last
 * @NSWAP_TOTAL_LENT: pages lent now
 * @NSWAP_TOTAL_HELD: pages of RAM held for others
 * @NSWAP_TOTAL_FREE: pages lent, neither held nor granted
 * @NSWAP_TOTAL_OWNERS: other nodes with a page here, or a session
 * @NSWAP_TOTAL_DEVICES: its devices
 * @NSWAP_TOTAL_SIZE: their pages
 * @NSWAP_TOTAL_REMOTE: own pages at peers
 * @NSWAP_TOTAL_FLASH: own pages on flash
 * @NSWAP_TOTAL_HOME: own pages at home
 * @NSWAP_TOTAL_EXPOSED: own pages that the death of a peer would take
 * @NSWAP_TOTAL_LOST: own pages on peers that are gone
 * @NSWAP_TOTAL_OUT: own pages stored, since the node came up
 * @NSWAP_TOTAL_IN: own pages read back, likewise
 * @NSWAP_TOTAL_NR: number of totals
 */
enum nswap_total {
	NSWAP_TOTAL_LENT,
	NSWAP_TOTAL_HELD,
	NSWAP_TOTAL_FREE,
	NSWAP_TOTAL_OWNERS,
	NSWAP_TOTAL_DEVICES,
	NSWAP_TOTAL_SIZE,
	NSWAP_TOTAL_REMOTE,
	NSWAP_TOTAL_FLASH,
	NSWAP_TOTAL_HOME,
	NSWAP_TOTAL_EXPOSED,
	NSWAP_TOTAL_LOST,
	NSWAP_TOTAL_OUT,
	NSWAP_TOTAL_IN,
	NSWAP_TOTAL_NR,
};

static_assert(NSWAP_TOTAL_NR <= NSWAP_WIRE_TOTALS);

/**
 * struct nswap_totals - totals of one node
 * @software: version of its module
 * @nr: how many it has told; the rest of @value is 0
 * @value: by enum nswap_total
 */
struct nswap_totals {
	char software[16];
	u32 nr;
	u64 value[NSWAP_TOTAL_NR];
};

u32 nswap_totals_put(struct nswap_wire_stat *w, const struct nswap_totals *t);
int nswap_totals_get(const struct nswap_wire_stat *w, u32 nr, struct nswap_totals *t);

#endif
