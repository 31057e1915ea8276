/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Side tables of a device: per-slot data of single features, beside the word of
 * the shadow slot map. Allocated with the device, counted in one place.
 */
#ifndef NSWAP_SIDE_TABLE_H
#define NSWAP_SIDE_TABLE_H

#include "base/types.h"

/**
 * struct nswap_side_table - one table, an entry a slot
 * @name: shown to users, write-once
 * @bits: of an entry: 1, or a multiple of 8
 * @at: the entries, zeros at first
 */
struct nswap_side_table {
	const char *name;
	unsigned int bits;
	void *at;
};

/**
 * struct nswap_side_tables - the tables of one device
 * @slots: entries of each
 * @nr: how many there are
 * @table: the tables
 */
struct nswap_side_tables {
	u64 slots;
	unsigned int nr;
	struct nswap_side_table table[NSWAP_SIDE_TABLES];
};

void nswap_side_init(struct nswap_side_tables *ts, u64 slots);
struct nswap_side_table *nswap_side_add(struct nswap_side_tables *ts,
					const char *name, unsigned int bits);
void nswap_side_exit(struct nswap_side_tables *ts);
u64 nswap_side_bytes(const struct nswap_side_tables *ts, unsigned int i);

/* the entry of a slot; any context; side_table.c says who may read and write it */
static inline void *nswap_side_entry(const struct nswap_side_table *t, u64 slot)
{
	return t->at + slot * (t->bits / 8);
}

/* a table of bits; any context; bits are changed by atomic ops, set_bit() etc. */
static inline unsigned long *nswap_side_bitmap(const struct nswap_side_table *t)
{
	return t->at;
}

#endif
