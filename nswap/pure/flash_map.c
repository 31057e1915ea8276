// SPDX-License-Identifier: GPL-2.0
/*
 * Flash map.
 *
 *   take:  the open chunk, upwards; then the next empty chunk, upwards and
 *          around; then the next one with a hole
 *   trim:  an empty chunk that was filled before stays out of use until its
 *          discard has completed
 *
 * Filling empty chunks upwards and around writes the device from end to end
 * over and over: sequentially, with even wear.
 *
 * Invariants, under @lock:
 *  - A taken slot has one owner until that owner puts it. A closed map hands
 *    out no slots, so its use count only falls.
 *  - room and empty of a chunk are clear while it is being discarded, and the
 *    open chunk is never discarded.
 *  - Nothing here sleeps or allocates after nswap_flash_map_init(); a search
 *    reads one bit for every 256 slots.
 */
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/vmalloc.h>

#include "charged.h"
#include "flash_map.h"

static u32 flash_map_chunks(const struct nswap_flash_map *m)
{
	return m->nr / NSWAP_FLASH_CHUNK;
}

static unsigned long *flash_map_bits(u32 nr)
{
	return nswap_charged_zalloc(BITS_TO_LONGS(nr) * sizeof(long));
}

/**
 * nswap_flash_map_init() - set up a map of unused slots
 * @m: zeroed map
 * @nr: slots, at least NSWAP_FLASH_CHUNK; rounded down to whole chunks
 *
 * Context: process, sleeps; never on the reclaim path.
 * Return: 0, or -ENOMEM; call nswap_flash_map_exit() either way.
 */
int nswap_flash_map_init(struct nswap_flash_map *m, u32 nr)
{
	spin_lock_init(&m->lock);
	m->nr = nr - nr % NSWAP_FLASH_CHUNK;
	m->map = flash_map_bits(m->nr);
	m->count = nswap_charged_zalloc(array_size(sizeof(*m->count),
						   flash_map_chunks(m)));
	m->room = flash_map_bits(flash_map_chunks(m));
	m->empty = flash_map_bits(flash_map_chunks(m));
	m->trim = flash_map_bits(flash_map_chunks(m));
	if (!m->map || !m->count || !m->room || !m->empty || !m->trim)
		return -ENOMEM;
	bitmap_fill(m->room, flash_map_chunks(m));
	bitmap_fill(m->empty, flash_map_chunks(m));
	return 0;
}

void nswap_flash_map_exit(struct nswap_flash_map *m)
{
	vfree(m->map);
	vfree(m->count);
	vfree(m->room);
	vfree(m->empty);
	vfree(m->trim);
}

/* the next set bit at or after @from, wrapping around; @nr if there is none */
static u32 flash_map_around(const unsigned long *map, u32 nr, u32 from)
{
	u32 found = find_next_bit(map, nr, from);

	return found < nr || !from ? found : find_first_bit(map, nr);
}

/* open another chunk; false if none has room */
static bool open_next(struct nswap_flash_map *m)
{
	u32 next = (m->open + 1) % flash_map_chunks(m);
	u32 found = flash_map_around(m->empty, flash_map_chunks(m), next);

	if (found == flash_map_chunks(m))
		found = flash_map_around(m->room, flash_map_chunks(m), next);
	if (found == flash_map_chunks(m))
		return false;
	m->open = found;
	m->cursor = found * NSWAP_FLASH_CHUNK;
	return true;
}

/* the next unused slot of the open chunk; the chunk's end if there is none */
static u32 next_unused(const struct nswap_flash_map *m)
{
	return find_next_zero_bit(m->map, (m->open + 1) * NSWAP_FLASH_CHUNK,
				  m->cursor);
}

static void flash_map_mark(struct nswap_flash_map *m, u32 first, u32 nr)
{
	bitmap_set(m->map, first, nr);
	m->count[m->open] += nr;
	m->used += nr;
	m->cursor = first + nr;
	clear_bit(m->open, m->empty);
	clear_bit(m->open, m->trim);
	if (m->count[m->open] == NSWAP_FLASH_CHUNK)
		clear_bit(m->open, m->room);
}

