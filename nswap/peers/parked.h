/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parked page-ins of a peer, and how many may be under way to it.
 */
#ifndef NSWAP_PARKED_H
#define NSWAP_PARKED_H

#include <linux/bio.h>

#include "peer.h"

struct nswap_device;

/* page-ins that are always admitted at a peer that answers in its usual time */
#define NSWAP_LOADS_FEW	32

int nswap_parked_add(struct nswap_device *dev, struct nswap_peer *peer,
		     struct bio *bio, unsigned long since);
void nswap_parked_mark(struct bio *bio, unsigned long since);
unsigned long nswap_parked_unmark(struct bio *bio);
void nswap_parked_take(struct nswap_peer *peer, unsigned int most,
		       struct bio_list *bios);
void nswap_parked_overdue(struct nswap_peer *peer, unsigned int ms);
void nswap_parked_stop(struct nswap_peer *peer);
void nswap_parked_review(struct nswap_node *node);
void nswap_parked_forget(struct nswap_device *dev);
void nswap_parked_lose(struct list_head *lost);
unsigned long nswap_peer_patience(const struct nswap_peer *peer);
void nswap_peer_answered(struct nswap_peer *peer, u8 conn, unsigned long since);
void nswap_peer_answered_late(struct nswap_peer *peer, u8 conn);
void nswap_peer_unanswered(struct nswap_peer *peer, u8 conn, unsigned long since);
unsigned int nswap_peer_room(const struct nswap_peer *peer);

/* was it parked? any context, on the page-in path */
static inline bool nswap_parked_marked(const struct bio *bio)
{
	return bio->bi_cookie && bio->bi_cookie != BLK_QC_T_NONE;
}

/* do all connections for page-ins wait for much longer than usual? */
static inline bool nswap_peer_late(const struct nswap_peer *peer)
{
	return READ_ONCE(peer->late) == BIT(peer->nr_conns - 1) - 1;
}

#endif
