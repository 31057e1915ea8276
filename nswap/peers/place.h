/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placement: candidates, their grants, and the choice.
 */
#ifndef NSWAP_PLACE_H
#define NSWAP_PLACE_H

#include "base/types.h"

struct nswap_peer;

/**
 * enum nswap_place_why - why a candidate is evaluated again
 * @NSWAP_PLACE_CHANGED: its state or its backoff has changed
 * @NSWAP_PLACE_ANNOUNCED: it announced what it lends
 * @NSWAP_PLACE_TICK: time has passed
 */
enum nswap_place_why {
	NSWAP_PLACE_CHANGED,
	NSWAP_PLACE_ANNOUNCED,
	NSWAP_PLACE_TICK,
};

#define NSWAP_PLACE_AVOID	16

/**
 * struct nswap_place_avoid - peers that are not to be chosen
 * @nr: how many
 * @peer: their indices
 * @prefer: this one is chosen if it can be, whatever the policy; 0 for none
 * @old: this one has older copies of the pages and is chosen if it is as good; 0 for none
 * @home: the pages may go home instead
 */
struct nswap_place_avoid {
	u8 nr;
	u16 peer[NSWAP_PLACE_AVOID];
	u16 prefer;
	u16 old;
	bool home;
};

/* is the peer of that index not to be chosen? */
static inline bool nswap_place_avoided(const struct nswap_place_avoid *avoid, u16 index)
{
	unsigned int i;

	for (i = 0; i < avoid->nr; i++)
		if (avoid->peer[i] == index)
			return true;
	return false;
}

/* one more, unless it is there or @index is 0; false if there is no room */
static inline bool nswap_place_avoid_add(struct nswap_place_avoid *avoid, u16 index)
{
	if (!index || nswap_place_avoided(avoid, index))
		return true;
	if (avoid->nr == NSWAP_PLACE_AVOID)
		return false;
	avoid->peer[avoid->nr++] = index;
	return true;
}

void nswap_place_init(struct nswap_node *node);
void nswap_place_add(struct nswap_peer *peer);
void nswap_place_remove(struct nswap_peer *peer);
bool nswap_place_return_expected(struct nswap_node *node);
int nswap_place_take(struct nswap_device *dev, unsigned int pages, u16 avoid,
		     int flash_inflight, u16 *index);
int nswap_place_take_again(struct nswap_device *dev, unsigned int pages, u16 old,
			   int flash_inflight, bool home, u16 *index);
unsigned int nswap_place_take_reserved(struct nswap_device *dev, unsigned int pages,
				       u16 *index);
int nswap_place_take_apart(struct nswap_device *dev, unsigned int pages,
			   const struct nswap_place_avoid *avoid, u16 *index);
unsigned int nswap_place_count(struct nswap_node *node);
bool nswap_place_any(struct nswap_node *node, u16 avoid);
bool nswap_place_third(struct nswap_node *node, u16 a, u16 b);
bool nswap_place_spare(struct nswap_node *node, unsigned int pages);
unsigned int nswap_place_take_spare(struct nswap_device *dev,
				    unsigned int pages, u16 *index);
void nswap_place_give(struct nswap_peer *peer, u32 grants, u64 free);
void nswap_place_share(struct nswap_peer *peer, u32 share);
void nswap_place_answered(struct nswap_peer *peer, u32 pages, u64 began, u32 grants,
			  u64 free);
void nswap_place_missed(struct nswap_peer *peer, u32 pages, u64 began);
void nswap_place_look(struct nswap_peer *peer, enum nswap_place_why why);
void nswap_place_rest(struct nswap_peer *peer);
void nswap_place_unspent(struct nswap_peer *peer, u32 pages);
u32 nswap_place_give_back(struct nswap_peer *peer, u32 keep);
void nswap_place_room(struct nswap_node *node, u64 *lent, u64 *used);
u64 nswap_place_fastest(struct nswap_node *node);
bool nswap_place_wants(const struct nswap_peer *peer);
void nswap_place_numbers(const struct nswap_peer *peer, u32 *grants, u32 *inflight);

#endif
