// SPDX-License-Identifier: GPL-2.0
/*
 * What a server may answer to HOLD_ASK: pages in the order of their names, from where the
 * list before ended.
 *
 * Invariants:
 *  - A comparison ends: each list has a page or is the last, a page is named once, and all
 *    lists together have no more pages than the devices of this node have had slots.
 *  - One list is compared under one RCU lock, so it has no more pages than a server looks
 *    at for it.
 */
#include "hold_list.h"

/**
 * nswap_hold_list_sane() - could a server of this version have sent this list?
 * @at: where the comparison is
 * @most: pages that a peer can hold for this node, in all
 * @r: runs
 * @nr: how many
 * @last: nothing follows
 *
 * Context: any.
 * Return: false if it could not.
 */
bool nswap_hold_list_sane(const struct nswap_hold_at *at, u64 most,
			  const struct nswap_wire_run *r, u32 nr, bool last)
{
	u32 instance = at->instance, pages = 0;
	u64 slot = at->slot;

	if (!nr && !last)
		return false;
	for (; nr--; r++) {
		u64 first = le64_to_cpu(r->slot);
		u32 count = le32_to_cpu(r->count);

		if (r->reserved || !count || count > NSWAP_WIRE_RUN_MAX - pages ||
		    first > U64_MAX - count ||
		    le32_to_cpu(r->instance) < instance ||
		    (le32_to_cpu(r->instance) == instance && first < slot))
			return false;
		instance = le32_to_cpu(r->instance);
		slot = first + count;
		pages += count;
	}
	return at->seen <= most && pages <= most - at->seen;
}
