// SPDX-License-Identifier: GPL-2.0
/*
 * Side tables of a device.
 *
 * Invariants:
 *  - A table is allocated before its device can be found, is as large as the
 *    device, and is freed after the device's last request: its address does not
 *    change, and page-outs neither allocate nor lock here.
 *  - An entry that belongs to a page (such as its tag or its second place) is
 *    written only by the task that holds the slot WRITING: it is complete
 *    before the slot leaves WRITING by nswap_slot_move(), whose full ordering
 *    makes it visible with the new word.
 *  - So a reader reads the slot's word, then the entry, then the word again, with
 *    read barriers between: if state, place and generation are the same, the
 *    entry belongs to that page, else the reader starts over.
 *  - A table with another kind of entries says so where it is added: single
 *    bits and bytes, changed atomically, that belong to the slot.
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/string.h>

#include "charged.h"
#include "side_table.h"

static u64 side_size(u64 slots, unsigned int bits)
{
	return bits == 1 ? BITS_TO_LONGS(slots) * sizeof(long) :
			   slots * (bits / 8);
}

void nswap_side_init(struct nswap_side_tables *ts, u64 slots)
{
	memset(ts, 0, sizeof(*ts));
	ts->slots = slots;
}

/**
 * nswap_side_add() - add a table, all zeros
 * @ts: tables of a device that cannot be found yet
 * @name: shown to users; not copied, must outlive the table
 * @bits: of an entry: 1, or a multiple of 8
 *
 * Context: process, sleeps; never on the page-out path. Allocates @bits a slot.
 * Return: the table, freed by nswap_side_exit(); NULL without memory.
 */
struct nswap_side_table *nswap_side_add(struct nswap_side_tables *ts,
					const char *name, unsigned int bits)
{
	struct nswap_side_table *t = &ts->table[ts->nr];

	if (WARN_ON_ONCE(ts->nr == NSWAP_SIDE_TABLES || !bits ||
			 (bits > 1 && bits % 8)))
		return NULL;
	t->at = nswap_charged_zalloc(side_size(ts->slots, bits));
	if (!t->at)
		return NULL;
	t->name = name;
	t->bits = bits;
	ts->nr++;
	return t;
}

void nswap_side_exit(struct nswap_side_tables *ts)
{
	while (ts->nr)
		vfree(ts->table[--ts->nr].at);
}

u64 nswap_side_bytes(const struct nswap_side_tables *ts, unsigned int i)
{
	return side_size(ts->slots, ts->table[i].bits);
}
