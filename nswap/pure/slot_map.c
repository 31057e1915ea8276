// SPDX-License-Identifier: GPL-2.0
/*
 * Shadow slot map.
 *
 *             page-out            ack
 *   EMPTY ------------> WRITING --------> REMOTE
 *     ^                 ^  |  ^             |  |
 *     |         rewrite |  |  | rewrite     |  | new epoch, not found
 *     | told    +-------+  |  +-------------+  |
 *     |         |          | failed            v
 *     +----- FREEING <-----|---------------  LOST (page-out -> WRITING,
 *       free of REMOTE     +---------------->      free -> EMPTY)
 *
 *   WRITING -> HOME, FLASH -> WRITING, EMPTY
 *   FLASH -> REMOTE, HOME: its flash device is being evacuated, or the page is
 *   prefetched or placed; the slot gets another generation, or another flash slot, without
 *   leaving FLASH
 *   REMOTE -> FLASH: the peer is lost, or sends the page back, and flash has
 *   another copy, or the page was prefetched or placed to stay there
 *   HOME -> FLASH: the page was prefetched or placed to stay there
 *   REMOTE, HOME -> MOVING -> REMOTE, HOME, FLASH (the new place, or the old);
 *   while MOVING, a page-out and a free act as on the old place, and the move
 *   finds that its entry has changed and drops its new copy. A loss of the old
 *   place is left to the move to decide: the new place may have the page.
 *   HOME -> MOVING takes the next generation: the page is sent under that one.
 *
 * Invariants:
 *  - An entry changes only by nswap_slot_move(), one compare-and-exchange, which
 *    the module calls from nswap_slot_update() alone: the loser of a race decides
 *    again, based on the new entry. Only reference bits are changed in this file
 *    directly, and a lost race leaves them alone.
 *  - A generation never goes back. EMPTY and LOST keep it, so the next
 *    page-out of the slot is newer than every copy a peer may still hold.
 *  - Only the request that moved a slot to WRITING moves it out again;
 *    a free that meets WRITING sets the freed bit and leaves.
 *  - A slot's chunk is in use before the task that has claimed it, EMPTY -> WRITING, gives
 *    its word a place: who passes over a chunk misses at most slots that were EMPTY, or
 *    just claimed, when it came by. Tidying, by one task: TIDIED, all slots EMPTY, TIDIED
 *    -> UNUSED; claiming: the word, then the chunk, if it is not USED, -> USED. Each step is
 *    a full barrier: either the claimer finds the chunk TIDIED or UNUSED, or its claim is
 *    found.
 *  - The reference bit. A page that a peer holds has it if it was swapped, in or out, since
 *    a clock hand cleared it, as in the Nswap2L paper: a page-out to a peer sets it, and a
 *    page-in does. Below peers, at flash or home, it says that the page was paged in since it
 *    came there, which is how those are found that had better be at a peer (promote.c): so a
 *    page-out to flash or home clears it, and so does whatever brings a page from a peer
 *    there or has flash copy it; a page-in sets it. A move from peer to peer, between flash
 *    and home, and up to a peer leaves it as it was, and so do other keys (reseal.c) while a
 *    peer holds the page. In a cell of a row (pageout_cell.c) it says nothing.
 *  - Nothing here sleeps or allocates after nswap_slot_map_init().
 */
#include <linux/bits.h>
#include <linux/bug.h>

#include "charged.h"
#include "slot_map.h"

