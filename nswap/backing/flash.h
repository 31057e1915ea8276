/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flash: the flash tier of a device, one or several block devices with slots
 * of their own. Independent of requests, peers and the slot map.
 */
#ifndef NSWAP_FLASH_H
#define NSWAP_FLASH_H

#include "home.h"
#include "pure/flash_map.h"

struct nswap_emptying;

#define NSWAP_FLASH_TAGS	8	/* NSWAP_PREFETCH_ARMS */
#define NSWAP_FLASH_NONE	0	/* no flash slot in a slot map's entry */
#define NSWAP_FLASH_SLOTS	((1u << 28) - 1)	/* most an entry names */

/**
 * struct nswap_flash_leave - progress of evacuating a device
 * @cursor: slot of the slot map to continue at; 0 while it is not evacuated
 * @since: jiffies of the last page that was moved off
 * @copies: no page is only there: copies of others may be dropped
 * @moved: pages moved off since the cursor was last at slot 1
 * @stuck: those that no peer, flash or home took
 * @unread: those that could not be read
 */
struct nswap_flash_leave {
	u64 cursor;
	unsigned long since;
	bool copies;
	u64 moved;
	u64 stuck;
	u64 unread;
};

/**
 * struct nswap_flash_dev - one flash device
 * @block: for reads and writes; NULL once it is removed
 * @name: as in /dev
 * @map: its slots
 * @base: flash slot of its first one
 * @inflight: reads and writes in flight
 * @failures: failures in a row; a device that keeps failing gets no new pages
 * @failed_at: jiffies of the last of them
 * @leave: progress of evacuating it; the round's that is under way
 * @emptying: rounds of that, NULL before the first; under the node's control lock
 */
struct nswap_flash_dev {
	struct nswap_home *block;
	char name[32];
	struct nswap_flash_map map;
	u32 base;
	atomic_t inflight;
	atomic_t failures;
	unsigned long failed_at;
	struct nswap_flash_leave leave;
	struct nswap_emptying *emptying;
};

/**
 * struct nswap_flash - the flash tier of one device
 * @dev: its devices, by rank
 * @nr: number of @dev
 * @trim: work that issues discards
 * @tag: one byte a slot: which policy prefetched its page, 0 for none
 * @hits: reads of the slots of each tag since they were last collected
 */
struct nswap_flash {
	struct nswap_flash_dev dev[NSWAP_FLASH_DEVICES];
	unsigned int nr;
	struct work_struct trim;
	u8 *tag;
	atomic_t hits[NSWAP_FLASH_TAGS];
};

struct nswap_flash *nswap_flash_open(const char *const *path, unsigned int nr,
				     struct netlink_ext_ack *ext);
void nswap_flash_close(struct nswap_flash *f);
struct nswap_home *nswap_flash_detach(struct nswap_flash *f, struct nswap_flash_dev *d);
void nswap_flash_release(struct nswap_flash *f, struct nswap_flash_dev *d,
			 struct nswap_home *block);
bool nswap_flash_room(const struct nswap_flash *f);
void nswap_flash_look(struct nswap_flash *f, struct nswap_home_load *l);
bool nswap_flash_works(const struct nswap_flash *f, u32 slot);
u32 nswap_flash_take(struct nswap_flash *f, u32 want, u32 *first);
void nswap_flash_put(struct nswap_flash *f, u32 slot);
u32 nswap_flash_run(const struct nswap_flash *f, u32 slot);
void nswap_flash_hold(struct nswap_flash *f, u32 slot);
void nswap_flash_submit(struct nswap_flash *f, u32 slot,
			struct nswap_home_io *h);
void nswap_flash_ended(struct nswap_flash *f, u32 slot, bool failed);
void nswap_flash_tag(struct nswap_flash *f, u32 slot, u8 tag);
bool nswap_flash_hit(struct nswap_flash *f, u32 slot);
unsigned int nswap_flash_inflight(const struct nswap_flash *f);
void nswap_flash_unlinked(struct nswap_flash *f, u32 slot);
u32 nswap_flash_links(const struct nswap_flash *f);
void nswap_flash_usable(const struct nswap_flash *f, u64 *total, u64 *used);
u64 nswap_flash_total(const struct nswap_flash *f);
u64 nswap_flash_used(struct nswap_flash *f);
void nswap_flash_names(const struct nswap_flash *f, char *buf, size_t size);

#endif