/*
 * Take adjacent slots. @first: result: the first of them. Context: any; does not
 * sleep, on the page-out path. Returns how many, 0 if every slot is used or being
 * discarded, or @m closed.
 */
u32 nswap_flash_map_take(struct nswap_flash_map *m, u32 want, u32 *first)
{
	unsigned long flags;
	u32 at, end, n = 0;

	spin_lock_irqsave(&m->lock, flags);
	if (m->closed)
		goto unlock;
	at = next_unused(m);
	end = (m->open + 1) * NSWAP_FLASH_CHUNK;
	if (at == end && open_next(m)) {
		at = next_unused(m);
		end = (m->open + 1) * NSWAP_FLASH_CHUNK;
	}
	if (at < end) {
		end = min(end, at + want);
		n = find_next_bit(m->map, end, at) - at;
		flash_map_mark(m, at, n);
		*first = at;
	}
unlock:
	spin_unlock_irqrestore(&m->lock, flags);
	return n;
}

/*
 * Stop handing out slots, or start again. Returns slots used. If that is 0 and
 * @closed, it stays 0, and no earlier user of a slot touches the map any more.
 */
u32 nswap_flash_map_close(struct nswap_flash_map *m, bool closed)
{
	unsigned long flags;
	u32 used;

	spin_lock_irqsave(&m->lock, flags);
	/* for all copies that were given up while the map was closed */
	if (m->closed && !closed)
		m->given_up++;
	m->closed = closed;
	used = m->used;
	spin_unlock_irqrestore(&m->lock, flags);
	return used;
}

/*
 * The page of a slot lives on elsewhere. Call before the slot is put. A closed map
 * hands out no slots, so it is enough to count once when it is opened again. Context:
 * any; does not sleep.
 */
void nswap_flash_map_give_up(struct nswap_flash_map *m)
{
	unsigned long flags;

	spin_lock_irqsave(&m->lock, flags);
	if (!m->closed)
		m->given_up++;
	spin_unlock_irqrestore(&m->lock, flags);
}

/*
 * Free a slot. @slot: taken before. Context: any; does not sleep, on the page-out
 * path. Returns true if a discard has become due.
 */
bool nswap_flash_map_put(struct nswap_flash_map *m, u32 slot)
{
	u32 chunk = slot / NSWAP_FLASH_CHUNK;
	unsigned long flags;
	bool due = false;

	spin_lock_irqsave(&m->lock, flags);
	if (!WARN_ON_ONCE(!test_and_clear_bit(slot, m->map))) {
		m->used--;
		set_bit(chunk, m->room);
		if (!--m->count[chunk]) {
			set_bit(chunk, m->empty);
			set_bit(chunk, m->trim);
			due = true;
		}
	}
	spin_unlock_irqrestore(&m->lock, flags);
	return due;
}

/* take an empty chunk out of use for discard; false if there is none */
bool nswap_flash_map_trim(struct nswap_flash_map *m, u32 *chunk)
{
	u32 found, nr = flash_map_chunks(m);

	spin_lock_irq(&m->lock);
	found = find_first_bit(m->trim, nr);
	if (found == m->open)
		found = find_next_bit(m->trim, nr, found + 1);
	if (found < nr) {
		clear_bit(found, m->trim);
		clear_bit(found, m->empty);
		clear_bit(found, m->room);
	}
	spin_unlock_irq(&m->lock);
	*chunk = found;
	return found < nr;
}

/* a chunk has been discarded and may be used again */
void nswap_flash_map_trimmed(struct nswap_flash_map *m, u32 chunk)
{
	spin_lock_irq(&m->lock);
	set_bit(chunk, m->empty);
	set_bit(chunk, m->room);
	spin_unlock_irq(&m->lock);
}