/* legal[from] has bit "to" set for every legal transition */
static const u16 legal[NSWAP_SLOT_NR] = {
	[NSWAP_SLOT_EMPTY] = BIT(NSWAP_SLOT_WRITING),
	[NSWAP_SLOT_WRITING] = BIT(NSWAP_SLOT_WRITING) |
			       BIT(NSWAP_SLOT_REMOTE) | BIT(NSWAP_SLOT_HOME) |
			       BIT(NSWAP_SLOT_FREEING) | BIT(NSWAP_SLOT_LOST) |
			       BIT(NSWAP_SLOT_EMPTY) | BIT(NSWAP_SLOT_FLASH),
	[NSWAP_SLOT_REMOTE] = BIT(NSWAP_SLOT_WRITING) |
			      BIT(NSWAP_SLOT_FREEING) | BIT(NSWAP_SLOT_LOST) |
			      BIT(NSWAP_SLOT_MOVING) | BIT(NSWAP_SLOT_FLASH) |
			      BIT(NSWAP_SLOT_HOME),
	[NSWAP_SLOT_FREEING] = BIT(NSWAP_SLOT_WRITING) | BIT(NSWAP_SLOT_EMPTY),
	[NSWAP_SLOT_LOST] = BIT(NSWAP_SLOT_WRITING) | BIT(NSWAP_SLOT_EMPTY),
	[NSWAP_SLOT_HOME] = BIT(NSWAP_SLOT_WRITING) | BIT(NSWAP_SLOT_EMPTY) |
			    BIT(NSWAP_SLOT_MOVING) | BIT(NSWAP_SLOT_FLASH),
	[NSWAP_SLOT_MOVING] = BIT(NSWAP_SLOT_WRITING) | BIT(NSWAP_SLOT_EMPTY) |
			      BIT(NSWAP_SLOT_FREEING) |
			      BIT(NSWAP_SLOT_REMOTE) | BIT(NSWAP_SLOT_HOME) |
			      BIT(NSWAP_SLOT_FLASH),
	[NSWAP_SLOT_FLASH] = BIT(NSWAP_SLOT_WRITING) | BIT(NSWAP_SLOT_EMPTY) |
			     BIT(NSWAP_SLOT_REMOTE) | BIT(NSWAP_SLOT_HOME),
};

u64 nswap_slot_map_bytes(u64 nr)
{
	return nr * sizeof(atomic64_t);
}

static u64 map_chunks(u64 nr)
{
	return DIV_ROUND_UP(nr, NSWAP_SLOT_CHUNK);
}

/* All slots EMPTY; process, sleeps; never on the reclaim path. 0, or -ENOMEM. */
int nswap_slot_map_init(struct nswap_slot_map *map, u64 nr)
{
	map->word = nswap_charged_zalloc(nswap_slot_map_bytes(nr));
	map->chunk = nswap_charged_zalloc(map_chunks(nr) * sizeof(*map->chunk));
	atomic64_set(&map->nr_used, 0);
	map->tidying = 0;
	map->nr = nr;
	if (map->word && map->chunk)
		return 0;
	nswap_slot_map_exit(map);
	return -ENOMEM;
}

void nswap_slot_map_exit(struct nswap_slot_map *map)
{
	vfree(map->word);
	vfree(map->chunk);
	map->word = NULL;
	map->chunk = NULL;
	map->nr = 0;
}

/* a slot's chunk is in use from now on; any context, on the page-out path */
void nswap_slot_map_use(struct nswap_slot_map *map, u64 slot)
{
	atomic_t *chunk = &map->chunk[slot / NSWAP_SLOT_CHUNK];

	if (atomic_read(chunk) != NSWAP_CHUNK_USED &&
	    atomic_xchg(chunk, NSWAP_CHUNK_USED) == NSWAP_CHUNK_UNUSED)
		atomic64_inc(&map->nr_used);
}

static bool chunk_empty(const struct nswap_slot_map *map, u64 chunk)
{
	u64 slot = chunk * NSWAP_SLOT_CHUNK;
	u64 end = min(slot + NSWAP_SLOT_CHUNK, map->nr);

	for (; slot < end; slot++)
		if (nswap_slot_unpack(nswap_slot_read(map, slot)).state)
			return false;
	return true;
}

/* the one task that tidies; true if it is not in use any more */
static bool chunk_tidy(struct nswap_slot_map *map, u64 nr)
{
	atomic_t *chunk = &map->chunk[nr];

	if (atomic_cmpxchg(chunk, NSWAP_CHUNK_USED, NSWAP_CHUNK_TIDIED) != NSWAP_CHUNK_USED)
		return false;
	if (!chunk_empty(map, nr)) {
		atomic_cmpxchg(chunk, NSWAP_CHUNK_TIDIED, NSWAP_CHUNK_USED);
		return false;
	}
	return atomic_cmpxchg(chunk, NSWAP_CHUNK_TIDIED, NSWAP_CHUNK_UNUSED) ==
	       NSWAP_CHUNK_TIDIED;
}

