/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Returns of this node's own pages: a server brings them back, they go to flash
 * or home.
 */
#ifndef NSWAP_RETURNED_H
#define NSWAP_RETURNED_H

#include <linux/completion.h>

#include "core/device.h"
#include "pure/wire.h"

struct nswap_return;
struct nswap_returns;

/**
 * struct nswap_return_part - adjacent pages on their way to flash or home
 * @h: the write
 * @r: whose
 * @flash: first flash slot; NSWAP_FLASH_NONE: to home
 * @first: place of the first of them in @r
 */
struct nswap_return_part {
	struct nswap_home_io h;
	struct nswap_return *r;
	u32 flash;
	u8 first;
};

/**
 * struct nswap_return - room for the pages of one RETURN
 * @link: in the list of those nobody uses
 * @dev: device whose it is; kept while the room is used
 * @page: received into
 * @flash: flash slot of each page that flash has; NSWAP_FLASH_NONE else
 * @failed: pages whose write has failed, or that have nowhere to go
 * @pending: writes under way, plus one while they are started
 * @done: the last of them has ended
 * @chain: pages of a write; the one from page i starts at i
 * @part: writes, likewise
 */
struct nswap_return {
	struct list_head link;
	struct nswap_device *dev;
	struct page *page[NSWAP_REQ_SLOTS];
	u32 flash[NSWAP_REQ_SLOTS];
	unsigned long failed;
	atomic_t pending;
	struct completion done;
	struct page_list chain[NSWAP_REQ_SLOTS];
	struct nswap_return_part part[NSWAP_REQ_SLOTS];
};

int nswap_return_init(struct nswap_device *dev);
void nswap_return_exit(struct nswap_device *dev);
u16 nswap_return_take(struct nswap_node *node, u32 instance,
		      struct nswap_return **r);
void nswap_return_give(struct nswap_return *r);
void nswap_return_wait(struct nswap_device *dev);
void nswap_returned(u64 mover, u64 mover_epoch, struct nswap_return *r,
		    const struct nswap_wire_page *page, u32 nr,
		    struct nswap_wire_result *result);

#endif
