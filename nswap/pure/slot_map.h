/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow slot map: slot -> where its page is. Eight bytes a slot, one atomic
 * word each, allocated when the device is added and never afterwards.
 *
 *   state 4 | reference 1 | freed 1 | peer 10 | generation 20 | flash slot 28
 *
 * A flash slot that is not zero says where flash holds a copy of this generation,
 * too, whatever place the state names.
 *
 * Chunks of slots are in use or not: who looks at all slots passes over the others, so
 * that it takes as long as the device is used, not as long as it is large.
 */
#ifndef NSWAP_SLOT_MAP_H
#define NSWAP_SLOT_MAP_H

#include <linux/atomic.h>
#include <linux/build_bug.h>

#include "base/types.h"

#define NSWAP_SLOT_CHUNK	512u	/* slots; their words fill a page */

/**
 * enum nswap_slot_state - where the newest copy of a slot's page is
 * @NSWAP_SLOT_EMPTY: never written or freed; reads as zeros
 * @NSWAP_SLOT_WRITING: a page-out of this generation is in flight
 * @NSWAP_SLOT_REMOTE: the peer holds this generation
 * @NSWAP_SLOT_FREEING: freed here, the peer has not been told yet
 * @NSWAP_SLOT_LOST: written once, no valid copy left; reads fail
 * @NSWAP_SLOT_HOME: home holds this generation, at the slot's own offset
 * @NSWAP_SLOT_MOVING: the peer, or home if the peer is 0, holds this
 *	generation, and it is being moved elsewhere: it stays valid at its old
 *	place until the new one is recorded
 * @NSWAP_SLOT_FLASH: flash alone holds this generation
 * @NSWAP_SLOT_NR: number of states
 */
enum nswap_slot_state {
	NSWAP_SLOT_EMPTY,
	NSWAP_SLOT_WRITING,
	NSWAP_SLOT_REMOTE,
	NSWAP_SLOT_FREEING,
	NSWAP_SLOT_LOST,
	NSWAP_SLOT_HOME,
	NSWAP_SLOT_MOVING,
	NSWAP_SLOT_FLASH,
	NSWAP_SLOT_NR,
};

#define NSWAP_STATE_BITS	4
#define NSWAP_PEER_BITS		10
#define NSWAP_GEN_BITS		20
#define NSWAP_FLASH_BITS	28
#define NSWAP_GEN_MASK		((1u << NSWAP_GEN_BITS) - 1)

/* of the word: its single bits, and where its longer fields begin after the state */
#define NSWAP_SLOT_REFERENCED	(1ull << NSWAP_STATE_BITS)
#define NSWAP_SLOT_FREED	(NSWAP_SLOT_REFERENCED << 1)
#define NSWAP_PEER_SHIFT	(NSWAP_STATE_BITS + 2)
#define NSWAP_GEN_SHIFT		(NSWAP_PEER_SHIFT + NSWAP_PEER_BITS)
#define NSWAP_FLASH_SHIFT	(NSWAP_GEN_SHIFT + NSWAP_GEN_BITS)

static_assert(NSWAP_FLASH_SHIFT + NSWAP_FLASH_BITS == 64, "one word a slot");
static_assert(NSWAP_SLOT_NR <= 1 << NSWAP_STATE_BITS);
static_assert(NSWAP_MAX_PEERS < 1 << NSWAP_PEER_BITS);

/**
 * struct nswap_slot - one unpacked entry of the map
 * @state: enum nswap_slot_state
 * @referenced: reference bit of the clock algorithm (slot_map.c): at a peer swapped in or out
 *	lately, at flash or home paged in since it came there
 * @freed: freed while WRITING; acted on when the page-out ends
 * @peer: index in the IPTable, 0 for none
 * @gen: generation of the newest page-out, modulo 2^20
 * @flash: slot on the flash tier, 0 if flash has no copy
 */
struct nswap_slot {
	u8 state;
	bool referenced;
	bool freed;
	u16 peer;
	u32 gen;
	u32 flash;
};

/**
 * enum nswap_chunk - are the slots of a chunk to be looked at?
 * @NSWAP_CHUNK_UNUSED: no, all are EMPTY, or one is just being claimed
 * @NSWAP_CHUNK_USED: yes
 * @NSWAP_CHUNK_TIDIED: yes, and nswap_slot_map_tidy() finds out whether all are EMPTY
 */
enum nswap_chunk {
	NSWAP_CHUNK_UNUSED,
	NSWAP_CHUNK_USED,
	NSWAP_CHUNK_TIDIED,
};

/**
 * struct nswap_slot_map - the map of one device
 * @word: one packed entry a slot
 * @nr: number of slots
 * @chunk: enum nswap_chunk of each: all slots of those that are not in use are EMPTY
 * @nr_used: how many chunks are in use
 * @tidying: bit 0: a chunk is being tidied, one at a time
 */
struct nswap_slot_map {
	atomic64_t *word;
	u64 nr;
	atomic_t *chunk;
	atomic64_t nr_used;
	unsigned long tidying;
};

int nswap_slot_map_init(struct nswap_slot_map *map, u64 nr);
void nswap_slot_map_exit(struct nswap_slot_map *map);
u64 nswap_slot_map_bytes(u64 nr);

bool nswap_slot_legal(u8 from, u8 to);
bool nswap_slot_move(struct nswap_slot_map *map, u64 slot, u64 old,
		     const struct nswap_slot *to);