/**
 * nswap_slot_map_tidy() - a chunk whose slots are all EMPTY is not in use any more
 * @map: the map
 * @slot: one of it
 *
 * Nothing happens while another task tidies: what it leaves is looked at, that is all.
 *
 * Context: any; does not sleep. Looks at its slots up to the first that is not EMPTY.
 * Return: true if it was in use and is not any more.
 */
bool nswap_slot_map_tidy(struct nswap_slot_map *map, u64 slot)
{
	u64 chunk = slot / NSWAP_SLOT_CHUNK;
	bool tidied;

	if (!chunk_empty(map, chunk) || test_and_set_bit_lock(0, &map->tidying))
		return false;
	tidied = chunk_tidy(map, chunk);
	if (tidied)
		atomic64_dec(&map->nr_used);
	clear_bit_unlock(0, &map->tidying);
	return tidied;
}

/* the first slot from @slot on whose chunk is in use, @map->nr if there is none; any */
u64 nswap_slot_map_next(const struct nswap_slot_map *map, u64 slot)
{
	u64 chunk = slot / NSWAP_SLOT_CHUNK, chunks = map_chunks(map->nr), next = chunk;

	while (next < chunks && !nswap_slot_map_used(map, next * NSWAP_SLOT_CHUNK))
		next++;
	return min(next == chunk ? slot : next * NSWAP_SLOT_CHUNK, map->nr);
}

/* the next one after @slot, round and round, but for slot 0; 1 if there is none; any */
u64 nswap_slot_map_turn(const struct nswap_slot_map *map, u64 slot)
{
	u64 next = nswap_slot_map_next(map, slot + 1);

	if (next >= map->nr)
		next = nswap_slot_map_next(map, 1);
	return next < map->nr ? next : 1;
}

/* how many slots there are to be looked at; any context, a snapshot */
u64 nswap_slot_map_in_use(const struct nswap_slot_map *map)
{
	u64 used = atomic64_read(&map->nr_used);

	return min(used * NSWAP_SLOT_CHUNK, map->nr);
}

/* is this transition in the table? */
bool nswap_slot_legal(u8 from, u8 to)
{
	return from < NSWAP_SLOT_NR && to < NSWAP_SLOT_NR &&
	       legal[from] & BIT(to);
}

/*
 * Compare and exchange one entry; any context; does not sleep, on the reclaim path.
 * Returns true if the entry was @old and now is @to; false if it had changed or the
 * transition is not in the table (which also warns once).
 */
bool nswap_slot_move(struct nswap_slot_map *map, u64 slot, u64 old,
		     const struct nswap_slot *to)
{
	u64 new = nswap_slot_pack(to);
	u8 from = nswap_slot_unpack(old).state;

	if (WARN_ON_ONCE(from != to->state && !nswap_slot_legal(from, to->state)))
		return false;
	if (atomic64_cmpxchg(&map->word[slot], old, new) != old)
		return false;
	if (from == NSWAP_SLOT_EMPTY)
		nswap_slot_map_use(map, slot);
	return true;
}

/* are two entries equal but for the reference bit? */
bool nswap_slot_same(const struct nswap_slot *a, const struct nswap_slot *b)
{
	return !((nswap_slot_pack(a) ^ nswap_slot_pack(b)) & ~NSWAP_SLOT_REFERENCED);
}

/* the clock hand has passed: clear the reference bit */
void nswap_slot_unreference(struct nswap_slot_map *map, u64 slot,
			    const struct nswap_slot *old)
{
	u64 word = nswap_slot_pack(old);

	atomic64_cmpxchg(&map->word[slot], word, word & ~NSWAP_SLOT_REFERENCED);
}

/**
 * nswap_slot_reference() - note a page-in
 * @map: the map
 * @slot: below @map->nr
 * @gen: the generation that was read
 *
 * No effect if the slot was rewritten since: the new page has not been read.
 *
 * Context: any; does not sleep, on the page-in path.
 */
void nswap_slot_reference(struct nswap_slot_map *map, u64 slot, u32 gen)
{
	u64 old = nswap_slot_read(map, slot);
	struct nswap_slot s = nswap_slot_unpack(old);

	if (s.gen != gen || s.referenced ||
	    (!s.flash && !nswap_slot_at_peer(&s) && !nswap_slot_at_home(&s)))
		return;
	s.referenced = true;
	atomic64_cmpxchg(&map->word[slot], old, nswap_slot_pack(&s));
}
