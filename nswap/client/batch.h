/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A batch of pages to move: reads and writes of flash and home.
 */
#ifndef NSWAP_BATCH_H
#define NSWAP_BATCH_H

#include <linux/completion.h>

#include "core/request.h"

/**
 * struct nswap_batch - some pages, and what is under way with them
 * @io: its device, memory and parts, with no block request around it; its @slot,
 *	@gen and @todo are for the batch's user, and for STORE messages
 * @flash: flash slot of each page, NSWAP_FLASH_NONE without one
 * @then: for the log: what a failure at home means for the page; NULL: failed
 *	writes are not reported
 * @over: completed when all that was started since nswap_batch_begin() has ended
 *
 * In linear memory, never from vmalloc(), if it is used for messages: they are sent from it.
 */
struct nswap_batch {
	struct nswap_io io;
	u32 flash[NSWAP_REQ_SLOTS];
	const char *then;
	struct completion over;
};

bool nswap_batch_init(struct nswap_batch *b, struct nswap_device *dev,
		      unsigned int nr);
void nswap_batch_exit(struct nswap_batch *b);
void nswap_batch_at(struct nswap_batch *b, u64 slot);
unsigned int nswap_batch_run(const struct nswap_batch *b, unsigned long pages,
			     unsigned int first, bool flash);
void nswap_batch_begin(struct nswap_batch *b);
void nswap_batch_put(struct nswap_batch *b);
unsigned long nswap_batch_wait(struct nswap_batch *b);
void nswap_batch_over(struct nswap_io *io);
unsigned long nswap_batch_request(struct nswap_batch *b);
unsigned long nswap_batch_home(struct nswap_batch *b, unsigned long pages,
			       bool write);
unsigned long nswap_batch_read_flash(struct nswap_batch *b, unsigned long pages);
unsigned long nswap_batch_write_flash(struct nswap_batch *b, unsigned long pages);

#endif
