/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flash map: which slots of one flash device are used. Memory for it is
 * allocated when the device is added and never afterwards.
 */
#ifndef NSWAP_FLASH_MAP_H
#define NSWAP_FLASH_MAP_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define NSWAP_FLASH_CHUNK	256u	/* slots: 1 MiB, written and discarded as one */

/**
 * struct nswap_flash_map - slots of one flash device
 * @lock: protects everything here; taken with interrupts off
 * @nr: slots, a multiple of NSWAP_FLASH_CHUNK
 * @used: slots in use
 * @closed: no slot may be taken
 * @given_up: counts copies given up while their page lives on under its
 *	generation, and openings; not those given up while it is closed
 * @open: the chunk that is being filled
 * @cursor: position in @open
 * @map: one bit a slot: used
 * @count: slots used in each chunk
 * @room: one bit a chunk: has an unused slot, and is not being discarded
 * @empty: one bit a chunk: no slot is used, and it is not being discarded
 * @trim: one bit a chunk: filled before and empty now, a discard is due
 */
struct nswap_flash_map {
	spinlock_t lock;
	u32 nr;
	u32 used;
	bool closed;
	u32 given_up;
	u32 open;
	u32 cursor;
	unsigned long *map;
	u16 *count;
	unsigned long *room;
	unsigned long *empty;
	unsigned long *trim;
};

int nswap_flash_map_init(struct nswap_flash_map *m, u32 nr);
void nswap_flash_map_exit(struct nswap_flash_map *m);
u32 nswap_flash_map_take(struct nswap_flash_map *m, u32 want, u32 *first);
u32 nswap_flash_map_close(struct nswap_flash_map *m, bool closed);
void nswap_flash_map_give_up(struct nswap_flash_map *m);
bool nswap_flash_map_put(struct nswap_flash_map *m, u32 slot);
bool nswap_flash_map_trim(struct nswap_flash_map *m, u32 *chunk);
void nswap_flash_map_trimmed(struct nswap_flash_map *m, u32 chunk);

#endif