bool nswap_slot_same(const struct nswap_slot *a, const struct nswap_slot *b);
void nswap_slot_unreference(struct nswap_slot_map *map, u64 slot,
			    const struct nswap_slot *old);
void nswap_slot_reference(struct nswap_slot_map *map, u64 slot, u32 gen);

void nswap_slot_map_use(struct nswap_slot_map *map, u64 slot);
bool nswap_slot_map_tidy(struct nswap_slot_map *map, u64 slot);
u64 nswap_slot_map_next(const struct nswap_slot_map *map, u64 slot);
u64 nswap_slot_map_turn(const struct nswap_slot_map *map, u64 slot);
u64 nswap_slot_map_in_use(const struct nswap_slot_map *map);

/* is the chunk of a slot in use? */
static inline bool nswap_slot_map_used(const struct nswap_slot_map *map, u64 slot)
{
	return atomic_read(&map->chunk[slot / NSWAP_SLOT_CHUNK]) != NSWAP_CHUNK_UNUSED;
}

/* each slot from @first on, but for the chunks that are not in use */
#define nswap_for_each_slot(map, slot, first)				\
	for ((slot) = nswap_slot_map_next(map, first); (slot) < (map)->nr; \
	     (slot) = nswap_slot_map_next(map, (slot) + 1))

/* the slot after the last one of the chunk that @slot is in; @slot may be the map's end */
static inline u64 nswap_slot_chunk_end(const struct nswap_slot_map *map, u64 slot)
{
	return min_t(u64, (slot / NSWAP_SLOT_CHUNK + 1) * NSWAP_SLOT_CHUNK, map->nr);
}

/* the word of an entry */
static inline u64 nswap_slot_pack(const struct nswap_slot *s)
{
	return (u64)s->state | (s->referenced ? NSWAP_SLOT_REFERENCED : 0) |
	       (s->freed ? NSWAP_SLOT_FREED : 0) | (u64)s->peer << NSWAP_PEER_SHIFT |
	       (u64)s->gen << NSWAP_GEN_SHIFT | (u64)s->flash << NSWAP_FLASH_SHIFT;
}

/* the entry of a word; inline, as the above: a page-out does both three times */
static inline struct nswap_slot nswap_slot_unpack(u64 word)
{
	return (struct nswap_slot){
		.state = word & ((1u << NSWAP_STATE_BITS) - 1),
		.referenced = word & NSWAP_SLOT_REFERENCED,
		.freed = word & NSWAP_SLOT_FREED,
		.peer = word >> NSWAP_PEER_SHIFT & ((1u << NSWAP_PEER_BITS) - 1),
		.gen = word >> NSWAP_GEN_SHIFT & NSWAP_GEN_MASK,
		.flash = word >> NSWAP_FLASH_SHIFT,
	};
}

/* a snapshot of one entry */
static inline u64 nswap_slot_read(const struct nswap_slot_map *map, u64 slot)
{
	return atomic64_read(&map->word[slot]);
}

/* is this the same page (generation), in this state and place? */
static inline bool nswap_slot_is(const struct nswap_slot *s, u8 state, u16 peer,
				 u32 gen)
{
	return s->state == state && s->peer == peer && s->gen == gen;
}

/* does a peer hold this slot's valid copy? */
static inline bool nswap_slot_at_peer(const struct nswap_slot *s)
{
	return s->state == NSWAP_SLOT_REMOTE ||
	       (s->state == NSWAP_SLOT_MOVING && s->peer);
}

/* does home hold this slot's valid copy? */
static inline bool nswap_slot_at_home(const struct nswap_slot *s)
{
	return s->state == NSWAP_SLOT_HOME ||
	       (s->state == NSWAP_SLOT_MOVING && !s->peer);
}

/*
 * The entry of a page-out that has ended, whose claim has set the reference bit: a page
 * that is at no peer has yet to be paged in.
 */
static inline struct nswap_slot nswap_slot_out(const struct nswap_slot *s, u8 state,
					       u16 peer, u32 flash)
{
	return (struct nswap_slot){
		.state = state, .peer = peer, .gen = s->gen, .flash = flash,
		.referenced = s->referenced && state == NSWAP_SLOT_REMOTE,
	};
}

/*
 * The reference bit of a page that no peer holds any more: of a copy that flash has it says
 * already whether it was paged in since it came there.
 */
static inline bool nswap_slot_left_reference(const struct nswap_slot *s)
{
	return s->flash && s->referenced;
}

/*
 * The entry without the copy its state names: HOME if home has another, as the caller
 * knows, FLASH if flash has one, else LOST.
 */
static inline struct nswap_slot nswap_slot_lost(const struct nswap_slot *s,
						bool home)
{
	return (struct nswap_slot){
		.state = home ? NSWAP_SLOT_HOME :
			 s->flash ? NSWAP_SLOT_FLASH : NSWAP_SLOT_LOST,
		.referenced = nswap_slot_left_reference(s),
		.gen = s->gen, .flash = s->flash,
	};
}

/* the generation of the next page-out after @gen */
static inline u32 nswap_gen_next(u32 gen)
{
	return (gen + 1) & NSWAP_GEN_MASK;
}

/* serial-number comparison */
static inline bool nswap_gen_newer(u32 a, u32 b)
{
	u32 d = (a - b) & NSWAP_GEN_MASK;

	return d && d < (1u << (NSWAP_GEN_BITS - 1));
}

#endif
