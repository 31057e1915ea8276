/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A batch of pages that are moved: reads and writes of flash and home.
 */
#ifndef NSWAP_BATCH_H
#define NSWAP_BATCH_H

#include <linux/completion.h>

#include "core/request.h"

/**
 * struct nswap_batch - some pages, and what is under way with them
 * @io: its device, memory and parts, with no block request around it; @slot,
 *	@gen and @todo of it are for its owner, and STORE messages
 * @slot: where at home each page belongs
 * @flash: the flash slot of each page, NSWAP_FLASH_NONE without one
 * @then: what it means for a page that home fails it, for people; NULL: failed
 *	writes are not worth a word
 * @over: all that was started since nswap_batch_begin() is
 */
struct nswap_batch {
	struct nswap_io io;
	u64 slot[NSWAP_REQ_SLOTS];
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
unsigned long nswap_batch_home(struct nswap_batch *b, unsigned long pages,
			       bool write);
unsigned long nswap_batch_read_flash(struct nswap_batch *b, unsigned long pages);
unsigned long nswap_batch_write_flash(struct nswap_batch *b, unsigned long pages);

#endif
