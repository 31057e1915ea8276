/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entry of a slot in the mirror's side table: eight bytes, one atomic word.
 *
 *   generation 20 | held 10 | making 10
 *
 * It says something about the slot's page only if it has the generation of the slot's
 * word; and nothing more than the word if it names the same peer.
 */
#ifndef NSWAP_MIRROR_ENTRY_H
#define NSWAP_MIRROR_ENTRY_H

#include "slot_map.h"

/**
 * struct nswap_mirror - one unpacked entry
 * @gen: generation of the page
 * @held: index of the peer that holds it, besides the one that the slot's word names;
 *	0 for none
 * @making: index of a peer to which another copy is being sent; 0 for none
 */
struct nswap_mirror {
	u32 gen;
	u16 held;
	u16 making;
};

static inline u64 nswap_mirror_pack(const struct nswap_mirror *m)
{
	if (!m->held && !m->making)
		return 0;
	return (u64)m->gen | (u64)m->held << 20 | (u64)m->making << 30;
}

static inline struct nswap_mirror nswap_mirror_unpack(u64 word)
{
	return (struct nswap_mirror){
		.gen = word & NSWAP_GEN_MASK,
		.held = word >> 20 & 1023,
		.making = word >> 30 & 1023,
	};
}

/* the second place of a page whose slot has this word, 0 for none */
static inline u16 nswap_mirror_second(const struct nswap_mirror *m,
				      const struct nswap_slot *s)
{
	return m->gen == s->gen && m->held != s->peer ? m->held : 0;
}

/* does the peer have a copy of the page whose slot has this word, or is it to get one? */
static inline bool nswap_mirror_counts(const struct nswap_mirror *m,
				       const struct nswap_slot *s, u16 peer)
{
	return s->peer == peer ||
	       (m->gen == s->gen && (m->held == peer || m->making == peer));
}

#endif
