/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What policies that place by the pages under way to a peer have in common.
 */
#ifndef NSWAP_POLICY_PLACE_QUEUE_H
#define NSWAP_POLICY_PLACE_QUEUE_H

#include "policy.h"

/* is @a's queue shorter, or with an equal one @a the peer that has more room? */
static inline bool nswap_queue_shorter(const struct nswap_place_peer *a,
				       const struct nswap_place_peer *b)
{
	if (a->inflight != b->inflight)
		return a->inflight < b->inflight;
	return a->free > b->free;
}

/* a request more under way is no reason to leave a copy that has to be freed */
static inline bool nswap_queue_as_good(const struct nswap_place_peer *old,
				       const struct nswap_place_peer *picked,
				       unsigned int pages)
{
	return old->inflight <= picked->inflight + NSWAP_REQ_SLOTS;
}

#endif
