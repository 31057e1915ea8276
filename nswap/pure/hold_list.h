/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a server may answer to HOLD_ASK.
 */
#ifndef NSWAP_HOLD_LIST_H
#define NSWAP_HOLD_LIST_H

#include "wire.h"

/**
 * struct nswap_hold_at - how far a comparison with what a peer holds has come
 * @instance: continue at this device instance
 * @slot: and this slot
 * @seen: pages compared before
 */
struct nswap_hold_at {
	u32 instance;
	u64 slot;
	u64 seen;
};

bool nswap_hold_list_sane(const struct nswap_hold_at *at, u64 most,
			  const struct nswap_wire_run *r, u32 nr, bool last);

#endif
