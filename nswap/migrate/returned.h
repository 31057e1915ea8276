/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Returns of this node's own pages: a server sends them back, they are written to
 * flash or home.
 */
#ifndef NSWAP_RETURNED_H
#define NSWAP_RETURNED_H

#include "client/batch.h"
#include "core/device.h"

/**
 * struct nswap_return - buffers for the pages of one RETURN
 * @link: in the list of those that are not in use
 * @b: the pages; its device is kept while they are in use
 */
struct nswap_return {
	struct list_head link;
	struct nswap_batch b;
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
