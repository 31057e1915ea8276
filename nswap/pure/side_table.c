// SPDX-License-Identifier: GPL-2.0
/*
 * Side tables of a device.
 *
 * Invariants:
 *  - A table is made before its device can be found, as large as the device, and
 *    goes after the device's last request: its address does not change, and
 *    nothing that page-outs do allocates or locks here.
 *  - An entry that belongs to a page (as its tag does, or its second place) is
 *    written by whoever holds WRITING for the slot, and by nobody else: it is
 *    complete before the slot leaves WRITING by nswap_slot_move(), whose full
 *    order makes it visible with the new word.
 *  - So a reader takes the slot's word, then the entry, then the word again, with
 *    read barriers between: if state, place and generation are the same, the
 *    entry is that page's, else the reader begins again.
 *  - A table whose entries are not of that kind says so where it is made:
 *    single bits and bytes, changed atomically, that belong to the slot.
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "base/types.h"
#include "side_table.h"

static u64 side_size(u64 slots, unsigned int bits)
{
	return bits == 1 ? BITS_TO_LONGS(slots) * sizeof(long) :
			   slots * (bits / 8);
}

/* no tables yet */
void nswap_side_init(struct nswap_side_tables *ts, u64 slots)
{
	memset(ts, 0, sizeof(*ts));
	ts->slots = slots;
}

/**
 * nswap_side_add() - make a table, all zeros
 * @ts: tables of a device that nobody finds yet
 * @name: for people; stays the caller's, as long as the table
 * @bits: of an entry: 1, or a multiple of 8
 *
 * Context: process, sleeps; never on the page-out path. Allocates @bits a slot.
 * Return: the table, gone with nswap_side_exit(); NULL without memory.
 */
struct nswap_side_table *nswap_side_add(struct nswap_side_tables *ts,
					const char *name, unsigned int bits)
{
	struct nswap_side_table *t = &ts->table[ts->nr];

	if (WARN_ON_ONCE(ts->nr == NSWAP_SIDE_TABLES || !bits ||
			 (bits > 1 && bits % 8)))
		return NULL;
	t->at = vzalloc(side_size(ts->slots, bits));
	if (!t->at)
		return NULL;
	t->name = name;
	t->bits = bits;
	ts->nr++;
	return t;
}

/* free all tables */
void nswap_side_exit(struct nswap_side_tables *ts)
{
	while (ts->nr)
		vfree(ts->table[--ts->nr].at);
}

/* memory that a table takes */
u64 nswap_side_bytes(const struct nswap_side_tables *ts, unsigned int i)
{
	return side_size(ts->slots, ts->table[i].bits);
}
